"""From what a browser received to places: pure functions."""
