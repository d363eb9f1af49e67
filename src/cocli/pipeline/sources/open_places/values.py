"""Values of a row, made safe: texts without control characters, phones in E.164, websites and addresses that can exist.

Whatever does not have the shape it must have is None. Nothing is guessed.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from cocli.errors import IdentityError
from cocli.keys.identities import registrable_domain
from cocli.pipeline.websites.hosts.shared import social_network

if TYPE_CHECKING:
    from collections.abc import Iterable

JsonRow = dict[str, Any]
"""A row of a file, as JSON says it."""

NAME_LIMIT = 1000
"""Characters. What is longer is no name."""
_TEXT_LIMIT = 4000
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
_SPACES = re.compile(r"\s+")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_EMAIL = re.compile(r"[A-Z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Z0-9!#$%&'*+/=?^_`{|}~-]+)*@([^@]+)", re.IGNORECASE)
_COUNTRY = re.compile(r"[A-Z]{2}")


def clean(value: object) -> str | None:
    """A text in one line, or None for what is no text or an empty one."""
    if not isinstance(value, str):
        return None
    return _SPACES.sub(" ", _CONTROL.sub(" ", value)).strip() or None


def text(value: object) -> str | None:
    """A text of a length that a field may have."""
    found = clean(value)
    return found if found and len(found) <= _TEXT_LIMIT else None


def texts(value: object) -> list[str]:
    """The texts of a list, or the one text that stands in its place; each once."""
    several = value if isinstance(value, list) else [value]
    return list(dict.fromkeys(found for item in several if (found := text(item))))


def listed(value: object) -> list[str]:
    """`a; b`, as OpenStreetMap writes several values of one tag."""
    return texts([part for listed in texts(value) for part in listed.split(";")])


def number(value: object) -> float | None:
    """A finite number. A number written as text counts, because some files have them."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None  # a word where a number belongs
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None  # an integer of more digits than a float has
    return found if math.isfinite(found) else None


def mapping(value: object) -> JsonRow:
    return value if isinstance(value, dict) else {}


def country_code(value: object) -> str | None:
    found = (text(value) or "").upper()
    return found if _COUNTRY.fullmatch(found) else None


def e164(raw: str, country: str | None) -> str | None:
    """A number in E.164 if it is valid; a national one only where the country is known."""
    import phonenumbers  # 100 ms to load

    try:
        parsed = phonenumbers.parse(raw, country)
    except phonenumbers.NumberParseException:
        return None  # no number at all, or a national one of an unknown country
    if not phonenumbers.is_valid_number(parsed):
        return None
    return phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164)


def web_address(value: object) -> str | None:
    """A website that can be asked for: http or https, and a host under a public suffix."""
    found = text(value)
    if not found or " " in found:
        return None
    if not found.lower().startswith(("http://", "https://")):
        if _SCHEME.match(found) and not found.lower().partition(":")[0].count("."):
            return None
        found = f"http://{found.removeprefix('//')}"
    try:
        host = urlsplit(found).hostname
        registrable_domain(host or "")
    except (ValueError, IdentityError):
        return None  # not an address, or one of a host that nobody can have registered
    return found


def web_addresses(values: Iterable[object]) -> list[str]:
    return list(dict.fromkeys(found for value in values if (found := web_address(value))))


def email_addresses(value: object) -> list[str]:
    """The addresses in a text or in a list of texts."""
    parts = [part for line in texts(value) for part in re.split(r"[;,\s]+", line)]
    found = [part.removeprefix("mailto:").lower() for part in parts]
    return list(dict.fromkeys(address for address in found if _is_email(address)))


def _is_email(candidate: str) -> bool:
    match = _EMAIL.fullmatch(candidate)
    if not match or len(candidate) > 254:
        return False
    try:
        registrable_domain(match[1])
    except IdentityError:
        return False  # a host that nobody can have registered
    return "/" not in match[1] and ":" not in match[1]


def profiles(addresses: Iterable[str]) -> dict[str, str]:
    """Network → profile, the first of each, under the names that a prospect has for them."""
    found: dict[str, str] = {}
    for address in addresses:
        if network := social_network(address):
            found.setdefault(network, address)
    return found


def joined_address(parts: dict[str, Any]) -> str | None:
    """`1 Main Street, 90001 Springfield, CA, US`: the parts in one line."""
    town = " ".join(part for part in (parts.get("postcode"), parts.get("city")) if part)
    several = [parts.get("street"), town, parts.get("region"), parts.get("country")]
    return ", ".join(part for part in several if part) if parts.get("street") else None
