"""Columns that no name tells are told by their values. And so are those whose name says what their values are not."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cocli.keys.identities import normalised
from cocli.pipeline.sources.categories import known_phrases
from cocli.pipeline.sources.google_maps.parser.links import read_place_link
from cocli.pipeline.sources.imports.columns.kinds import Kind, Profile
from cocli.pipeline.sources.imports.fields import STRANGERS, comparable
from cocli.pipeline.sources.imports.reading.addresses import is_street
from cocli.pipeline.sources.imports.reading.texts import words_in
from cocli.pipeline.websites.hosts.shared import social_network

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_WORDS = frozenset({Kind.TEXT, Kind.ADDRESS, Kind.NUMBER, Kind.STATUS, Kind.DOMAIN, Kind.DATE, Kind.STAR, Kind.STARS})
_NUMBERS = frozenset({Kind.NUMBER, Kind.COUNT, Kind.STAR, Kind.STARS, Kind.DEGREES, Kind.TEXT, Kind.PHONE, Kind.DATE})
_FITTING: Mapping[str, frozenset[Kind]] = {
    "name": _WORDS,
    "contact": _WORDS,
    "phone": frozenset({Kind.PHONE, Kind.NUMBER, Kind.TEXT, Kind.DEGREES}),
    "email": frozenset({Kind.EMAIL, Kind.TEXT}),
    "website": frozenset({Kind.URL, Kind.DOMAIN, Kind.SOCIAL, Kind.TEXT}),
    "domain": frozenset({Kind.URL, Kind.DOMAIN, Kind.TEXT}),
    "address": _WORDS,
    "street": _WORDS,
    "city": _WORDS,
    "region": _WORDS,
    "country": _WORDS,
    "district": _WORDS,
    "postcode": _NUMBERS,
    "lat": _NUMBERS,
    "lon": _NUMBERS,
    "rating": _NUMBERS,
    "review_count": _NUMBERS,
    "category": _WORDS,
    "place_id": frozenset({Kind.PLACE_ID, Kind.MAP_LINK, Kind.TEXT}),
    "map_url": frozenset({Kind.PLACE_ID, Kind.MAP_LINK, Kind.TEXT}),
    "point": frozenset({Kind.POINT, Kind.MAP_LINK, Kind.TEXT, Kind.JSON, Kind.ADDRESS}),
}
"""Field → what its values may be. Where hardly one is and most are something else, the name is not believed."""
_OF_DIGITS = frozenset({"phone", "lat", "lon", "rating", "review_count"})
_NOT_PHONES = words_in(
    "fax telefax id ids vat tax ein siret siren iban account order invoice timestamp date time zip postal rank "
    "position index bank nip regon cif npi license licence price cost revenue size employees range year ip isbn ean"
)
_NOT_SITES = STRANGERS | words_in(
    "thumb icon avatar booking appointment search query input street video serp referrer screenshot feed api tracking "
    "careers jobs cover favicon source old former webcam wikipedia"
)
_NOT_STREETS = STRANGERS | words_in(
    "remark remarks note notes memo comment comments description bemerkung bemerkungen notiz notizen kommentar "
    "anmerkung remarque remarques commentaire commentaires nota notas observaciones comentarios osservazioni commenti "
    "observacoes opmerking opmerkingen uwagi komentarz заметки примечание комментарии"
)
_NOT_MAILS = words_in("rep agent assigned created modified sender user seller manager salesperson")
_PHONE_HINT = re.compile(r"tel|phone|fon|mob|cell|call|whats|handy|gsm|sms|kontakt|contact|numer|номер|тел", re.I)
_SURE_PHONE = re.compile(r"\s*(?:\+|00|\().*|\D*\d+[^\d+]+\d+[^\d]+\d.*")
_SHAPES = words_in("node way relation feature point")
_MOST = 0.6
_HARDLY = 0.2
_CATEGORIES = 0.3
_SEVERAL_STREETS = 0.3
_NAME_LENGTH = 80
_DIGITS = re.compile(r"\d+")


@dataclass(slots=True)
class ColumnFinding:
    """Field → columns, the best first; and why each column is what it is."""

    columns: dict[str, list[str]] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, column: str, why: str) -> None:
        self.columns.setdefault(name, []).append(column)
        self.why[column] = why


def contradicted(name: str, profile: Profile) -> str | None:
    """Why a column cannot be what it is called; None where it can."""
    if not profile.sample:
        return None
    if name in _OF_DIGITS and len(profile.sample) > 1:
        with_digits = sum(map(_has_digit, profile.sample))
        if with_digits < _HARDLY * len(profile.sample):
            return "its values have no digits"
    if name == "website" and profile.is_of_one_host and profile.share(Kind.URL) >= _MOST:
        return "its addresses are all on one host"
    if name == "category" and _SHAPES.issuperset(text.casefold() for text in profile.sample):
        return "its values are shapes of a map"
    if name == "address" and len(profile.sample) > 2 and not any(map(_has_digit, profile.sample)):
        return None if profile.share(Kind.ADDRESS) else "its values are no addresses"
    fitting, main = _FITTING.get(name), profile.main
    if fitting is None or main is None or main in fitting or profile.share(main) < _MOST:
        return None
    return None if profile.share(*fitting) > _HARDLY else f"its values are {main.value}"


def _has_digit(text: str) -> bool:
    return any(character.isdigit() for character in text)


def by_values(
    columns: Sequence[str], taken: Mapping[str, Sequence[str]], profiles: Mapping[str, Profile]
) -> ColumnFinding:
    """What the columns are that no name told. `taken` are those that one did."""
    finding = ColumnFinding()
    for column in columns:
        profile = profiles.get(column, Profile())
        if profile.is_told and (name := _field_of(column, profile, taken)):
            finding.add(name, column, _told(profile))
    _find_degrees(columns, taken, profiles, finding)
    if "name" not in taken and "name" not in finding.columns:
        left = [column for column in columns if column not in finding.why]
        _find_name(left, profiles, finding, taken)
    left = [column for column in columns if column not in finding.why]
    _find_category(left, taken, profiles, finding)
    _find_street(left, taken, profiles, finding)
    return finding


def _told(profile: Profile) -> str:
    main = profile.main
    if main is None:
        return "by its values"
    return f"by its values: {profile.counts[main]} of {len(profile.sample)} are {main.value}"


def _field_of(column: str, profile: Profile, taken: Mapping[str, Sequence[str]]) -> str | None:
    words = set(comparable(column).split())
    if profile.share(Kind.MAP_LINK) >= _MOST:
        return "map_url" if not words & {"review", "reviews", "search", "query"} else None
    if profile.share(Kind.PLACE_ID) >= _MOST:
        return "place_id"
    if profile.share(Kind.EMAIL) >= _MOST:
        return None if words & _NOT_MAILS or profile.is_of_one_mail_domain else "email"
    if profile.share(Kind.SOCIAL) >= _MOST and not words & {"owner", "author", "person"}:
        return _network_of(profile)
    if profile.share(Kind.URL, Kind.DOMAIN) >= _MOST:
        is_another = bool(words & _NOT_SITES) or profile.is_of_one_host or "website" in taken
        return None if is_another else "website"
    if profile.share(Kind.POINT) >= _MOST:
        return "point"
    return _further_field(column, words, profile, taken)


def _further_field(column: str, words: set[str], profile: Profile, taken: Mapping[str, Sequence[str]]) -> str | None:
    if profile.share(Kind.PHONE) >= _MOST and not words & _NOT_PHONES:
        if "phone" in taken and not _PHONE_HINT.search(column):
            return None
        sure = sum(bool(_SURE_PHONE.fullmatch(text)) for text in profile.sample)
        return "phone" if _PHONE_HINT.search(column) or sure >= _MOST * len(profile.sample) else None
    if profile.share(Kind.STARS) >= _MOST and "rating" not in taken:
        return "rating"
    if profile.share(Kind.STAR) >= 0.9 and "rating" not in taken and not words & {"price", "distance", "version"}:
        return "rating"
    if profile.share(Kind.COUNT) >= 0.9 and "review_count" not in taken:
        return "review_count"
    if profile.counts.get(Kind.STATUS) and "business_status" not in taken:
        return "business_status"
    if profile.share(Kind.ADDRESS) >= _MOST and not taken.keys() & {"address", "street"} and not words & STRANGERS:
        return "address"
    return None


def _network_of(profile: Profile) -> str | None:
    networks = {social_network(text) for text in profile.sample} - {None}
    if len(networks) > 1:
        return "profiles"
    return next((str(network) for network in networks), None)


def _find_degrees(
    columns: Sequence[str], taken: Mapping[str, Sequence[str]], profiles: Mapping[str, Profile], finding: ColumnFinding
) -> None:
    """Two columns of degrees are a latitude and a longitude, in that order unless the first is too large."""
    if {"lat", "lon", "point"} & {*taken, *finding.columns}:
        return
    degrees = [column for column in columns if profiles.get(column, Profile()).share(Kind.DEGREES) >= 0.9]
    if len(degrees) != 2:
        return
    first, second = degrees
    if any(abs(float(text.replace(",", ".").replace("−", "-").rstrip("°"))) > 90 for text in _degrees(profiles[first])):
        first, second = second, first
    finding.add("lat", first, _told(profiles[first]))
    finding.add("lon", second, _told(profiles[second]))


def _degrees(profile: Profile) -> list[str]:
    return [text for text in profile.sample if re.fullmatch(r"[-−]?\d{1,3}[.,]\d+°?", text)]


def _find_category(
    columns: Sequence[str], taken: Mapping[str, Sequence[str]], profiles: Mapping[str, Profile], finding: ColumnFinding
) -> None:
    """Texts of which a part are phrases that the table of categories knows."""
    if "category" in taken:
        return
    known = known_phrases()
    for column in columns:
        texts = [text.casefold() for text in profiles[column].sample]
        hits = sum(text in known for text in texts)
        if hits >= 2 and hits >= _CATEGORIES * len(texts):
            finding.add("category", column, f"by its values: {hits} of {len(texts)} are known kinds of businesses")
            return


def _find_street(
    columns: Sequence[str], taken: Mapping[str, Sequence[str]], profiles: Mapping[str, Profile], finding: ColumnFinding
) -> None:
    """What a card of a map shows of an address: its street and number.

    Where all have the same words and count on (`Row 1`, `12 employees`), they are no streets.
    """
    if {"address", "street"} & {*taken, *finding.columns}:
        return
    for column in columns:
        texts = profiles[column].sample if column in profiles else ()
        streets = {text for text in texts if is_street(text)}
        hits = sum(text in streets for text in texts)
        words = {_DIGITS.sub("", text).casefold().strip() for text in streets}
        are_several = len(words) >= max(2, _SEVERAL_STREETS * len(streets))
        is_another = column in finding.why or set(comparable(column).split()) & _NOT_STREETS
        if hits >= _MOST * len(texts) and are_several and not is_another:
            finding.add("address", column, f"by its values: {hits} of {len(texts)} are streets with a number")
            return


def _find_name(
    columns: Sequence[str], profiles: Mapping[str, Profile], finding: ColumnFinding, taken: Mapping[str, Sequence[str]]
) -> None:
    """The column that says what the links of the map say; else the first of short texts, hardly two alike."""
    if not {*taken, *finding.columns} & {
        "phone",
        "email",
        "website",
        "map_url",
        "place_id",
        "address",
        "street",
        "point",
        "lat",
    }:
        return
    linked = {
        normalised(name)
        for column in (*taken.get("map_url", ()), *finding.columns.get("map_url", ()))
        for text in profiles[column].sample
        if (name := read_place_link(text).name)
    }
    for column in columns:
        said = {normalised(text) for text in profiles[column].sample}
        if linked and len(said & linked) >= 0.5 * len(said):
            finding.add("name", column, "by its values: the links of the map say the same names")
            return
    for column in columns:
        if _may_be_names(column, profiles[column]):
            finding.add("name", column, "by its values: short texts, hardly two alike")
            return


def _may_be_names(column: str, profile: Profile) -> bool:
    texts = profile.sample
    if not texts or profile.share(Kind.TEXT) < 0.8 or set(comparable(column).split()) & STRANGERS:
        return False
    has_letters = sum(any(character.isalpha() for character in text) for text in texts)
    short = sum(len(text) <= _NAME_LENGTH for text in texts)
    return len(set(texts)) >= 0.7 * len(texts) and has_letters >= 0.9 * len(texts) and short >= 0.9 * len(texts)
