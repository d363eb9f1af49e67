"""What makes two things the same thing: place ids, domains, companies, tasks — and the shard each one falls into.

One function each, with vectors in tests/keys/test_identities.py that are never changed: machines of different
versions must agree on them, because they decide where a record lives.
"""

from __future__ import annotations

import base64
import hashlib
import re
import struct
import unicodedata
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NewType

from cocli.errors import IdentityError
from cocli.keys.public_suffixes import public_suffixes

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

PlaceId = NewType("PlaceId", str)
"""A Google place id (27 characters), the form in which a place's identity is always stored."""

_PLACE_ID_HEAD = b"\x0a\x12\x09"  # `ChIJ`: two 64-bit numbers follow, the feature id
_POINT_ID_HEAD = b"\x1a\x12\x09"  # `GhIJ`: two doubles follow, a bare coordinate; it has no feature id
_PLACE_ID_MIDDLE = 0x11
_PLACE_ID = re.compile(r"[CG]hIJ[A-Za-z0-9_-]{23}\Z")
_FEATURE_ID = re.compile(r"0x([0-9a-f]{1,16}):0x([0-9a-f]{1,16})\Z", re.IGNORECASE)
_DECIMAL = re.compile(r"[0-9]{1,20}\Z")

_HASH_DIGITS = 16
_DOMAIN_SHARD_DIGITS = 2
_PLACE_ID_SHARD_AT = 5


def place_id(text: str) -> PlaceId:
    """Check that a text is a place id, of either kind."""
    _decode_place_id(text)
    return PlaceId(text)


def is_place_id(text: str) -> bool:
    if not _PLACE_ID.match(text):
        return False  # the common case of other ids, without the cost of an exception
    try:
        _decode_place_id(text)
    except IdentityError:
        return False
    return True


def place_id_from_feature_id(feature_id: str) -> PlaceId:
    """`0x80c2ea45dae14cc9:0x849d63c51b45d352` → `ChIJyUzh2kXqwoARUtNFG8VjnYQ`."""
    match = _FEATURE_ID.match(feature_id)
    if not match:
        raise IdentityError(text=feature_id, kind="feature id", reason="expected 0x…:0x… with hex digits")
    high, low = (int(digits, 16) for digits in match.groups())
    if high == 0:
        reason = "its first half is 0 (unknown), so no place id follows from it; match it by cid instead"
        raise IdentityError(text=feature_id, kind="complete feature id", reason=reason)
    packed = _PLACE_ID_HEAD + struct.pack("<QBQ", high, _PLACE_ID_MIDDLE, low)
    return PlaceId(base64.urlsafe_b64encode(packed).rstrip(b"=").decode("ascii"))


def feature_id_from_place_id(text: str) -> str:
    high, low = _unpack_place_id(text)
    return f"0x{high:x}:0x{low:x}"


def cid_from_place_id(text: str) -> str:
    """The decimal customer id: the second half of the feature id. The way back needs the first half."""
    return str(_unpack_place_id(text)[1])


def cid_from_feature_id(feature_id: str) -> str:
    match = _FEATURE_ID.match(feature_id)
    if not match:
        raise IdentityError(text=feature_id, kind="feature id", reason="expected 0x…:0x… with hex digits")
    return str(int(match.group(2), 16))


def check_same_place(text: str, *, feature_id: str | None = None, cid: str | None = None) -> None:
    """Raise unless the ids that were seen together name one place. Seen together, they are always checked."""
    high, low = _unpack_place_id(text)
    if cid is not None and (not _DECIMAL.match(cid) or int(cid) != low):
        raise IdentityError(text=cid, kind=f"cid of {text}", reason=f"expected {low}")
    if feature_id is not None:
        match = _FEATURE_ID.match(feature_id)
        # A first half of 0 means that the source did not know it: then the second half has to agree.
        if not match or (int(match.group(1), 16) or high, int(match.group(2), 16)) != (high, low):
            raise IdentityError(text=feature_id, kind=f"feature id of {text}", reason=f"expected 0x{high:x}:0x{low:x}")


def _unpack_place_id(text: str) -> tuple[int, int]:
    packed = _decode_place_id(text)
    if packed[:3] != _PLACE_ID_HEAD:
        raise IdentityError(text=text, kind="place id with a feature id", reason="it names a bare coordinate")
    high, _, low = struct.unpack("<QBQ", packed[3:])
    return high, low


