"""Tests of the simulator, and the small protocols it is proved on."""
