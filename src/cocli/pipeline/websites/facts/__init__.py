"""What a page says: one module or folder a fact."""
