"""Tests of the demo town."""
