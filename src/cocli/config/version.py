"""Which version of cocli this is. Here, so that whoever needs it does not import the front door."""

__version__ = "0.1.0"
