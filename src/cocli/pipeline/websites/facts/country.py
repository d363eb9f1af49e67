"""The country of a page whose place is not known: what its numbers, its address, its domain and its language say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import phonenumbers

from cocli.pipeline.websites.page.languages import languages
from cocli.pipeline.websites.page.structured import facts_of
from cocli.pipeline.websites.page.wordlist import words

if TYPE_CHECKING:
    from cocli.pipeline.websites.page.page import Page

_INTERNATIONAL = re.compile(r"(?:\+|\b00)[1-9][\d ().-]{7,20}\d")
_LANGUAGES = {code: language.country for language in languages() for code in language.codes if language.country}
_SHARED_ENDINGS = words("com net org info biz eu io co me tv ai app dev cc ag fm gl la ly to ws vc sc st im")
_MAX_NUMBERS = 5
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
    return _from_address(page) or _from_numbers(page) or _from_domain(page) or _from_language(page)


def _from_address(page: Page) -> str | None:
    for fact in facts_of(page):
        if fact.name == "addresscountry" and re.fullmatch(r"[A-Za-z]{2}", fact.value.strip()):
            country = fact.value.strip().upper()
            if country in phonenumbers.SUPPORTED_REGIONS:
                return country
    return None


def _from_numbers(page: Page) -> str | None:
    links = [e.get("href")[4:40] for e in page.links if e.get("href")[:4].lower() == "tel:"]
    texts = [match[0] for _, match in zip(range(_MAX_NUMBERS), _INTERNATIONAL.finditer(page.text), strict=False)]
    for text in (*links[:_MAX_NUMBERS], *texts):
        try:
            number = phonenumbers.parse(re.sub(r"^00", "+", text.strip()), None)
        except phonenumbers.NumberParseException:  # not international: says nothing about the country
            continue
        region = phonenumbers.region_code_for_number(number)
        if region and region != "001" and phonenumbers.is_valid_number(number):
            return region
    return None


def _from_domain(page: Page) -> str | None:
    for domain in sorted(page.own_domains):
        ending = domain.rpartition(".")[2]
        country = _CITIES.get(ending) or ("GB" if ending == "uk" else ending.upper())
        if ending not in _SHARED_ENDINGS and country in phonenumbers.SUPPORTED_REGIONS:
            return country
    return None


def _from_language(page: Page) -> str | None:
    """English is written everywhere: `en-GB` tells, `en` does not, and then how people write numbers and postcodes."""
    language, _, region = page.language.replace("_", "-").lower().partition("-")
    if len(region) == 2 and region.upper() in phonenumbers.SUPPORTED_REGIONS:
        return region.upper()
    written = (country for country, form in _WRITTEN if language in ("", "en") and form.search(page.text))
    return next(written, None) or _LANGUAGES.get(language)
