"""What the values of a column are, whatever it is called."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from cocli.pipeline.sources.imports import values
from cocli.pipeline.sources.imports.domains import is_site
from cocli.pipeline.sources.imports.reading.addresses import is_address
from cocli.pipeline.sources.imports.reading.opening import status_of
from cocli.pipeline.sources.imports.reading.points import point_of
from cocli.pipeline.sources.imports.reading.stars import is_count_in_parentheses, stars_of
from cocli.pipeline.websites.hosts.shared import social_network

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cocli.pipeline.sources.imports.rows import ImportRow

_SAMPLE = 200
_SELDOM = 0.02
_LONGEST = 2_000
_IMAGE = re.compile(
    r"\.(?:png|jpe?g|gif|webp|svg|ico)(?:[?#=]|$)|googleusercontent\.com/|ggpht\.com/|streetviewpixels", re.I
)
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?(?:[T ].*)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}(?:[ ,].*)?")
_TIMES = re.compile(r"\d{1,2}(?:[:.]\d\d)?\s?(?:[ap]\.?m\.?)?\s?[-–—]\s?\d{1,2}(?:[:.]\d\d)?\s?(?:[ap]\.?m\.?)?", re.I)
_DEGREES = re.compile(r"[-−]?\d{1,3}[.,]\d{3,}°?")
_ONE_STAR = re.compile(r"[1-5][.,]\d")
_NUMBER = re.compile(r"[-+]?[\d.,'\u00a0 ]*\d[\d.,'\u00a0 ]*%?")
_PHONE = re.compile(
    r"(?:tel(?:efono?|ephone|éfono)?[.:]?\s*|phone:?\s*|☎\s*|📞\s*)?"
    r"\+?[\d(][\d\s()./\-\u2010-\u2015\u2212\u00a0·]{5,28}\d(?:\s*(?:x|ext\.?|#)\s*\d{1,6})?",
    re.I,
)
_SEVERAL = re.compile(r"\s*(?:[;|\n]|, (?=[+(0])|:::)\s*")


class Kind(StrEnum):
    """What one value is. Each value is of one kind."""

    MAP_LINK = "links of a map"
    PLACE_ID = "place ids"
    EMAIL = "e-mail addresses"
    SOCIAL = "links of a social network"
    IMAGE = "pictures"
    URL = "web addresses"
    DOMAIN = "domains"
    POINT = "coordinates"
    DEGREES = "degrees"
    STARS = "stars with a number of reviews"
    STAR = "stars"
    COUNT = "numbers of reviews"
    STATUS = "opening states"
    JSON = "JSON"
    DATE = "dates or times"
    PHONE = "phone numbers"
    NUMBER = "numbers"
    ADDRESS = "addresses"
    TEXT = "texts"


def kind_of(text: str) -> Kind:
    """The kind of a value that is not blank."""
    text = text[:_LONGEST].strip()
    if text[:1] in ("{", "[") and text[-1:] in ("}", "]") and point_of(text) is None:
        return Kind.JSON if "{" in text else Kind.TEXT
    if text.isascii() and text.isalpha():
        return Kind.STATUS if status_of(text, of_the_business=False) else Kind.TEXT
    return _linked(text) or _counted(text) or _written(text)


def _linked(text: str) -> Kind | None:
    if " " not in text and (values.is_map_address(text) or values.is_map_address(text.removeprefix("http://"))):
        return Kind.MAP_LINK
    if values.place_id_of(text) and len(text) <= 40:
        return Kind.PLACE_ID
    if "@" in text and values.emails_of(text):
        return Kind.EMAIL
    first = _SEVERAL.split(text)[0].split(", ")[0]
    if "." in first and is_site(first):
        if "://" not in first and not first.startswith("www.") and "/" not in first:
            return Kind.DOMAIN if not _DEGREES.fullmatch(first) else None
        if _IMAGE.search(first):
            return Kind.IMAGE
        return Kind.SOCIAL if social_network(first) else Kind.URL
    return None


def _counted(text: str) -> Kind | None:
    if not any(character.isdigit() for character in text):
        return None
    if _DATE.fullmatch(text) or _TIMES.fullmatch(text):
        return Kind.DATE
    if point_of(text):
        return Kind.POINT
    if _ONE_STAR.fullmatch(text):
        return Kind.STAR
    if _DEGREES.fullmatch(text):
        return Kind.DEGREES
    if stars_of(text):
        return Kind.STARS
    if is_count_in_parentheses(text):
        return Kind.COUNT
    if _is_phone(text):
        return Kind.PHONE
    return Kind.NUMBER if _NUMBER.fullmatch(text) else None


def _is_phone(text: str) -> bool:
    """Written like one: with a prefix, or with signs between groups. A bare row of digits may be any number."""
    first = _SEVERAL.split(text)[0]
    if not _PHONE.fullmatch(first):
        return False
    digits = sum(character.isdigit() for character in first)
    return 7 <= digits <= 15 and (first.startswith(("+", "00", "0", "(", "tel", "Tel")) or not first.isdecimal())


def _written(text: str) -> Kind:
    if status_of(text, of_the_business=False):
        return Kind.STATUS
    return Kind.ADDRESS if is_address(text) else Kind.TEXT


@dataclass(frozen=True, slots=True)
class Profile:
    """What a column holds: how many of the values that were looked at are of which kind."""

    counts: Mapping[Kind, int] = field(default_factory=dict)
    sample: tuple[str, ...] = ()
    """The values that were looked at; blank ones are none."""
    rows: int = 0
    """Rows that were looked at for them."""

    @property
    def is_told(self) -> bool:
        """Enough rows have a value to say what the column is: what two of a thousand hold may be anything."""
        return len(self.sample) >= max(1, _SELDOM * self.rows)

    def share(self, *kinds: Kind) -> float:
        """The part of the values that is of one of these kinds."""
        return sum(self.counts.get(kind, 0) for kind in kinds) / len(self.sample) if self.sample else 0.0

    @property
    def main(self) -> Kind | None:
        """The kind that most of the values have."""
        best = max(self.counts, key=lambda kind: self.counts[kind], default=None)
        return best if best is not None and self.share(best) > 0.5 else None

    @property
    def is_of_one_host(self) -> bool:
        """Its addresses lie all on one host: a directory's pages, not the businesses' own."""
        if len(self.sample) < 3:
            return False
        hosts = Counter(value.partition("://")[2].partition("/")[0].casefold() for value in self.sample)
        return max(hosts.values()) >= 0.8 * len(self.sample) and len(set(self.sample)) > 1

    @property
    def is_of_one_mail_domain(self) -> bool:
        """All the same one or two addresses, or all of one company: who sells, not who is sold to."""
        found = [values.emails_of(value) for value in self.sample]
        domains = {emails[0].rpartition("@")[2] for emails in found if emails}
        return len(self.sample) >= 3 and len(domains) == 1


def profiles_of(columns: Iterable[str], rows: Sequence[ImportRow]) -> dict[str, Profile]:
    """Column → what it holds, by some hundred rows from all over the file."""
    found = {}
    for column in columns:
        texts = list(_sampled(column, rows))
        kinds = {text: kind_of(text) for text in set(texts)}
        found[column] = Profile(Counter(kinds[text] for text in texts), tuple(texts), min(len(rows), 4 * _SAMPLE))
    return found


def _sampled(column: str, rows: Sequence[ImportRow]) -> Iterable[str]:
    """Of columns that are mostly blank, so many values too."""
    step, taken = max(len(rows) // (4 * _SAMPLE), 1), 0
    for row in rows[::step]:
        text = values.text_of(row.cells.get(column))
        if text is not None:
            yield text
            taken += 1
        if taken >= _SAMPLE:
            return


_REACHED = {Kind.PHONE: "phone numbers", Kind.URL: "web addresses", Kind.DOMAIN: "web addresses"}
_WITHIN = re.compile(r"https?://[^\s]+|\+\d[\d ()./-]{7,}\d|\(\d{3}\) ?\d{3}-\d{4}")
_SOME = 0.1


def overlooked(columns: Iterable[str], rows: Sequence[ImportRow]) -> dict[str, str]:
    """Column → what of it could reach a business: its values, or what stands within them."""
    found: dict[str, str] = {}
    for column, profile in profiles_of(columns, rows).items():
        kinds = [what for kind, what in _REACHED.items() if profile.share(kind) > _SOME]
        within = sum(bool(_WITHIN.search(text)) for text in profile.sample)
        if kinds:
            found[column] = kinds[0]
        elif profile.sample and within > _SOME * len(profile.sample) and profile.main is not Kind.IMAGE:
            found[column] = "texts with web addresses or phone numbers in them"
    return found
