"""vCard 4.0 (RFC 6350) and 3.0 (RFC 2426): one card per prospect, for address books.

Written by hand: it is a line format with one way of escaping and one of folding, and the common library for it stops
at 3.0.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, BinaryIO

from cocli.results.exports.cells import clean_text, one_line, web_address

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cocli.models.prospect import Prospect

_LINE_OCTETS = 75
_ESCAPES = str.maketrans({"\\": "\\\\", ";": "\\;", ",": "\\,", "\n": "\\n"})
_PARAMETER = re.compile(r"[^A-Za-z0-9-]")


def write_vcards(prospects: Iterable[Prospect], out: BinaryIO, _columns: Sequence[str] = ()) -> None:
    """Version 4.0."""
    for one in prospects:
        out.write(b"".join(fold(line) for line in _card(one, "4.0")))


def write_vcards_3(prospects: Iterable[Prospect], out: BinaryIO, _columns: Sequence[str] = ()) -> None:
    """Version 3.0, which older address books read."""
    for one in prospects:
        out.write(b"".join(fold(line) for line in _card(one, "3.0")))


def _card(one: Prospect, version: str) -> Iterator[str]:
    is_4 = version == "4.0"
    name = one_line(one.name) or one.company_hash
    yield "BEGIN:VCARD"
    yield f"VERSION:{version}"
    yield f"UID{';VALUE=text' if is_4 else ''}:cocli-{one.company_hash}"
    if is_4:
        yield "KIND:org"
    else:
        yield f"N:{escape(name)};;;;"
        yield "X-ABSHOWAS:COMPANY"  # version 3.0 has no KIND; without it address books show a person of this name
    yield f"FN:{escape(name)}"
    yield f"ORG:{escape(name)}"
    yield from _contacts(one, is_4)
    yield from _place(one, is_4)
    if one.categories:
        yield f"CATEGORIES:{','.join(escape(text) for text in one.categories)}"
    yield f"REV:{one.updated_at:%Y%m%dT%H%M%SZ}"
    yield "END:VCARD"


def _contacts(one: Prospect, is_4: bool) -> Iterator[str]:
    if one.phone_e164:
        yield f"TEL;VALUE=uri;TYPE=work:tel:{one.phone_e164}" if is_4 else f"TEL;TYPE=WORK,VOICE:{one.phone_e164}"
    elif one.phone:
        yield f"TEL;{'VALUE=text;TYPE=work' if is_4 else 'TYPE=WORK,VOICE'}:{escape(one_line(one.phone))}"
    primary = (one.primary_email,) if one.primary_email else ()
    for number, email in enumerate(dict.fromkeys((*primary, *one.all_emails))):
        first = (";PREF=1" if is_4 else ",PREF") if number == 0 else ""
        yield f"EMAIL;TYPE={'work' if is_4 else 'INTERNET'}{first}:{escape(one_line(email))}"
    if website := web_address(one.website):
        yield f"URL:{website}"
    for network, address in sorted(one.socials.items()):
        kind, profile = _PARAMETER.sub("", network), web_address(address)
        if kind and profile:
            yield f"X-SOCIALPROFILE;TYPE={kind}:{profile}"


def _place(one: Prospect, is_4: bool) -> Iterator[str]:
    parts = ("", "", one.street, one.city, one.region, one.postcode, one.country)
    if any(parts):
        kind = "work" if is_4 else "WORK"
        yield f"ADR;TYPE={kind}:{';'.join(escape(part or '') for part in parts)}"
    if one.lat is not None and one.lon is not None:
        yield f"GEO:geo:{one.lat:.6f},{one.lon:.6f}" if is_4 else f"GEO:{one.lat:.6f};{one.lon:.6f}"


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
