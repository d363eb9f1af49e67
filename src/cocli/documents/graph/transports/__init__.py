"""How references travel between nodes."""
