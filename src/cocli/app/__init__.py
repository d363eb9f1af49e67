"""Use cases: the only door from the command line (and every other skin) to the layers below.

A use case takes what it needs as arguments, returns a typed result, and prints nothing. Long ones report how far they
are through a `Progress` callback.
"""
