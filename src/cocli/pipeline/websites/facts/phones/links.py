"""Phone numbers that a page gives to programs: links, what a click does, marked-up data, the state of its scripts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlsplit

from cocli.pipeline.websites.facts.emails.links import card_in
from cocli.pipeline.websites.facts.phones.number import MAX_PER_RUN, PhoneFinding, PhoneKind, numbers_in, to_e164
from cocli.pipeline.websites.facts.phones.words import FAX
from cocli.pipeline.websites.page.languages import either
from cocli.pipeline.websites.page.structured import facts_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.pipeline.websites.page.page import Page, PageElement

MAX_ELEMENTS = 2_000
MAX_STATE = 2_000_000
MAX_IN_STATE = 3
_SCHEME = re.compile(
    r"(?:https?:/{0,2}(?:[\w.-]{1,100}/)?)?(tel|phone|callto|fax|sms|skype|whatsapp|viber)\s{0,3}:(.{1,200})",
    re.IGNORECASE | re.DOTALL,
)
"""Editors that take every link for a website put `https://` before it."""
_CLICK = re.compile(r"\btel:(?://)?\s{0,2}([+(\d][\d ()./-]{5,24})", re.IGNORECASE)
_DIALLED = frozenset(("tel", "phone", "callto", "sms"))
_FEWEST_DIGITS = 6
_SHOWN = re.compile(r"[+(\d][\d ()./\-\u2010-\u2015\u2212·•∙\u00a0]{4,40}\d")
_CARD_PHONE = re.compile(
    r"^(?:item\d\.)?TEL([^:\n]{0,80}):(?:tel:)?([+(\d][\d ()./+-]{5,30})", re.IGNORECASE | re.MULTILINE
)
_CLICKED = ("onclick", "data-href", "data-link", "data-url")
_SEVERAL = re.compile(rf"\s*(?:[,;|]|\b(?:{either('phone.or')})\b|/)\s*", re.IGNORECASE)
_WHATSAPP_PATH = re.compile(r"/(?:c/)?(\+?[\d ().-]{7,24})/?")
_NAMES = frozenset(("telephone", "faxnumber", "phone", "tel", "mobile"))
_META = {
    "og:phone_number": "phone",
    "business:contact_data:phone_number": "phone",
    "og:fax_number": "fax",
    "business:contact_data:fax_number": "fax",
}
_STATE_WORDS = ("hone", "obile", '"tel"', '"tel\\\\"')
_STATE_NAME = re.compile(r"__[A-Z_]{3,30}(?:DATA|STATE|NUXT|PROPS|CONTEXT)?__|_CONTEXT\b|\bviewerModel\b")
_STATE = re.compile(
    r"""["'\\][a-z_]{0,20}(?:phone|mobile|(?<![a-z])tel)(?:_?number|_?no)?\\{0,2}["']\s{0,3}:\s{0,3}"""
    r"""\\{0,2}["']([+(\d][\d ()./+-]{6,24})\\{0,2}["']""",
    re.IGNORECASE,
)


def in_links(page: Page, region: str | None) -> Iterator[PhoneFinding]:
    for element in page.links:
        href = element.get("href").strip()
        match = _SCHEME.match(href)
        if match:
            scheme = match[1].lower()
            numbers = _numbers(scheme, match[2], href)
        elif "wa.me/" in href or "whatsapp.com/send" in href:
            scheme, numbers = "whatsapp", [_whatsapp(href)]
        else:
            continue
        yield from _linked(page, element, scheme, numbers, region)
    for name in _CLICKED:
        for element in page.by_attribute.get(name, ())[:MAX_ELEMENTS]:
            value = element.get(name)
            click = _CLICK.search(value[:500]) if ":" in value else None
            if click:
                yield from _linked(page, element, "tel", [click[1]], region)


def _linked(
    page: Page, element: PageElement, scheme: str, numbers: list[str], region: str | None
) -> Iterator[PhoneFinding]:
    label = page.text[max(0, element.start - 12) : element.end]
    is_fax = scheme == "fax" or FAX.search(label) is not None
    kind: PhoneKind = "phone"
    method = "tel-link"
    if scheme == "whatsapp":
        kind = method = "whatsapp"
    if is_fax:
        kind = "fax"
    context = page.context(element.start, element.end)
    shown = _shown(page, element, region) if scheme in _DIALLED else None
    for raw in numbers:
        for number in [raw] if to_e164(raw, region) else _SEVERAL.split(raw)[:MAX_PER_RUN]:
            value = to_e164(number, region)
            if shown is not None and not _agree(value, shown[1]):
                conflict = value or number[:40]
                yield PhoneFinding(*shown, kind, method, context, element.start, "link", conflict=conflict)
            elif value:
                yield PhoneFinding(number, value, kind, method, context, element.start, "link")


