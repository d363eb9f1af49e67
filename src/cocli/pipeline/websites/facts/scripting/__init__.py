"""What strings a script puts together, found without running it."""
