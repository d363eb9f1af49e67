"""AllThePlaces."""
