"""Asking Google Maps: a real browser, at a polite pace."""
