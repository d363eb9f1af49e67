"""SQL over indexes."""
