"""A whole address in one line, taken apart by how its country writes them. What is not certain stays in the line."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from cocli.pipeline.sources.imports.countries import country_of
from cocli.pipeline.sources.imports.reading.texts import words_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_BETWEEN = re.compile(r"\s*[,،，、\n\r;]\s*")
_DASH = re.compile(r"\s+[-–]\s+")
_PLUS_CODE = re.compile(r"[23456789CFGHJMPQRVWX]{4,8}\+[23456789CFGHJMPQRVWX]{2,3}")
_LONGEST = 500

_US_STATES = words_in(
    "AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA "
    "RI SC SD TN TX UT VT VA WA WV WI WY DC PR"
)
_CANADIAN = words_in("AB BC MB NB NL NS NT NU ON PE QC SK YT")
_AUSTRALIAN = words_in("NSW VIC QLD SA WA TAS ACT NT")
_STATES = {"US": _US_STATES, "CA": _CANADIAN, "AU": _AUSTRALIAN}
_STATE_POSTCODES = {"US": r"\d{5}(?:-\d{4})?", "CA": r"[A-Z]\d[A-Z] ?\d[A-Z]\d", "AU": r"\d{4}"}
_BRITISH = r"[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}"
_DIGITS: Mapping[str, str] = {
    **dict.fromkeys(words_in("DE FR IT ES FI TR UA MX HR EE RS MA ME TH ID KR SA KW LK MY DO PE CR GT"), r"\d{5}"),
    **dict.fromkeys(words_in("AT CH BE LU DK NO HU BG SI NZ ZA PH TN AR CY GE AL AM BD LI"), r"\d{4}"),
    **dict.fromkeys(words_in("SE GR CZ SK"), r"\d{3} ?\d{2}"),
    **dict.fromkeys(words_in("RO RU IN CN SG KZ BY VN CO EC"), r"\d{3} ?\d{3}"),
    "NL": r"\d{4} ?[A-Z]{2}", "PL": r"\d{2}-\d{3}", "PT": r"\d{4}-\d{3}", "JP": r"\d{3}-\d{4}", "BR": r"\d{5}-?\d{3}",
    "LV": r"LV-\d{4}", "LT": r"LT-\d{5}", "IL": r"\d{5}(?:\d{2})?", "IE": r"[A-Z]\d[\dW] ?[A-Z\d]{4}", "GB": _BRITISH,
}  # fmt: skip
_ANYWHERE = re.compile(r"(\d{5}|\d{4}|\d{2}-\d{3}|\d{4}-\d{3}|\d{4} [A-Z]{2}) (\D{2,40})")
"""A postcode before its town: so write many countries, and those that do not never do."""
_PROVINCE = re.compile(r"(.+?)\s+\(?([A-Z]{2})\)?")
_BEFORE_IT = r"(?:[A-Z]{1,2}-)?"
_JAPANESE = re.compile(
    r"(?:日本[、,\s]*)?(?:〒?\s*(\d{3}-\d{4})\s*)?(東京都|北海道|京都府|大阪府|[^\s\d]{2,3}県)([^\s\d]{1,8}?[市区町村])(.*)"
)
_CHINESE = re.compile(r"(?:中国)?([^\s\d]{2,6}?(?:省|自治区))?([^\s\d]{2,7}?市)([^\s\d]{1,6}?[区县])?(.+)")


def split_address(text: str, country: str | None = None) -> dict[str, str]:
    """`street`, `city`, `region`, `postcode`, `country`, `plus_code`: what can be told. `country` is the row's."""
    text = text.strip()[:_LONGEST]
    if far := _far_eastern(text):
        return far
    parts = [part for part in _BETWEEN.split(text) if part]
    found: dict[str, str] = {}
    named = _without_country(parts)
    if parts and (match := _PLUS_CODE.match(parts[0])):
        found["plus_code"] = match[0]
        parts[0] = parts[0][match.end() :].strip()
        parts = [part for part in parts if part]
    place = named or country or _told_by_form(parts)
    if place:
        found |= {"country": place} if named or not country else {}
        found |= _by_country(parts, place)
    elif len(parts) > 1 and (match := _ANYWHERE.fullmatch(parts[-1])):
        found |= {"postcode": match[1], "city": match[2], "street": ", ".join(parts[:-1])}
    return {name: value.strip() for name, value in found.items() if value and value.strip()}


def is_address(text: str) -> bool:
    """Whether a text looks like a whole address: a number, letters, and several parts; or a postcode that fits."""
    if not 8 <= len(text) <= 300 or "://" in text or "@" in text or text.startswith(("{", "[")):
        return False
    if _JAPANESE.fullmatch(text) or _CHINESE.fullmatch(text):
        return True
    parts = [part for part in _BETWEEN.split(text) if part]
    has_digits = any(character.isdigit() for character in text)
    has_letters = sum(character.isalpha() for character in text) >= 4
    if not has_letters or len(parts) < 2:
        return False
    if _without_country(list(parts)):
        return True
    return has_digits and (
        _told_by_form(parts) is not None or _has_house_number(parts) or _ANYWHERE.fullmatch(parts[-1]) is not None
    )


def is_street(text: str) -> bool:
    """`355 State St`, `Hauptstraße 5a`: what a card of a map shows of an address."""
    return len(text) <= 80 and text[:1].isalnum() and _has_house_number([text])


def _has_house_number(parts: Sequence[str]) -> bool:
    """`355 State St`, `Hauptstraße 5a`: in one of the first parts, with a word beside it."""
    return any(re.search(r"^\d{1,5}[a-z]?\s+\D{3,}|\D{3,}\s+\d{1,4}\s?[a-z]?$", part, re.I) for part in parts[:2])


