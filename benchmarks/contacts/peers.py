"""The common ways to find contacts, each written as its users write it. They share one expression for an address.

- `raw regex`: the expression over the HTML as it came, the way of most scripts and of several scrapers of maps.
- `mailto + text`: `mailto:` links, then the expression over the visible text (BeautifulSoup's `get_text`).
- `scrapy`: the idiom of spiders: selectors for links, `.re()` over all text nodes, LinkExtractor for social hosts.

Numbers that a peer finds are brought to E.164 with the same library as ours, so that only finding is compared.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import unquote

from benchmarks.contacts.truth import Labelled, comparable
from cocli.pipeline.websites import read_page
from cocli.pipeline.websites.facts.phones.phones import to_e164
from cocli.pipeline.websites.page.charset import decode

EMAIL = r"[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}"
PHONE = r"\+?\d[\d\s().-]{7,}\d"
SOCIAL = r"https?://(?:www\.)?(?:facebook|instagram|twitter|x|linkedin|youtube|tiktok|pinterest|yelp)\.com/[^\s\"'<>]+"
OURS_RELATIONS = frozenset(("own", "freemail"))


@dataclass(frozen=True, slots=True)
class Found:
    """What a way to find contacts found on one page. `offered`: the addresses it offers as the company's own."""

    values: dict[str, frozenset[str]] = field(default_factory=dict)
    offered: frozenset[str] = frozenset()


def ours(page: Labelled, body: bytes) -> Found:
    facts = read_page(body, page.url, page.country)
    emails = frozenset(comparable("emails", email.value) for email in facts.emails)
    offered = frozenset(comparable("emails", email.value) for email in facts.emails if email.relation in OURS_RELATIONS)
    phones = frozenset(phone.value for phone in facts.phones if phone.kind != "fax")
    socials = frozenset(comparable("socials", social.value) for social in facts.socials)
    return Found({"emails": emails, "phones": phones, "socials": socials}, offered)


def raw_regex(page: Labelled, body: bytes) -> Found:
    html = decode(body)
    return _found(page, re.findall(EMAIL, html), re.findall(PHONE, html), re.findall(SOCIAL, html))


def mailto_and_text(page: Labelled, body: bytes) -> Found:
    soup = importlib.import_module("bs4").BeautifulSoup(decode(body), "lxml")
    hrefs = [str(link.get("href")) for link in soup.find_all("a", href=True)]
    for hidden in soup(["script", "style", "noscript"]):
        hidden.decompose()
    text = soup.get_text(" ")
    mailtos = [unquote(href[7:].split("?")[0]) for href in hrefs if href.startswith("mailto:")]
    tels = [href[4:] for href in hrefs if href.startswith("tel:")]
    socials = [href for href in hrefs if re.match(SOCIAL, href)]
    return _found(page, [*mailtos, *re.findall(EMAIL, text)], [*tels, *re.findall(PHONE, text)], socials)


def scrapy_idiom(page: Labelled, body: bytes) -> Found:
    response = importlib.import_module("scrapy.http").HtmlResponse(
        url=page.url or "https://www.site.invalid/", body=decode(body).encode(), encoding="utf-8"
    )
    extractor = importlib.import_module("scrapy.linkextractors").LinkExtractor
    emails = [
        *response.css('a[href^="mailto:"]::attr(href)').re(r"mailto:([^?]+)"),
        *response.xpath("//body//text()[not(parent::script or parent::style)]").re(EMAIL),
    ]
    phones = [
        *response.css('a[href^="tel:"]::attr(href)').re(r"tel:(.+)"),
        *response.xpath("//body//text()[not(parent::script or parent::style)]").re(PHONE),
    ]
    links = extractor(allow=SOCIAL, canonicalize=False).extract_links(response)
    return _found(page, emails, phones, [link.url for link in links])


def _found(page: Labelled, emails: Iterable[str], phones: Iterable[str], socials: Iterable[str]) -> Found:
    addresses = frozenset(comparable("emails", email.strip()) for email in emails)
    numbers = frozenset(value for phone in phones if (value := to_e164(phone, page.country)))
    profiles = frozenset(comparable("socials", social) for social in socials)
    return Found({"emails": addresses, "phones": numbers, "socials": profiles}, addresses)


PEERS = {"cocli": ours, "raw regex": raw_regex, "mailto + text": mailto_and_text, "scrapy": scrapy_idiom}
