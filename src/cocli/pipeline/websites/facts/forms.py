"""Contact forms of a page: forms that ask for a message or a call back, and those of services that a page embeds.

A search, a newsletter, a login, a comment, a review and a booking have fields too. None of them reaches the company.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cocli.pipeline.websites.facts.finding import Finding
from cocli.pipeline.websites.page.kind import kind_of
from cocli.pipeline.websites.page.languages import either
from cocli.pipeline.websites.page.wordlist import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cocli.pipeline.websites.page.page import Page, PageElement

MAX_FORMS = 50
MAX_LINKS = 2_000
_FIELDS = ("input", "textarea", "select")
_NO_FIELD = words("hidden submit button image reset checkbox radio file")
_MAIL = re.compile(either("form.email"), re.IGNORECASE)
_PHONE = re.compile(either("form.phone"), re.IGNORECASE)
_MESSAGE = re.compile(r"captcha|honeypot|\bhp\b|comment", re.IGNORECASE)
_WANTED = re.compile(either("form.wanted"), re.IGNORECASE)
_OTHERS = re.compile(rf"(?<![a-z])(?:{either('form.other')})", re.IGNORECASE)
_SERVICES = re.compile(
    r"(?:^|//|\.)(?:(?:[\w-]+\.)?typeform\.com/to/|(?:[\w-]+\.){0,2}jotform\.(?:com|co|eu|pro)/|docs\.google\.com/forms/|"
    r"forms\.gle/|[\w-]+\.wufoo\.(?:com|eu)/|(?:www\.)?cognitoforms\.com/|(?:[\w-]+\.)?123form(?:builder)?\.com/|"
    r"(?:www\.)?123contactform\.com/|[\w-]+\.paperform\.co|tally\.so/(?:embed|r)/|forms\.office\.com/|"
    r"forms\.zoho(?:public)?\.\w{2,3}/|[\w-]+\.formstack\.com/forms|fs\d\.formsite\.com/|share\.hsforms\.com/|"
    r"js\.hsforms\.net/forms/|forms\.(?:monday|clickup)\.com/)",
    re.IGNORECASE,
)
_SERVICE_ATTRIBUTES = ("data-tf-widget", "data-tf-live", "data-paperform-id", "data-tally-src", "data-hs-forms-root")
_FRAME_SOURCES = ("src", "data-src", "data-tally-src")


def find_forms(page: Page) -> Iterator[Finding]:
    """Each form that reaches the company, with the address it is sent to, or that of the page it stands on."""
    forms = page.by_tag.get("form", [])[:MAX_FORMS]
    fields: dict[int, list[PageElement]] = {id(form): [] for form in forms}
    orphans: list[PageElement] = []
    for tag in _FIELDS:
        for element in page.by_tag.get(tag, ()):
            if element.get("type").lower() in _NO_FIELD:
                continue
            form = next((up for up in element.ancestors() if up.tag == "form"), None)
            (orphans if form is None else fields.get(id(form), [])).append(element)
    for form in forms:
        if _reaches_somebody(page, form, fields[id(form)]):
            yield _finding(page, form.get("action"), form)
    # Some builders put the fields of a form into no form at all.
    if orphans and _asks_for_a_message(orphans) and any(map(_is_mail, orphans)):
        yield _finding(page, page.url, orphans[0])
    yield from _embedded(page)


def _finding(page: Page, address: str, element: PageElement) -> Finding:
    url = page.absolute(address) or ""
    if url[:4].lower() != "http":
        url = page.url  # sent by a script or by mail: the form itself is here
    return Finding(url, "form", page.context(element.start, element.start + 40), element.start, "attribute")


def _reaches_somebody(page: Page, form: PageElement, fields: Sequence[PageElement]) -> bool:
    if form.get("action")[:7].lower() == "mailto:":
        return bool(fields)
    called = " ".join(form.get(name) for name in ("action", "class", "id", "name", "role", "aria-label"))
    if any(field.get("type").lower() in ("password", "search") for field in fields):
        return False
    wanted = _WANTED.search(called) is not None
    if _OTHERS.search(called) and not (wanted and _asks_for_a_message(fields)):
        return False
    if any(field.get("type").lower() in ("date", "datetime-local") for field in fields) and not wanted:
        return False
    reachable = any(_is_mail(field) or _is_phone(field) for field in fields)
    if _asks_for_a_message(fields):
        return reachable or wanted or _WANTED.search(" ".join(map(_called, fields))) is not None
    # Without room for a message, it must say what it is for, and ask for more than an address.
    said = wanted or _WANTED.search(page.text_of(form)[-200:]) is not None
    return said and reachable and len(fields) > 1


def _asks_for_a_message(fields: Sequence[PageElement]) -> bool:
    return any(field.tag == "textarea" and not _MESSAGE.search(_called(field)) for field in fields)


def _called(field: PageElement) -> str:
    return " ".join(field.get(name) for name in ("name", "id", "placeholder", "aria-label", "autocomplete", "title"))


def _is_mail(field: PageElement) -> bool:
    return field.get("type").lower() == "email" or _MAIL.search(_called(field)) is not None


def _is_phone(field: PageElement) -> bool:
    return field.get("type").lower() == "tel" or _PHONE.search(_called(field)) is not None


def _embedded(page: Page) -> Iterator[Finding]:
    """Forms of services: in a frame, by a script, or linked to with words that say so."""
    for element in page.by_tag.get("iframe", ())[:MAX_FORMS]:
        source = next((element.get(name) for name in _FRAME_SOURCES if element.get(name)), "")
        if _SERVICES.search(source[:500]):
            yield _finding(page, source, element)
    marked = next((page.by_attribute[name][0] for name in _SERVICE_ATTRIBUTES if name in page.by_attribute), None)
    if marked is not None and marked.tag != "iframe":
        yield _finding(page, page.url, marked)
    for script in page.scripts[:200]:
        if _SERVICES.search(script.source[:500]):
            yield Finding(page.url, "form", "", script.position, "script")
            break
    for element in page.links[:MAX_LINKS]:
        if _SERVICES.search(element.get("href")[:500]) and kind_of("", page.text_of(element)[:100]) == "contact":
            yield _finding(page, element.get("href"), element)
