"""Bytes on the wire: sockets of the event loop, and HTTP over one of them. Whom to ask, and when, is decided above."""
