"""One phone number: what was found, its form in E.164, and how several are told apart in a run of digits and signs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

import phonenumbers

if TYPE_CHECKING:
    from cocli.models.website import PhoneRelation

PhoneKind = Literal["phone", "fax", "whatsapp"]
MAX_PER_RUN = 5

SIGNS = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-") | dict.fromkeys("·•∙", "."))
"""Dashes and dots, each as the one that is on keyboards."""
AMERICA = frozenset(("US", "CA", "PR"))
NORTH_AMERICAN = re.compile(
    r"(?<!\d)(?<!\d[.-])(?:\+?1[ .-]?)?(?:\(\d{3}\)[ ./-]{0,2}|\d{3}[ ./-]{1,2})\d{3}[ .-]{1,2}\d{4}(?![.-]?\d)"
)
_PARTS = re.compile(r" ?[/|] ?(?=[+(0])| [-.] (?=[+(0])|  +| (?=[+(])")
_OTHER_ENDINGS = re.compile(r"(?<=\d{4})(?: ?/ ?\d{1,3}){1,4}\Z")
"""`030 23125042 / 43 / 44`: the same line, other last digits."""
_SEQUENCE = re.compile(r"1234567|7654321|(\d)\1{6}")
"""Numbers that are nobody's, wherever they stand."""
_TEMPLATE_SEQUENCE = re.compile(r"2345678|3456789|8765432|9876543|111222333|222333444|333444555|000111222")
"""Numbers that somebody may have; on a page it is mostly the template that shows them."""
_FICTION = re.compile(r"\+1(?:\d{3}555(?:01\d\d|1234|1212|5555|0000|4321|6789|9999)|555\d{7})\Z")
"""What films and templates show. Other numbers with 555 are somebody's."""
_EDGES = " .-–/·"


@dataclass(frozen=True, slots=True)
class PhoneFinding:
    """A number as it stood there, and in E.164."""

    raw: str
    value: str
    kind: PhoneKind
    method: str
    context: str
    position: int
    where: str = "text"
    relation: PhoneRelation | None = None
    """Whose it is, where it is not the company's."""
    conflict: str | None = None
    """What the link says whose text shows this number, where the two differ."""

    @property
    def key(self) -> str:
        """By which it is told from others: in E.164, or by its digits where its country is not known."""
        return self.value or "".join(filter(str.isdigit, self.raw))


def to_e164(raw: str, region: str | None) -> str | None:
    """`089 / 12 34 56` in DE → `+498912 3456` without the space; None for what is no number there, or nobody's.

    For what stands on a page: a number that templates show is nobody's.
    """
    found = _read(raw, region)
    return found.value if found and not is_placeholder(found.national) else None


def listed_e164(raw: str, region: str | None) -> str | None:
    """The same for a number that a list gives for one business: there is no template behind it, so more are real."""
    found = _read(raw, region)
    return found.value if found and not _SEQUENCE.search(found.national) else None


class _ReadNumber(NamedTuple):
    value: str
    national: str
    """Its digits without those of the country."""


@lru_cache(maxsize=8192)
def _read(raw: str, region: str | None) -> _ReadNumber | None:
    text = re.sub(r"^\(?00", "+", raw.strip().translate(SIGNS))
    if not text or len(text) > 40:
        return None
    try:
        number = phonenumbers.parse(text, region if region in phonenumbers.SUPPORTED_REGIONS else None)
    except phonenumbers.NumberParseException:  # not a number in this country: that is the answer
        return None
    if not phonenumbers.is_valid_number(number):
        return None
    value = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
    return None if _FICTION.match(value) else _ReadNumber(value, str(number.national_number))


def is_placeholder(digits: str) -> bool:
    """A row of digits such as 123 45 67, which a template shows."""
    return (_SEQUENCE.search(digits) or _TEMPLATE_SEQUENCE.search(digits)) is not None


def numbers_in(run: str, region: str | None) -> list[str]:
    """The numbers that a run of digits and signs may be: as it stands, without what follows it, or several."""
    run = run.strip(_EDGES)
    plain = run.translate(SIGNS)
    if region in AMERICA and plain[:1] != "+":
        american = [run[match.start() : match.end()] for match in NORTH_AMERICAN.finditer(plain)]
        if american:
            return american[:MAX_PER_RUN]
    shorter = _OTHER_ENDINGS.sub("", plain)
    if shorter != plain and to_e164(shorter, region):
        return [run[: len(shorter)]]
    if sum(map(str.isdigit, run)) <= 15 and to_e164(run, region):
        return [run]
    edges = [0, *(edge for match in _PARTS.finditer(plain) for edge in match.span()), len(plain)]
    parts = [run[start:end].strip(_EDGES) for start, end in zip(edges[::2], edges[1::2], strict=True)]
    return [part for part in parts if len(part) > 6][:MAX_PER_RUN]
