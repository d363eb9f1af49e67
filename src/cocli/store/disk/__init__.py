"""What the folder store needs of a disk.

Paths that stay below their root, locks, names that people give, and files that change places although editors take no
locks.
"""
