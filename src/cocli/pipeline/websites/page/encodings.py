"""Ways to write a text so that a program does not see it: ROT13, base64, Caesar, character codes. All can be undone."""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
from itertools import pairwise
from urllib.parse import unquote

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{4,8000}={0,2}\Z")
_ESCAPED = r"(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([0-3][0-7]{2})|(.))"
_ESCAPE = re.compile(rf"\\+{_ESCAPED}", re.DOTALL)
_LITERAL_ESCAPE = re.compile(rf"\\{_ESCAPED}", re.DOTALL)
_PLAIN_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "b": "", "f": "", "v": ""}
_MAILTO_STEPS = tuple((ord(b) - ord(a)) % 26 for a, b in zip("mailt", "ailto", strict=True))
_CAESAR_RANGES = ((0x2B, 0x3A), (0x40, 0x5A), (0x61, 0x7A))


def rot13(text: str) -> str:
    return codecs.encode(text, "rot13")


def from_base64(text: str) -> str | None:
    """The text that a base64 text hides, if it hides printable text."""
    text = text.strip()
    if not _BASE64.match(text):
        return None
    padded = text.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        decoded = base64.b64decode(padded + "=" * (-len(padded) % 4), validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):  # it only looked like base64
        return None
    if decoded.replace("\r\n", "").replace("\n", "").isprintable():
        return decoded
    return None


def shifted(text: str, offset: int) -> str:
    """Characters moved within their range, as TYPO3 encrypts its links: `nbjmup` → `mailto` with -1."""
    return "".join(_shift(character, offset) for character in text)


def _shift(character: str, offset: int) -> str:
    code = ord(character)
    for low, high in _CAESAR_RANGES:
        if low <= code <= high:
            return chr((code - low + offset) % (high - low + 1) + low)
    return character


def caesar_mailto(text: str) -> str | None:
    """A `mailto:` link that was moved by any offset: the steps between its letters betray it."""
    head = text[:6].lower()
    if len(head) < 6 or not head.isalpha() or not head.isascii():
        return None
    if tuple((ord(b) - ord(a)) % 26 for a, b in pairwise(head)) != _MAILTO_STEPS:
        return None
    offset = ord("m") - ord(head[0])
    # Letters come round after 26 steps, the range of the colon after 16: one of three offsets fits both.
    # Old versions of TYPO3 knew no ranges and moved every character.
    attempts = (*(shifted(text, offset + turn) for turn in (0, -26, 26)), _moved(text, offset))
    return next((decoded for decoded in attempts if decoded.lower().startswith("mailto:")), None)


def _moved(text: str, offset: int) -> str:
    return "".join(chr(max(ord(character) + offset, 0)) for character in text if ord(character) < 0xD000)


def unescaped_literal(text: str) -> str:
    """What a string literal of JavaScript stands for."""
    if "\\" in text:
        return _LITERAL_ESCAPE.sub(_one_escape, text)
    return text


def unescaped(text: str) -> str:
    """The text that escapes of JavaScript, HTML and URLs stand for: `\\u0040`, `\\x40`, `\\100`, `&#64;`, `%40`."""
    if "\\" in text:
        text = _ESCAPE.sub(_one_escape, text)
    if "&" in text:
        text = html.unescape(text)
    if "%40" in text:
        return unquote(text)
    return text


def _one_escape(match: re.Match[str]) -> str:
    hexadecimal = match[1] or match[2] or match[3]
    if not hexadecimal and not match[4]:
        return _PLAIN_ESCAPES.get(match[5], match[5])
    code = int(hexadecimal, 16) if hexadecimal else int(match[4], 8)
    if code < 0x110000 and not 0xD800 <= code < 0xE000:
        return chr(code)
    return ""
