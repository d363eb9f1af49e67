"""Whose a host is: social networks, platforms, directories, mail providers."""
