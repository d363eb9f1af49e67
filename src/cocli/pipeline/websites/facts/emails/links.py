"""Addresses in links: `mailto:` in all its spellings, addresses without it, mail forms of webmailers, data URIs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote

from cocli.pipeline.websites.facts.emails.address import read_address
from cocli.pipeline.websites.facts.emails.around import read_around
from cocli.pipeline.websites.facts.emails.candidate import EmailCandidate
from cocli.pipeline.websites.facts.emails.spoken import spoken
from cocli.pipeline.websites.page.encodings import from_base64
from cocli.pipeline.websites.page.unicode import readable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.pipeline.websites.page.page import Page, PageElement

MAX_RECIPIENTS = 50
MAX_HREF = 8000
MAX_CARD = 200_000

_MAILTO = re.compile(
    r"\s*(?:(?:https?:/{0,2}(?:[\w.-]{1,100}/)?)?(?:mailto|mail\s?to)\s*(?::|%3a|&colon;|[=;])(?://)?){1,2}|"
    r"\s*(?:email|e-mail)\s*(?::|%3a|&colon;)(?://)?",
    re.IGNORECASE,
)
"""Editors that take every link for a website put `https://` before it, and some authors write it twice."""
_AS_A_HOST = re.compile(r"https?://([^\s/@:]{1,64}@[^\s/@:]{4,253})/?", re.IGNORECASE)
_SEPARATORS = re.compile(r"[,;]|%2c|%3b", re.IGNORECASE)
_COMMA_FOR_DOT = re.compile(r"(@[\w-]{2,63}),([a-z]{2,3})\s*\Z", re.IGNORECASE)
_IN_ANGLES = re.compile(r"<([^<>]{3,320})>")
_COMPOSE = re.compile(r"https?://(?:mail\.google\.com/mail|outlook\.(?:live|office)\.com/)[^#]*[?&]", re.IGNORECASE)
_VCARD_EMAIL = re.compile(r"^(?:item\d+\.)?EMAIL[^:\n]{0,100}:\s*(\S{3,320})", re.IGNORECASE | re.MULTILINE)


def is_mailto(href: str) -> bool:
    return _MAILTO.match(href) is not None


def in_links(page: Page) -> Iterator[EmailCandidate]:
    for element in page.links:
        href = element.get("href")[:MAX_HREF]
        for address, method in addresses_of(href):
            yield EmailCandidate(address, method, "link", element.start, element.end)
        slip = _AS_A_HOST.fullmatch(href.strip()) if "@" in href else None
        address_there = read_address(slip[1]) if slip else None
        if address_there and address_there.registrable in page.own_domains:
            yield EmailCandidate(str(address_there), "bare-link", "link", element.start, element.end)


def addresses_of(href: str) -> Iterator[tuple[str, str]]:
    """The addresses that a link leads to, with the method."""
    if _MAILTO.match(href):
        yield from ((address, "mailto") for address in recipients(href))
    elif href[:5].lower() == "data:":
        yield from ((address, "vcard") for address in _in_data_uri(href))
    elif ("@" in href or "%40" in href) and _COMPOSE.match(href):
        query = href.partition("?")[2]
        yield from ((value, "compose-link") for name, value in _pairs(query) if name in ("to", "cc", "bcc"))
    elif "@" in href and "/" not in href.strip().removeprefix("http://").removeprefix("https://"):
        bare = href.strip()
        # A browser takes `info@firm.de` for a file: a slip.
        if "://" not in bare and read_address(unquote(bare)):
            yield unquote(bare), "bare-link"


def recipients(href: str) -> list[str]:
    """Everybody that a `mailto:` link writes to: the path, then `to`, `cc` and `bcc`."""
    rest = _MAILTO.sub("", href, count=1).strip()
    path, _, query = rest.partition("?")
    if not query and "%3f" in path.lower():
        path, _, query = unquote(path).partition("?")
    if not query and "&" in path:
        path, _, query = path.partition("&")
    if path.count("@") == 1:
        path = _COMMA_FOR_DOT.sub(r"\1.\2", path)
    lists = [path, *(value for name, value in _pairs(query) if name in ("to", "cc", "bcc"))]
    found = [address for some in lists for part in _SEPARATORS.split(some)[:MAX_RECIPIENTS] for address in _one(part)]
    return found[:MAX_RECIPIENTS]


def _pairs(query: str) -> list[tuple[str, str]]:
    try:
        pairs = parse_qsl(query.replace("&amp;", "&"), max_num_fields=100)
    except ValueError:  # more than a hundred fields: nobody's link
        return []
    return [(name.lower(), value) for name, value in pairs]


def _one(part: str) -> Iterator[str]:
    text = unquote(part).strip()
    if "%40" in text:
        text = unquote(text).strip()
    text = readable(text)
    named = _IN_ANGLES.search(text)
    if named:
        text = named[1]
    if "@" in text:
        whole = "".join(text.split()) if text.count("@") == 1 and not named else text
        if read_address(whole):
            yield whole
        else:
            yield from _within(text) or [text]
    else:
        yield from (str(address) for address, _, _ in spoken(text))


def _within(text: str) -> list[str]:
    """The addresses in what should have been one: with a tag or a slash behind it, or several without a comma."""
    found = (read_around(text, at) for at, sign in enumerate(text[:MAX_HREF]) if sign == "@")
    return [str(reading.address) for reading in found if reading][:MAX_RECIPIENTS]


def _in_data_uri(href: str) -> list[str]:
    return _VCARD_EMAIL.findall(card_in(href))[:MAX_RECIPIENTS]


def card_in(href: str) -> str:
    """The contact card that a data URI is; empty where it is something else."""
    head, _, body = href[:MAX_CARD].partition(",")
    if "vcard" not in head.lower() and "directory" not in head.lower():
        return ""
    return (from_base64(body) or "") if "base64" in head.lower() else unquote(body)


def shown_address(page: Page, element: PageElement) -> str | None:
    """The address that a link shows, where its text is one."""
    text = "".join(page.text_of(element).split())
    address = read_address(text) if 5 < len(text) <= 320 else None
    if address:
        return str(address)
    return None
