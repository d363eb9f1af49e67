"""A list that stays true: taking stock, what changed, what is due to be read again, and who is told."""
