"""What an extractor returns: a value, how it was found, and where it stood."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One value on one page."""

    value: str
    method: str
    """The form in which it stood there: `mailto`, `text`, `cloudflare`, `json-ld` …"""
    context: str
    """The words around it."""
    position: int
    """Offset in the page's text. What stands in an attribute or a script has the offset of the text that follows it."""
    where: str = "text"
    """The kind of place: `text`, `link`, `attribute`, `script`, `head`, `data` (marked up for machines)."""


@dataclass(frozen=True, slots=True)
class RejectedFinding:
    """A text that looks like a value and is none, with the reason: for whoever asks why it is not in the list."""

    value: str
    reason: str
    method: str
    position: int