def _shown(page: Page, element: PageElement, region: str | None) -> tuple[str, str] | None:
    """The number that a link shows, as it stands there and in E.164, where it is one and valid."""
    text = page.text_of(element)[:80].strip()
    if sum(map(str.isdigit, text)) < _FEWEST_DIGITS:
        return None
    run = _SHOWN.search(text)
    for raw in numbers_in(run[0], region) if run else ():
        if value := to_e164(raw, region):
            return raw, value
    return None


def _agree(linked: str | None, shown: str) -> bool:
    """Is it one number? An extension in only one of them makes no other."""
    return linked is not None and (linked.startswith(shown) or shown.startswith(linked))


def _numbers(scheme: str, rest: str, href: str) -> list[str]:
    if scheme in ("whatsapp", "viber"):
        return [_whatsapp(href)]
    number = unquote(rest).split(";")[0].split("?")[0].strip(" /\t\r\n\u00a0")[:60]
    # A name without a sign of a number is a user of Skype, not somebody's phone spelt in letters.
    if scheme in ("skype", "callto") and not number[:1].strip("+(").isdigit() and number[:1] != "+":
        return []
    return [number]


def _whatsapp(href: str) -> str:
    """`https://wa.me/4930…` and `…/send?phone=4930…` are international without saying so."""
    try:
        parts = urlsplit(href)
        query = dict(parse_qsl(parts.query, max_num_fields=50))
    except ValueError:  # not an address that a browser would open
        return ""
    path = _WHATSAPP_PATH.fullmatch(unquote(parts.path))
    digits = re.sub(r"\D", "", query.get("phone") or query.get("number") or (path[1] if path else ""))[:20]
    if digits.startswith("0") and not digits.startswith("00"):
        return digits  # somebody wrote it as at home
    digits = digits.removeprefix("00")
    if len(digits) > 7:
        return f"+{digits}"
    return ""


def in_cards(page: Page, region: str | None) -> Iterator[PhoneFinding]:
    """Contact cards that a link carries in itself."""
    for element in page.links:
        href = element.get("href")
        if href[:5].lower() != "data:":
            continue
        for parameters, raw in _CARD_PHONE.findall(card_in(href))[:MAX_PER_RUN]:
            if value := to_e164(raw.strip(), region):
                kind: PhoneKind = "fax" if FAX.search(parameters) else "phone"
                context = page.context(element.start, element.end)
                yield PhoneFinding(raw.strip(), value, kind, "vcard", context, element.start, "link")


def in_markup(page: Page, region: str | None) -> Iterator[PhoneFinding]:
    facts = facts_of(page)
    faxes = {fact.item for fact in facts if fact.name == "contacttype" and FAX.search(fact.value)}
    for fact in facts:
        if fact.name in _NAMES and "review" not in fact.path:
            kind: PhoneKind = "phone"
            if fact.name == "faxnumber" or fact.item in faxes:
                kind = "fax"
            raw = unquote(fact.value).removeprefix("tel:").strip()[:80]
            for number, value in _values(raw, region):
                context = page.context(fact.position, fact.end)
                yield PhoneFinding(number, value, kind, fact.method, context, fact.position, "data")
    for name, what in _META.items():
        for number, value in _values(page.meta.get(name, "")[:80], region):
            yield PhoneFinding(number, value, "fax" if what == "fax" else "phone", "meta", "", 0, "data")


def _values(raw: str, region: str | None) -> Iterator[tuple[str, str]]:
    """The number that a value is, or those that it lists."""
    value = to_e164(raw[:60], region) if raw else None
    if value:
        yield raw[:60], value
        return
    for part in _SEVERAL.split(raw)[:MAX_PER_RUN]:
        for number in numbers_in(part, region) if len(part) > 5 else ():
            if value := to_e164(number, region):
                yield number, value


def in_state(page: Page, region: str | None) -> Iterator[PhoneFinding]:
    """Numbers in the state that a page hands to its scripts. For pages that show none: it holds others' numbers too."""
    found: set[str] = set()
    for script in page.scripts:
        if not any(word in script.text for word in _STATE_WORDS) or not (
            "json" in script.kind or _STATE_NAME.search(script.text, 0, 2_000)
        ):
            continue
        for match in _STATE.finditer(script.text, 0, MAX_STATE):
            value = to_e164(match[1], region)
            if value and value not in found:
                found.add(value)
                yield PhoneFinding(match[1], value, "phone", "state-json", "", script.position, "script")
                if len(found) >= MAX_IN_STATE:
                    return
