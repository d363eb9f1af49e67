"""What a person wrote on a company's page, laid over what was found.

This is the one place that says so: exports, reports, search and `why` use it. Nothing is read or written here. A
person's text wins wherever it can be such a value. One that cannot (an e-mail address without an `@`, say) is named by
`unusable`, and the found value stays.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from cocli.models.record import EmailText
from cocli.pipeline.sources.imports.countries import country_of
from cocli.pipeline.sources.open_places.values import e164
from cocli.pipeline.websites.hosts.shared import own_domain

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cocli.models.company import Company
    from cocli.models.prospect import Prospect

_ADDRESS = ("street", "city", "region", "postcode", "country")
COVERED: Mapping[str, tuple[str, ...]] = {
    "name": ("name",),
    "phone": ("phone", "phone_e164"),
    "email": ("primary_email", "all_emails"),
    "website": ("website", "domain"),
    "address": _ADDRESS,
    **{part: (part,) for part in _ADDRESS},
    "tags": ("tags",),
}
"""A person's key → the fields of the record that it stands before."""
TEXTS = (*(key for key in COVERED if key != "tags"), "status")
"""The keys that hold one text."""
_TAG = re.compile(r"(?=.*\S)[^\x00-\x1f\x7f]{1,1024}")
_E164 = re.compile(r"\+[1-9][0-9]{1,14}")
_PUNCTUATION = re.compile(r"[\s().\-/\u00a0]+")
_BETWEEN = re.compile(r"[\s,;]+")
_EMAIL: TypeAdapter[str] = TypeAdapter(EmailText)


def written_texts(company: Company | None) -> dict[str, str]:
    """The values that a person wrote, by their keys: texts that are not blank. Lists and maps of their own are none."""
    if company is None:
        return {}
    own = {**company.extras, **{name: getattr(company, name) for name in type(company).model_fields}}
    found = {key: _text(own.get(key)) for key in TEXTS}
    return {key: text for key, text in found.items() if text}


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    return " ".join(str(value).split())


def laid_over(prospect: Prospect, company: Company | None) -> Prospect:
    """The prospect as a person knows it: the same one where they wrote nothing that stands before its values."""
    texts = written_texts(company)
    values = _values(prospect, texts)
    if company is not None:
        values |= added_tags(prospect, company.tags)
    if not values:
        return prospect
    return prospect.with_changes(**values)


def added_tags(prospect: Prospect, tags: Iterable[str]) -> dict[str, Any]:
    """The tags of the record and of the page together; nothing where the record has them all."""
    theirs = {tag for tag in tags if _TAG.fullmatch(tag)}
    if theirs <= set(prospect.tags):
        return {}
    return {"tags": tuple(sorted({*prospect.tags, *theirs}))}


def unusable(company: Company | None) -> list[str]:
    """What a person wrote that cannot be such a value, each in words."""
    texts = written_texts(company)
    found = []
    if "email" in texts and not _emails(texts["email"]):
        found.append(f"email: {texts['email']} is no e-mail address")
    if "country" in texts and country_of(texts["country"]) is None:
        found.append(f"country: {texts['country']} is no country")
    return found


def _values(prospect: Prospect, texts: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if "name" in texts:
        values["name"] = texts["name"]
    values |= _address(prospect, texts)
    if "phone" in texts:
        country = values.get("country", prospect.country)
        values |= {"phone": texts["phone"], "phone_e164": _dialled(texts["phone"], country)}
    if "website" in texts:
        values |= {"website": texts["website"], "domain": own_domain(texts["website"])}
    if "email" in texts and (emails := _emails(texts["email"])):
        others = (email for email in prospect.all_emails if email not in emails)
        values |= {"primary_email": emails[0], "all_emails": (*emails, *others)}
    return values


def _dialled(phone: str, country: str | None) -> str | None:
    """The number in E.164. What a person wrote in that form is believed, also where no such number is given out."""
    plain = _PUNCTUATION.sub("", phone)
    if _E164.fullmatch(plain):
        return plain
    return e164(phone, country)


def _emails(text: str) -> list[str]:
    found = []
    for part in _BETWEEN.split(text):
        try:
            found.append(_EMAIL.validate_python(part))
        except ValidationError:
            continue  # `unusable` names a text in which there is no address at all
    return found


def _address(prospect: Prospect, texts: Mapping[str, str]) -> dict[str, Any]:
    """An address on one line replaces the whole; a part of it (`city:`) replaces that part."""
    values: dict[str, Any] = {}
    if "address" in texts:
        values |= _parts(texts["address"], prospect)
    for part in _ADDRESS[:-1]:
        if part in texts:
            values[part] = texts[part]
    if "country" in texts and (code := country_of(texts["country"])):
        values["country"] = code
    return values


def _parts(line: str, prospect: Prospect) -> dict[str, str | None]:
    """The parts of a written line. Known parts are recognised at its end; all that is left is the street.

    So `2 Elm St, Springfield, IL 62704` keeps the known town and region, and an unknown postcode stays on the line.
    """
    rest, found = line, dict[str, str | None](dict.fromkeys(_ADDRESS))
    while True:
        for part in _ADDRESS[1:]:
            known = getattr(prospect, part)
            cut = _without_end(rest, known) if known and found[part] is None else None
            if cut:
                rest, found[part] = cut, known
                break
        else:
            break
    found["street"] = rest
    found["country"] = prospect.country  # a line seldom names it: `country:` says where it is another one
    return found


def _without_end(line: str, known: str) -> str | None:
    """The line without a part at its end; None if it does not end with it, or nothing would be left."""
    match = re.fullmatch(rf"(.+?)[\s,]+{re.escape(known)}", line, re.IGNORECASE)
    if match:
        return match[1].rstrip(" ,")
    return None
