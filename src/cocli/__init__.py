"""cocli finds every business of a kind in a territory and keeps the result as plain files."""

__version__ = "0.1.0"