def _decode_place_id(text: str) -> bytes:
    if not _PLACE_ID.match(text):
        reason = "expected ChIJ or GhIJ and 23 more characters of A-Z a-z 0-9 _ -"
        raise IdentityError(text=text[:80], kind="place id", reason=reason)
    packed = base64.urlsafe_b64decode(text + "=")
    canonical = base64.urlsafe_b64encode(packed).rstrip(b"=").decode("ascii")
    if packed[:3] not in (_PLACE_ID_HEAD, _POINT_ID_HEAD) or packed[11] != _PLACE_ID_MIDDLE or canonical != text:
        raise IdentityError(text=text, kind="place id", reason="it does not contain an identity")
    return packed


@lru_cache(maxsize=8192)
def registrable_domain(host_or_url: str) -> str:
    """`https://www.Example.co.uk:8080/contact` → `example.co.uk`: the part of a host name that somebody registered.

    Kept: the key of every record of a domain is made of it, and a visit makes and reads a dozen of them.
    """
    host = host_or_url.strip().lower()
    host = host.split("://", 1)[-1].split("/", 1)[0].split("?", 1)[0].split("#", 1)[0]
    host = host.rsplit("@", 1)[-1].split(":", 1)[0].strip(".")
    try:
        host = _ascii_host(host)
    except UnicodeError as error:
        raise IdentityError(text=host_or_url[:200], kind="domain", reason=str(error)) from error
    domain = _public_suffixes().privatesuffix(host) if _looks_like_host(host) else None
    if domain is None:
        reason = "no name that somebody can register was found in it"
        raise IdentityError(text=host_or_url[:200], kind="domain", reason=reason)
    return str(domain)


def is_under_known_suffix(domain: str) -> bool:
    """Whether the public suffix list knows what a domain ends with: `firm.co.uk`, but not `logo.png`."""
    return _public_suffixes().publicsuffix(domain, accept_unknown=False) is not None


def _ascii_host(host: str) -> str:
    """The form in which a name is registered, by IDNA 2008: Python's own codec turns straße.de into another name."""
    if host.isascii():
        return host
    import idna  # a table of 200 kB: only for the names that need it

    return idna.encode(host, uts46=True).decode("ascii")


_HOST = re.compile(r"(?=.{1,253}\Z)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,62}\Z")


def _looks_like_host(host: str) -> bool:
    return _HOST.match(host) is not None


@cache
def _public_suffixes() -> PublicSuffixList:
    return public_suffixes()


def company_identity(
    *,
    place: str | None = None,
    domain: str | None = None,
    name: str | None = None,
    street: str | None = None,
    postcode: str | None = None,
) -> str:
    """The text whose hash names a company: the place id, else its domain, else its name and address."""
    if place:
        return place_id(place)
    if domain:
        return f"domain:{registrable_domain(domain)}"
    if name and normalised(name):
        return f"at:{normalised(name)}|{normalised(street or '')}|{normalised(postcode or '')}"
    raise IdentityError(text="", kind="company", reason="it has neither a place id nor a domain nor a name")


def normalised(text: str) -> str:
    """A name for comparison: compatibility form, case folded, letters and digits of any script, single spaces."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(letter if letter.isalnum() else " " for letter in folded).split())


def company_hash(identity: str) -> str:
    return _digest(identity, _HASH_DIGITS)


def company_shard(hash_of_company: str) -> str:
    return hash_of_company[0]


def domain_hash(domain: str) -> str:
    return _digest(registrable_domain(domain), _HASH_DIGITS)


def domain_shard(domain: str) -> str:
    return _digest(registrable_domain(domain), _DOMAIN_SHARD_DIGITS)


def email_hash(email: str) -> str:
    """Addresses are compared in lower case: the local part is case sensitive on paper only."""
    return _digest(email.strip().lower(), _HASH_DIGITS)


def email_shard(email: str) -> str:
    """An address lies in the shard of its domain, so that one website's addresses lie together."""
    return domain_shard(email.rsplit("@", 1)[-1])


def task_shard(task_id: str) -> str:
    """A place id's first varying character, or a hex digit; lower case, for file systems that fold it."""
    if is_place_id(task_id):
        character = task_id[_PLACE_ID_SHARD_AT].lower()
        return character if character.isalnum() else "_"
    return _digest(task_id, 1)


def datasource_id(account: str, connector: str) -> str:
    return _digest(f"{account}:{connector}", _HASH_DIGITS)


def origin_id(connector: str, datasource: str) -> str:
    """Short for where documents came from, where a table has no room for both names."""
    return _digest(f"{connector}|{datasource}", _HASH_DIGITS)


def _digest(text: str, digits: int) -> str:
    try:
        return hashlib.sha256(text.encode("utf-8")).hexdigest()[:digits]
    except UnicodeEncodeError as error:
        raise IdentityError(text=ascii(text[:80]), kind="text", reason="it contains a lone surrogate") from error
