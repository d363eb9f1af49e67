"""Is a text an address that can receive mail? By its syntax and the public suffix list, without asking anybody.

A list of file extensions is never complete; the list of suffixes is. What passes here may still be somebody's
placeholder: see `junk.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote

from email_validator import EmailNotValidError, validate_email

from cocli.pipeline.websites.page.suffixes import registrable

MAX_LOCAL = 64
MAX_DOMAIN = 253

_FINE = re.compile(r"[a-z0-9](?:[a-z0-9_+-]|\.(?=[a-z0-9_]))*+@[a-z0-9.-]+\Z")
_ESCAPED_BRACKET = re.compile(r"\A(?:u003[ce])+")
"""`\\u003einfo@`: what is left of a bracket in front, where somebody took away its backslash."""
_VERSION = re.compile(r"\d+\.\d+(?:\.|\Z)|(?:.*\.)?\d{1,2}x\.[a-z]+\Z")


@dataclass(frozen=True, slots=True)
class Address:
    """An address in the form in which it is compared and stored: lower case, the domain in ASCII."""

    local: str
    domain: str
    registrable: str

    def __str__(self) -> str:
        return f"{self.local}@{self.domain}"


@lru_cache(maxsize=8192)
def read_address(text: str) -> Address | None:
    """The address that a text is, or None. The text is the address alone: no name, no `mailto:`."""
    text = text.strip().strip("<>\"'()[]{},;:").strip()
    if not 5 < len(text) <= MAX_LOCAL + 1 + MAX_DOMAIN or text.count("@") != 1:
        return None
    if "%" in text:
        text = unquote(text).strip()
    local, _, domain = text.lower().partition("@")
    local, domain = _ESCAPED_BRACKET.sub("", local).strip(".'-&~"), domain.strip(".-")
    if not local or len(local) > MAX_LOCAL or "." not in domain or ".." in domain:
        return None
    registered = registrable(domain)
    if registered is None or _VERSION.match(domain):
        return None
    if _FINE.match(f"{local}@{domain}"):
        return Address(local, domain, registered)
    return _validated(local, domain)


_GUARD = re.compile(
    r"[._+-]?(?:(?:no|anti|kein|keine?n?|against|entferne?n?|remove|delete|weg)[._-]?spam|spam[._-]?(?:free|frei|schutz|protect)|"
    r"remove[._-]?(?:this|me|the)|(?<=\.)remove(?=\.)|entfernen|bitte-?entfernen)[._+-]?",
    re.IGNORECASE,
)


def without_guard(address: Address) -> Address | None:
    """`info@nospam.firm.de` → `info@firm.de`: a word that a reader is meant to take out. None where none is in it."""
    text = str(address)
    local, _, domain = text.partition("@")
    if not _GUARD.search(text):
        return None
    return read_address(f"{_GUARD.sub('', local)}@{_GUARD.sub('', domain)}")


def is_guarded(address: Address) -> bool:
    return _GUARD.search(str(address)) is not None


def _validated(local: str, domain: str) -> Address | None:
    """What is not plain goes through the full rules of the standard."""
    try:
        valid = validate_email(f"{local}@{domain}", check_deliverability=False, allow_quoted_local=False)
    except (EmailNotValidError, ValueError):  # ValueError: texts that the library's own IDNA tables choke on
        return None
    registered = registrable(valid.ascii_domain)
    if registered:
        return Address(valid.local_part.lower(), valid.ascii_domain, registered)
    return None
