"""Text from the web, made harmless for a terminal: an escape sequence in a business's name must not reach it."""

from __future__ import annotations

import re

# Control characters (C0, DEL, C1), marks that reorder or hide text, line and paragraph separators, lone surrogates.
_HARMFUL = r"\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
_IN_A_LINE = re.compile(f"[{_HARMFUL}]")
_IN_A_TEXT = re.compile(f"(?![\t\n])[{_HARMFUL}]")


def safe_line(text: str) -> str:
    """One line: line breaks and tabs are shown as escapes too."""
    if text.isascii() and text.isprintable():
        return text
    return _IN_A_LINE.sub(_escape, text)


def safe_text(text: str) -> str:
    """Several lines: line feeds and tabs stay."""
    return _IN_A_TEXT.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}"
