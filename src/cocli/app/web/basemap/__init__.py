"""The base map that the program brings: coasts, borders and towns around a campaign, without a network."""
