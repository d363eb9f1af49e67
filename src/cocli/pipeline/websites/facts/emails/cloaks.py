"""The protections that content management systems bring: TYPO3, Joomla, and plugins of WordPress."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from cocli.pipeline.websites.facts.emails.embedded import embedded
from cocli.pipeline.websites.facts.emails.links import is_mailto, recipients
from cocli.pipeline.websites.page.encodings import caesar_mailto, from_base64, rot13, shifted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.pipeline.websites.page.page import PageElement

_TYPO3_CALL = re.compile(
    r"""UnCryptMailto\(\s{0,5}(?:["']|%27|%22|&#39;|\\x27)(.{4,500}?)(?:["']|%27|%22|&#39;|\\x27)""", re.IGNORECASE
)
_CRYPTX_CALL = re.compile(r"""DeCryptX\(\s{0,5}["'](.{4,500}?)["']\s{0,5}\)""", re.IGNORECASE)
_EEB_TABLE = re.compile(
    r"""\bml\s{0,3}=\s{0,3}["']([^"']{2,200})["'],\s{0,3}mi\s{0,3}=\s{0,3}["']([^"']{2,2000})["']"""
)
_EEB_AT = re.compile(r"[\[(]at[\])]", re.IGNORECASE)
_CRYPTX_EURO = 8364
CLOAK_ATTRIBUTES = frozenset(("data-mailto-token", "data-enc-email", "is-email", "first"))


def data_cloak(element: PageElement) -> Iterator[tuple[str, str]]:
    """Addresses that stand encrypted in the attributes of a link."""
    attributes = element.attributes
    if "data-mailto-token" in attributes:
        yield from _typo3_token(element.get("data-mailto-token"), element.get("data-mailto-vector"))
    if "data-enc-email" in attributes:
        yield rot13(_EEB_AT.sub("@", element.get("data-enc-email"))), "wordpress"
    if element.tag == "joomla-hidden-mail":
        yield from _joomla(element)


def _typo3_token(token: str, vector: str) -> Iterator[tuple[str, str]]:
    try:
        offset = int(vector[:6] or 0)
    except ValueError:  # not a number: found without it
        offset = 0
    decoded = shifted(token[:500], -offset)
    if not is_mailto(decoded):
        decoded = caesar_mailto(token[:500]) or ""
    if decoded:
        yield from ((address, "typo3") for address in recipients(decoded))


def _joomla(element: PageElement) -> Iterator[tuple[str, str]]:
    first, last, text = (from_base64(element.get(name)) for name in ("first", "last", "text"))
    if first and last:
        yield f"{first}@{last}", "joomla"
    elif text:
        yield text, "joomla"


def script_cloaks(code: str) -> Iterator[tuple[str, str]]:
    """Addresses that a script, or a link to one, decrypts with a function that is known by its name."""
    for match in _TYPO3_CALL.finditer(code):
        decoded = caesar_mailto(unquote(match[1]).replace("\\", ""))
        if decoded:
            yield from ((address, "typo3") for address in recipients(decoded))
    for match in _CRYPTX_CALL.finditer(code):
        yield _cryptx(match[1]).removeprefix("mailto:"), "wordpress"
    for match in _EEB_TABLE.finditer(code):
        letters = match[1]
        decoded = "".join(letters[ord(c) - 48] for c in match[2] if 0 <= ord(c) - 48 < len(letters))
        yield from ((address, "wordpress") for address, _ in embedded(unquote(decoded)))


def _cryptx(text: str) -> str:
    """Pairs of a digit and a letter that is moved by it; older versions move every letter by one."""
    pairs = list(zip(text[::2], text[1::2], strict=False))
    if len(text) % 2 == 0 and all(digit.isdigit() and digit.isascii() for digit, _ in pairs):
        return "".join(_moved(letter, int(digit)) for digit, letter in pairs)
    return "".join(_moved(letter, 1) for letter in text)


def _moved(letter: str, by: int) -> str:
    code = 128 if ord(letter) >= _CRYPTX_EURO else ord(letter)
    return chr(max(code - by, 0))
