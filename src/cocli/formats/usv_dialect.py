r"""The dialect of USV: how one value is written as a field. See `cocli.formats.usv` for the whole."""

from __future__ import annotations

from cocli.models.record import TEXT_LIMIT

RECORD_LIMIT = TEXT_LIMIT
"""Bytes in one record. Past it there is no record end in sight: the file is damaged, and memory is finite."""

SEPARATOR = "\x1f"
NULL = "\\N"
ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\x1f": "\\037", "\x1e": "\\036"}
"""Character → how it is written; the backslash itself is doubled."""


def needs_escapes(text: str) -> bool:
    return "\\" in text or any(character in text for character in ESCAPES)


def escape(text: str) -> str:
    """Write a text so that it can stand in a field."""
    if "\\" in text:
        text = text.replace("\\", "\\\\")
    for character, escaped in ESCAPES.items():
        if character in text:
            text = text.replace(character, escaped)
    return text


def unescape(field: str) -> str:
    r"""Read a field that is not null. An escape that the dialect does not know is a ValueError.

    Cutting at `\\` first is what tells a backslash followed by n from a line feed: backslashes pair up from the left,
    so no piece holds a pair, and every backslash in a piece begins an escape of another character.
    """
    if "\\" not in field:
        return field
    return "\\".join([_unescape_piece(piece) for piece in field.split("\\\\")])


def cell_of(field: str) -> str | None:
    """Read a field that may be null."""
    return None if field == NULL else unescape(field)


def _unescape_piece(piece: str) -> str:
    if "\\" not in piece:
        return piece
    for character, escaped in ESCAPES.items():
        piece = piece.replace(escaped, character)
    if "\\" in piece:
        at = piece.index("\\")
        raise ValueError(f"unknown escape {piece[at : at + 2]!r}")
    return piece
