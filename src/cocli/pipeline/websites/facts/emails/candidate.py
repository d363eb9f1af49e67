"""A text that may be an e-mail address, and where it was seen. Whether it is one is decided in `address.py`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EmailCandidate:
    address: str
    method: str
    where: str
    start: int
    end: int
    """The part of the page's text it covers; for what is not in the text, the place where it would stand."""
    context: str | None = None
    """The words around it, where they are not those of the page's text."""
