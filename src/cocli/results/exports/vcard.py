"""vCard 4.0 (RFC 6350) and 3.0 (RFC 2426): one card per prospect and per person of it, for address books.

Written by hand: it is a line format with one way of escaping and one of folding, and the common library for it stops
at 3.0.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, BinaryIO

from cocli.results.exports.cells import clean_text, one_line, web_address
from cocli.results.exports.contacts import names_of
from cocli.results.exports.row import people_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cocli.models.prospect import Prospect
    from cocli.results.companies.sheets import SheetPerson

_LINE_OCTETS = 75
_ESCAPES = str.maketrans({"\\": "\\\\", ";": "\\;", ",": "\\,", "\n": "\\n"})
_PARAMETER = re.compile(r"[^A-Za-z0-9-]")
_EMAIL_TYPES = {
    (True, True): "work;PREF=1",
    (True, False): "work",
    (False, True): "INTERNET,PREF",
    (False, False): "INTERNET",
}
"""Whether the card is of version 4.0, whether the address is the first → the value of TYPE and what follows it."""


def write_vcards(prospects: Iterable[Prospect], out: BinaryIO, _columns: Sequence[str] = ()) -> None:
    """Version 4.0."""
    for prospect in prospects:
        out.write(b"".join(fold(line) for line in _cards(prospect, "4.0")))


def write_vcards_3(prospects: Iterable[Prospect], out: BinaryIO, _columns: Sequence[str] = ()) -> None:
    """Version 3.0, which older address books read."""
    for prospect in prospects:
        out.write(b"".join(fold(line) for line in _cards(prospect, "3.0")))


def _cards(prospect: Prospect, version: str) -> Iterator[str]:
    """The card of the business, then those of its people."""
    yield from _card(prospect, version)
    for person in people_of(prospect):
        yield from _person_card(prospect, person, version)


def _person_card(prospect: Prospect, person: SheetPerson, version: str) -> Iterator[str]:
    is_4 = version == "4.0"
    first, last = names_of(one_line(person.name))
    identity = f"cocli-{prospect.company_hash}-{hashlib.sha256(person.name.encode()).hexdigest()[:8]}"
    yield "BEGIN:VCARD"
    yield f"VERSION:{version}"
    yield f"UID;VALUE=text:{identity}" if is_4 else f"UID:{identity}"
    if is_4:
        yield "KIND:individual"
    yield f"N:{escape(last)};{escape(first)};;;"
    yield f"FN:{escape(one_line(person.name)) or identity}"
    yield f"ORG:{escape(one_line(prospect.name) or prospect.company_hash)}"
    if person.role:
        yield f"TITLE:{escape(one_line(person.role))}"
    if person.email:
        yield f"EMAIL;TYPE={_EMAIL_TYPES[is_4, True]}:{escape(one_line(person.email))}"
    if person.phone:
        parameters = "VALUE=text;TYPE=work" if is_4 else "TYPE=WORK,VOICE"
        yield f"TEL;{parameters}:{escape(one_line(person.phone))}"
    yield f"REV:{prospect.updated_at:%Y%m%dT%H%M%SZ}"
    yield "END:VCARD"


def _card(prospect: Prospect, version: str) -> Iterator[str]:
    is_4 = version == "4.0"
    name = one_line(prospect.name) or prospect.company_hash
    yield "BEGIN:VCARD"
    yield f"VERSION:{version}"
    if is_4:
        yield f"UID;VALUE=text:cocli-{prospect.company_hash}"
        yield "KIND:org"
    else:
        yield f"UID:cocli-{prospect.company_hash}"
        yield f"N:{escape(name)};;;;"
        yield "X-ABSHOWAS:COMPANY"  # version 3.0 has no KIND; without it address books show a person of this name
    yield f"FN:{escape(name)}"
    yield f"ORG:{escape(name)}"
    yield from _contacts(prospect, is_4)
    yield from _place(prospect, is_4)
    if prospect.categories:
        yield f"CATEGORIES:{','.join(escape(text) for text in prospect.categories)}"
    yield f"REV:{prospect.updated_at:%Y%m%dT%H%M%SZ}"
    yield "END:VCARD"


def _contacts(prospect: Prospect, is_4: bool) -> Iterator[str]:
    yield from _phone(prospect, is_4)
    for number, email in enumerate(dict.fromkeys(filter(None, (prospect.primary_email, *prospect.all_emails)))):
        kind = _EMAIL_TYPES[is_4, number == 0]
        yield f"EMAIL;TYPE={kind}:{escape(one_line(email))}"
    if website := web_address(prospect.website):
        yield f"URL:{website}"
    for network, address in sorted(prospect.socials.items()):
        kind, profile = _PARAMETER.sub("", network), web_address(address)
        if kind and profile:
            yield f"X-SOCIALPROFILE;TYPE={kind}:{profile}"


def _phone(prospect: Prospect, is_4: bool) -> Iterator[str]:
    """A number that can be dialled from anywhere, else the number as it was found."""
    if prospect.phone_e164 and is_4:
        yield f"TEL;VALUE=uri;TYPE=work:tel:{prospect.phone_e164}"
    elif prospect.phone_e164:
        yield f"TEL;TYPE=WORK,VOICE:{prospect.phone_e164}"
    elif prospect.phone:
        parameters = "VALUE=text;TYPE=work" if is_4 else "TYPE=WORK,VOICE"
        yield f"TEL;{parameters}:{escape(one_line(prospect.phone))}"


def _place(prospect: Prospect, is_4: bool) -> Iterator[str]:
    parts = ("", "", prospect.street, prospect.city, prospect.region, prospect.postcode, prospect.country)
    if any(parts):
        kind = "work" if is_4 else "WORK"
        yield f"ADR;TYPE={kind}:{';'.join(escape(part or '') for part in parts)}"
    if prospect.lat is not None and prospect.lon is not None:
        lat, lon = f"{prospect.lat:.6f}", f"{prospect.lon:.6f}"
        yield f"GEO:geo:{lat},{lon}" if is_4 else f"GEO:{lat};{lon}"


def escape(text: str) -> str:
    """A text as a value: backslash, comma, semicolon and line feed are written with a backslash."""
    return clean_text(text).replace("\t", " ").translate(_ESCAPES)


def fold(line: str) -> bytes:
    """A line of at most 75 octets; what is longer goes on behind a blank. No character is cut in two."""
    raw = line.encode()
    if len(raw) <= _LINE_OCTETS:
        return raw + b"\r\n"
    pieces: list[bytes] = []
    start, room = 0, _LINE_OCTETS
    while start < len(raw):
        end = min(start + room, len(raw))
        while end < len(raw) and raw[end] & 0xC0 == 0x80:  # in the middle of a character
            end -= 1
        pieces.append(raw[start:end])
        start, room = end, _LINE_OCTETS - 1
    return b"\r\n ".join(pieces) + b"\r\n"
