"""Characters that hide a text from programs but not from readers: invisible, full-width, and shown right to left."""

from __future__ import annotations

import re

_INVISIBLE = (0x00AD, 0x034F, 0x180E, *range(0x200B, 0x2010), *range(0x202A, 0x202E), *range(0x2060, 0x206A), 0xFEFF)
_TABLE: dict[int, str | None] = dict.fromkeys(_INVISIBLE) | {
    0xFE6B: "@",
    0x3002: ".",
    0x2024: ".",
    0xFF61: ".",
    0x2010: "-",
    0x2011: "-",
    **{code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
}
_SPECIAL = re.compile(f"[{''.join(map(chr, _TABLE))}]")
_OVERRIDDEN = re.compile("\u202e([^\u202c\u202e\n]*)\u202c?")


def _is_western(text: str) -> bool:
    """Without anything special, and seen faster than by a search: so are most texts of a page."""
    if "\xad" in text:
        return False
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:  # that is the question
        return False
    return True


def readable(text: str) -> str:
    """The text as a reader sees it."""
    if text.isascii() or _is_western(text):
        return text
    if "\u202e" in text:
        text = _OVERRIDDEN.sub(lambda match: match[1][::-1], text)
    if _SPECIAL.search(text):
        return text.translate(_TABLE)
    return text