def _without_country(parts: list[str]) -> str | None:
    """Take the country off its end, and say which it is. Two letters alone are a state as often."""
    if not parts:
        return None
    if len(parts) > 2 and parts[-1].isdecimal() and len(parts[-1]) == 6:
        parts[-2:] = parts[:-3:-1]  # `…, Россия, 101000`
    whole = parts[-1].strip(" .")
    if (len(whole) > 2 or whole == "UK") and (found := _country(whole)):
        parts.pop()
        return found
    head, _, tail = _last_dash(whole)
    if tail and len(tail) > 2 and (found := _country(tail)):
        parts[-1] = head
        return found
    return None


def _last_dash(text: str) -> tuple[str, str, str]:
    cut = [match.span() for match in _DASH.finditer(text)]
    return (text[: cut[-1][0]], "-", text[cut[-1][1] :]) if cut else (text, "", "")


@cache
def _country(text: str) -> str | None:
    return country_of(text) if not any(character.isdigit() for character in text) else None


def _told_by_form(parts: Sequence[str]) -> str | None:
    """Some forms are of one country only."""
    last = parts[-1] if parts else ""
    for country in ("US", "CA"):
        match = re.fullmatch(rf"(?:.+\s)?([A-Z]{{2}}),?\s+({_STATE_POSTCODES[country]})", last)
        if match and match[1] in _STATES[country]:
            return country
    return "GB" if re.fullmatch(rf"(?:.+\s)?{_BRITISH}", last) else None


def _by_country(parts: list[str], country: str) -> dict[str, str]:
    if country in _STATES:
        return _with_state(parts, country)
    if country == "BR":
        return _brazilian(parts)
    if country == "AE":
        pieces = [piece for part in parts for piece in _DASH.split(part)]
        return {"street": ", ".join(pieces[:-1]), "city": pieces[-1]} if len(pieces) > 1 else {}
    pattern = _DIGITS.get(country)
    return _with_postcode(parts, pattern, country) if pattern else {}


def _with_state(parts: list[str], country: str) -> dict[str, str]:
    """`…, Springfield, IL 62701`, `…, Sydney NSW 2000`, `…, Springfield, IL`."""
    states = "|".join(_STATES[country])
    last = re.fullmatch(
        rf"(?:(?P<city>.*?\D)\s+)?(?P<region>{states})(?:,?\s+(?P<postcode>{_STATE_POSTCODES[country]}))?", parts[-1]
    ) if parts else None  # fmt: skip
    if last is None:
        return {}
    city, rest = last["city"], parts[:-1]
    if not city and rest:
        city, rest = rest[-1], rest[:-1]
    if not city or (any(character.isdigit() for character in city) and not rest):
        return {"region": last["region"], "postcode": last["postcode"] or ""}
    return {
        "street": ", ".join(rest), "city": city, "region": last["region"], "postcode": last["postcode"] or "",
    }  # fmt: skip


def _brazilian(parts: list[str]) -> dict[str, str]:
    """`Av. Paulista, 1000 - Bela Vista, São Paulo - SP, 01310-100`."""
    if len(parts) < 2 or not re.fullmatch(_DIGITS["BR"], parts[-1]):
        return {}
    city, dash, region = _last_dash(parts[-2])
    return {"street": ", ".join(parts[:-2]), "city": city, "region": region if dash else "", "postcode": parts[-1]}


def _with_postcode(parts: list[str], pattern: str, country: str) -> dict[str, str]:
    """The last part that has a postcode: before the town, behind it, or alone."""
    for position in range(len(parts) - 1, -1, -1):
        part, rest, after = parts[position], parts[:position], parts[position + 1 :]
        before = re.fullmatch(rf"{_BEFORE_IT}({pattern})\s+(\D.*)", part)
        behind = re.fullmatch(rf"(\D.*?)\s+{_BEFORE_IT}({pattern})", part)
        alone = re.fullmatch(rf"{_BEFORE_IT}({pattern})", part)
        if before and country == "PH" and rest:  # what stands behind the code is the province
            return {"region": before[2], "postcode": before[1], "city": rest[-1], "street": ", ".join(rest[:-1])}
        if before and country != "GB":
            return _town(before[2], country, after) | {"postcode": before[1], "street": ", ".join(rest)}
        if behind:
            return _behind(behind[1], behind[2], rest, country)
        if alone and rest:
            return {"postcode": alone[1], "city": rest[-1], "street": ", ".join(rest[:-1])}
    return {}


def _behind(town: str, postcode: str, rest: list[str], country: str) -> dict[str, str]:
    if country == "IN" and rest:  # what stands before the code is the state
        return {"region": town, "postcode": postcode, "city": rest[-1], "street": ", ".join(rest[:-1])}
    return {"city": town, "postcode": postcode, "street": ", ".join(rest)}


def _town(text: str, country: str, after: list[str]) -> dict[str, str]:
    if country == "IT" and (match := _PROVINCE.fullmatch(text)):
        return {"city": match[1], "region": match[2]}
    if country in ("ES", "MX", "FI", "MY") and after:
        return {"city": text, "region": after[0]}
    return {"city": text}


def _far_eastern(text: str) -> dict[str, str]:
    """From the large to the small, without commas."""
    if match := _JAPANESE.fullmatch(text):
        parts = {"postcode": match[1] or "", "region": match[2], "city": match[3], "street": match[4].strip()}
        return {name: value for name, value in parts.items() if value} | {"country": "JP"}
    if match := _CHINESE.fullmatch(text):
        parts = {"region": match[1] or "", "city": match[2], "street": f"{match[3] or ''}{match[4]}".strip()}
        return {name: value for name, value in parts.items() if value} | {"country": "CN"}
    return {}
