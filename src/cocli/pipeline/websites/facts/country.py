"""The country of a page whose place is not known: what its numbers, its address, its domain and its language say."""

from __future__ import annotations

import csv
import re
from collections import Counter
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import phonenumbers

from cocli.pipeline.websites.facts.identity import plain
from cocli.pipeline.websites.page.kind import kind_of
from cocli.pipeline.websites.page.languages import languages
from cocli.pipeline.websites.page.structured import facts_of
from cocli.pipeline.websites.page.wordlist import words

if TYPE_CHECKING:
    from cocli.pipeline.websites.page.page import Page

_INTERNATIONAL = re.compile(r"(?:\+|\b00)[1-9][\d ().-]{7,20}\d")
_LANGUAGES = {code: language.country for language in languages() for code in language.codes if language.country}
_SHARED_ENDINGS = words("com net org info biz eu io co me tv ai app dev cc ag fm gl la ly to ws vc sc st im")
_EVERYDAY = {
    language.codes[0]: frozenset(language.words["title.everyday"])
    for language in languages()
    if "title.everyday" in language.words
}
_WORD = re.compile(r"[^\W\d_]+")
_SAMPLE = 3_000
_FEWEST_WORDS = 3
_MAX_NUMBERS = 5
_MAX_PRICES = 20
_FEWEST_LETTERS = 20
FILE = Path(__file__).parents[1] / "data" / "countries.csv"
_CODE = re.compile(r"[A-Za-z]{2}")
_MAIL_ENDING = re.compile(r"@[\w.-]{1,80}\.([a-z]{2})(?![\w.-]*\w)", re.IGNORECASE)
_SCRIPTS = (
    ("JP", re.compile(r"[\u3041-\u30fa]")),
    ("KR", re.compile(r"[\uac00-\ud7a3]")),
    ("TH", re.compile(r"[\u0e01-\u0e3a\u0e40-\u0e4e]")),
    ("GR", re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]")),
    ("IL", re.compile(r"[\u05d0-\u05ea]")),
    ("GE", re.compile(r"[\u10d0-\u10ff]")),
    ("AM", re.compile(r"[\u0531-\u0587]")),
    ("BD", re.compile(r"[\u0985-\u09b9]")),
    ("IN", re.compile(r"[\u0904-\u0939\u0b85-\u0bb9\u0c05-\u0c39]")),
    ("UA", re.compile(r"[\u0406\u0407\u0404\u0490\u0456\u0457\u0454\u0491]")),
)
"""Letters that are written in one country above all."""
_CITIES = {
    **dict.fromkeys(words("berlin hamburg koeln cologne bayern nrw ruhr saarland"), "DE"),
    **dict.fromkeys(words("wien tirol"), "AT"),
    **dict.fromkeys(words("swiss zuerich"), "CH"),
    **dict.fromkeys(words("paris bzh alsace corsica"), "FR"),
    **dict.fromkeys(words("london wales cymru scot"), "GB"),
    **dict.fromkeys(words("cat madrid barcelona eus gal"), "ES"),
    **dict.fromkeys(words("amsterdam frl"), "NL"),
    **dict.fromkeys(words("brussels vlaanderen gent"), "BE"),
    **dict.fromkeys(words("nyc miami vegas boston"), "US"),
    **dict.fromkeys(words("sydney melbourne"), "AU"),
    **dict.fromkeys(words("tokyo osaka nagoya kyoto yokohama okinawa"), "JP"),
    "quebec": "CA",
    "istanbul": "TR",
}
_STATES = (
    "A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|P[AR]|RI|S[CD]|T[NX]|UT|V[AT]|"
    "W[AIVY]"
)
_WRITTEN = (
    ("CA", re.compile(r"\b[A-Z]{2},? [ABCEGHJ-NPRSTVXY]\d[A-Z] ?\d[A-Z]\d\b")),
    ("GB", re.compile(r"\b[A-Z]{1,2}\d[A-Z\d]? \d[ABD-HJLNP-UW-Z]{2}\b")),
    ("US", re.compile(rf"\b(?:{_STATES}),? \d{{5}}(?:-\d{{4}})?\b|(?<!\d)\(\d{{3}}\) ?\d{{3}}-\d{{4}}(?!\d)")),
    ("JP", re.compile(r"〒 ?\d{3}-\d{4}")),
)


def country_of(page: Page, given: str | None = None) -> str | None:
    """The country to read national numbers by. What is given wins."""
    if given:
        return given.strip().upper()[:2] or None
    if "_country" not in page.__dict__:
        page.__dict__["_country"] = next(filter(None, (clue(page) for clue in _CLUES)), None)
    found: str | None = page.__dict__["_country"]
    return found


def _from_address(page: Page) -> str | None:
    for fact in facts_of(page):
        if fact.name == "addresscountry":
            country = country_named(fact.value)
            if country is not None and country in phonenumbers.SUPPORTED_REGIONS:
                return country
    return None


def _from_numbers_and_domain(page: Page) -> str | None:
    """The ending of the domain, unless all numbers that the page shows are of one other country."""
    domain = _from_domain(page)
    shown = {region for text in _international(page) if (region := _region(text))}
    if domain is not None and (len(shown) != 1 or kind_of(page.url, page.title) == "privacy"):
        return domain
    if shown:
        return next(region for text in _international(page) if (region := _region(text)))
    linked = (e.get("href")[4:40] for e in page.links if e.get("href")[:4].lower() == "tel:")
    return domain or next(filter(None, map(_region, islice(linked, _MAX_NUMBERS))), None)


