"""The command line, driven as a person would."""
