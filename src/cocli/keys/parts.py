"""One part of a key: how any text becomes one and back, and what no key may contain.

The rules of docs/format.md §1, without any knowledge of which keys there are (that is `cocli.keys.paths`).
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from urllib.parse import quote_from_bytes, unquote_to_bytes

from cocli.errors import InvalidKey

MAX_PART_BYTES = 200
MAX_KEY_BYTES = 1024  # the limit of S3; a folder could hold more, but both must hold the same tree
_KEPT_BYTES = 120
_DIGEST_DIGITS = 32
_LONGEST_ENDING = len(".parquet")

_SAFE = "._~@+=,-"  # quote() keeps letters, digits and `_.-~` anyway
_PART = re.compile(r"(?:[A-Za-z0-9._~@+=,-]|%[0-9A-F]{2})+\Z")
_SHORTENED = re.compile(rf".{{{_KEPT_BYTES}}}~[0-9a-f]{{{_DIGEST_DIGITS}}}\Z", re.DOTALL)
_AS_IT_IS = re.compile(rf"(?!\.\.?\Z)[A-Za-z0-9._@+=,-]{{1,{_KEPT_BYTES}}}\Z")
"""Parts that are their own text: the most, so they are not looked at any closer."""
LONGEST_PART = MAX_PART_BYTES + _LONGEST_ENDING
_GOOD_PART = rf"(?!\.\.?(?:/|\Z))(?=[^/]{{1,{LONGEST_PART}}}(?:/|\Z))(?:[A-Za-z0-9._~@+=,-]++|%[0-9A-F]{{2}})++"
_GOOD_KEY = re.compile(rf"(?=.{{1,{MAX_KEY_BYTES}}}\Z){_GOOD_PART}(?:/{_GOOD_PART})*\Z")
_PLAIN_PART = rf"[A-Za-z0-9_~@+=,-][A-Za-z0-9._~@+=,-]{{0,{_KEPT_BYTES}}}+"
_plain_key = re.compile(rf"(?:{_PLAIN_PART}/)*+{_PLAIN_PART}\Z").match
"""Most keys: no part begins with a dot, none has an escape. In half of the time."""


class ShortenedPart(str):
    """A part that was too long: its first bytes and a digest. It names the same thing, but cannot be read back."""

    __slots__ = ()


@lru_cache(maxsize=4096, typed=True)  # a document's keys are made several times; a `ShortenedPart` is another thing
def encode_part(text: str) -> str:
    """Make any text one part of a key: injective, reversible up to 200 bytes, never longer than 200 bytes."""
    if isinstance(text, ShortenedPart):
        return str(text)
    if not text:
        raise InvalidKey(key="", part="", reason="is empty")
    try:
        raw = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidKey(key="", part=ascii(text[:40]), reason="is not valid Unicode (a lone surrogate)") from error
    if text in (".", ".."):
        return text.replace(".", "%2E")
    encoded = quote_from_bytes(raw, safe=_SAFE)
    if len(encoded) > MAX_PART_BYTES:
        return f"{_kept(encoded)}~{hashlib.sha256(raw).hexdigest()[:_DIGEST_DIGITS]}"
    if _SHORTENED.match(encoded):
        # A text that looks like a shortened part must not be taken for one: its tilde is written the long way.
        return f"{encoded[:_KEPT_BYTES]}%7E{encoded[_KEPT_BYTES + 1 :]}"
    return encoded


def _kept(encoded: str) -> str:
    """The first 120 bytes; an escape that the cut would leave in halves is replaced, so that the part stays a part."""
    kept = encoded[:_KEPT_BYTES]
    cut = kept.rfind("%", _KEPT_BYTES - 2)
    return kept if cut < 0 else kept[:cut] + "_" * (_KEPT_BYTES - cut)


def decode_part(part: str) -> str:
    """The text that `encode_part` was given; a `ShortenedPart` where it cannot be known any more."""
    if _AS_IT_IS.match(part):
        return part
    _check_part(part, part)
    if _SHORTENED.match(part):
        return ShortenedPart(part)
    try:
        text = unquote_to_bytes(part).decode("utf-8") if "%" in part else part
    except UnicodeDecodeError as error:
        raise InvalidKey(key=part, part=part, reason="does not encode valid UTF-8") from error
    if encode_part(text) != part:
        raise InvalidKey(key=part, part=part, reason=f"is not encoded as {encode_part(text)}")
    return text


def check_key(key: str) -> None:
    """Refuse whatever could leave the store's root or mean two things. Every store calls this before any I/O."""
    if (len(key) > MAX_KEY_BYTES or not _plain_key(key)) and not _GOOD_KEY.match(key):
        _explain_key(key)


def is_key(text: str) -> bool:
    return _GOOD_KEY.match(text) is not None


def check_prefix(prefix: str) -> None:
    """A folder to list: empty for the whole store, else parts that end with a slash."""
    if prefix:
        if not prefix.endswith("/"):
            raise InvalidKey(key=prefix, part=prefix.rsplit("/", 1)[-1], reason="must end with / to name a folder")
        check_key(prefix[:-1])


def _explain_key(key: str) -> None:
    if len(key.encode("utf-8", "surrogatepass")) > MAX_KEY_BYTES:
        raise InvalidKey(key=f"{key[:60]!a}…", part="", reason=f"makes it longer than {MAX_KEY_BYTES} bytes")
    for part in key.split("/"):
        _check_part(part, key)
    raise InvalidKey(key=ascii(key), part="", reason="is not a key")  # the two rules above and _GOOD_KEY must agree


def _shown(text: str) -> str:
    is_plain = text.isascii() and text.isprintable()
    return text if is_plain else ascii(text)


def _check_part(part: str, key: str) -> None:
    shown_key, shown_part = _shown(key), _shown(part)
    if not part:
        raise InvalidKey(key=shown_key, part="", reason="is empty")
    if part in (".", ".."):
        raise InvalidKey(key=shown_key, part=part, reason="would leave its folder")
    if len(part) > LONGEST_PART:
        raise InvalidKey(
            key=shown_key[:80], part=shown_part[:40] + "…", reason=f"is longer than {MAX_PART_BYTES} bytes"
        )
    if not _PART.match(part):
        raise InvalidKey(key=shown_key, part=shown_part, reason="has a character that must be percent-encoded")