def _international(page: Page) -> list[str]:
    return [match[0] for match in islice(_INTERNATIONAL.finditer(page.text), _MAX_NUMBERS)]


def _region(text: str) -> str | None:
    try:
        number = phonenumbers.parse(re.sub(r"^00", "+", text.strip()), None)
    except phonenumbers.NumberParseException:  # not international: says nothing about the country
        return None
    region = phonenumbers.region_code_for_number(number)
    if region and region != "001" and phonenumbers.is_valid_number(number):
        return region
    return None


def _from_domain(page: Page) -> str | None:
    return next(filter(None, map(_country_of_ending, sorted(page.own_domains))), None)


def _country_of_ending(domain: str) -> str | None:
    ending = domain.rpartition(".")[2]
    country = _CITIES.get(ending) or ("GB" if ending == "uk" else ending.upper())
    if ending not in _SHARED_ENDINGS and country in phonenumbers.SUPPORTED_REGIONS:
        return country
    return None


def _from_mail(page: Page) -> str | None:
    """The ending that most of its addresses have."""
    linked = " ".join(e.get("href")[:200] for e in page.links if e.get("href")[:7].lower() == "mailto:")
    mails = (match[1].lower() for text in (linked, page.text) for match in islice(_MAIL_ENDING.finditer(text), 20))
    counts = Counter(country for ending in mails if (country := _country_of_ending(f"x.{ending}")))
    return next((country for country, _ in counts.most_common(1)), None)


def _from_writing(page: Page) -> str | None:
    """How people write numbers and postcodes; the name of a country at the end of a line; the script."""
    language = page.language[:2].lower()
    written = (country for country, form in _WRITTEN if language in ("", "en") and form.search(page.text))
    return next(written, None) or _from_names(page) or _from_script(page)


def _from_names(page: Page) -> str | None:
    match = _named().search(page.text)
    if match:
        return country_named(match[1])
    return None


def _from_script(page: Page) -> str | None:
    if page.text.isascii():
        return None
    for country, letters in _SCRIPTS:
        if len(list(islice(letters.finditer(page.text), _FEWEST_LETTERS))) == _FEWEST_LETTERS:
            return country
    return None


def _from_currency(page: Page) -> str | None:
    counts = Counter(_currencies()[match[1]] for match in islice(_prices().finditer(page.text), _MAX_PRICES))
    return next((country for country, _ in counts.most_common(1)), None)


def _from_region_of_language(page: Page) -> str | None:
    """`de-CH` tells where it is written; English is written everywhere, and `en-US` is what templates say."""
    language, _, region = page.language.replace("_", "-").lower().partition("-")
    if len(region) == 2 and region.upper() in phonenumbers.SUPPORTED_REGIONS and language != "en":
        return region.upper()
    return None


def _from_language(page: Page) -> str | None:
    """What the text is written in tells more than `en`, which templates say."""
    language, _, region = page.language.replace("_", "-").lower().partition("-")
    if language in ("", "en") and (spoken := language_of(page.text)) not in (None, "en"):
        return _LANGUAGES.get(spoken or "")
    if len(region) == 2 and region.upper() in phonenumbers.SUPPORTED_REGIONS:
        return region.upper()
    return _LANGUAGES.get(language)


def language_of(text: str) -> str | None:
    """The language whose everyday words a text has most of; None where no language stands out."""
    return _language_of(text[:_SAMPLE])


@lru_cache(maxsize=64)
def _language_of(sample: str) -> str | None:
    sample = sample.lower()
    seen = {*_WORD.findall(sample), *sample}  # words, and letters that few languages have
    scores = sorted(((len(seen & words), code) for code, words in _EVERYDAY.items()), reverse=True)
    (best, code), (second, _) = scores[:2]
    if best < _FEWEST_WORDS or best == second:
        return None
    return code


_CLUES = (
    _from_address,
    _from_numbers_and_domain,
    _from_region_of_language,
    _from_mail,
    _from_writing,
    _from_currency,
    _from_language,
)
"""In this order: what is said of the address before what is only usual."""


# --- the table of countries ------------------------------------------------------------------------------------------


@cache
def _table() -> tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]:
    with FILE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return tuple(
        (row["country"], tuple(row["names"].split(";")), tuple(filter(None, row["currencies"].split(";"))))
        for row in rows
    )


@cache
def _names() -> dict[str, str]:
    return {plain(name): country for country, names, _ in _table() for name in names}


def country_named(text: str) -> str | None:
    """The code of a country that a text is the code or the name of."""
    text = text.strip().strip(".")
    if _CODE.fullmatch(text):
        return "GB" if text.upper() == "UK" else text.upper()
    return _names().get(plain(text))


@cache
def _named() -> re.Pattern[str]:
    names = sorted((re.escape(name) for _, some, _ in _table() for name in some), key=len, reverse=True)
    return re.compile(rf"(?:^|[,·|\n] ?|\d )({'|'.join(names)})\.?[ \t]*$", re.MULTILINE)


@cache
def _currencies() -> dict[str, str]:
    return {mark: country for country, _, marks in _table() for mark in marks}


@cache
def _prices() -> re.Pattern[str]:
    """An amount and a mark, in either order; a mark that is a word ends where the word ends."""
    marks = "|".join(sorted(map(re.escape, _currencies()), key=len, reverse=True))
    return re.compile(rf"(?:(?<=\d)|(?<=\d[ \u00a0])|(?<![\w$])(?=\S{{1,4}} ?\d))({marks})(?!\w*[A-Za-z]{{2}})")
