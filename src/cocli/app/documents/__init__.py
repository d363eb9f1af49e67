"""The documents of an account: saved, found, replayed, compared, looked after."""
