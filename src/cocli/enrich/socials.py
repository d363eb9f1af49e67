"""Social profiles that a page links to: profiles, not share buttons, posts, login pages or somebody's front door."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote, urlsplit

from cocli.enrich.finding import Finding
from cocli.enrich.social_sites import SITES, Site
from cocli.enrich.structured import facts_of
from cocli.enrich.template import is_unfilled_template
from cocli.enrich.wordlist import words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.enrich.page import Page

MAX_LINKS = 5_000
_NOBODY = words(
    """
    wix wixcom squarespace shopify wordpress wordpressdotcom wordpresscom godaddy weebly elementor jimdo webflow ionos
    facebook facebookapp instagram twitter x youtube google linkedin pinterest tiktok yelp username user yourpage
    your-page yourusername yourprofile your-profile yourname your_username yourcompany your-company yourbusiness
    profile page company name handle example test demo envato themeforest templatemonster colorlib bootstrapmade
    getbootstrap home index.html index.php undefined null
    """
)
_INNER_URL = re.compile(r"https?://[^\s()\[\]<>\"']+")
"""Inside what should have been an address, such as Markdown that was pasted into a link."""
_CREDIT = re.compile(
    r"(?:design|created|developed|built|powered|website|webdesign|realis\w+|made)"
    r"\s+(?:and \w+ )?(?:by|von|par|da|por)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Profile:
    site: str
    url: str


def find_socials(page: Page) -> tuple[Finding, ...]:
    """The profiles of a page, each once. A finding's `method` says how it was linked."""
    found: dict[tuple[str, str], Finding] = {}
    for url, method, where, start, end in _addresses(page):
        profile = read_profile(url)
        if profile is None or is_unfilled_template(page):
            continue
        key = (profile.site, urlsplit(profile.url).path.lower() + urlsplit(profile.url).query)
        if key not in found and not (where == "link" and found and _is_credit(page, start)):
            found[key] = Finding(profile.url, method, page.context(start, end), start, where)
    return tuple(sorted(found.values(), key=lambda finding: finding.position))


def _is_credit(page: Page, start: int) -> bool:
    """Does "Website by" stand before it on its line? Then it is the agency's profile."""
    return _CREDIT.search(page.before(start, 120).rpartition("\n")[2]) is not None


def site_of(url: str) -> str | None:
    """`https://www.facebook.com/firm` → `facebook`."""
    profile = read_profile(url)
    return profile.site if profile else None


def read_profile(url: str) -> Profile | None:
    """The profile that an address leads to, without query and trailing slash; None for every other address."""
    url = url.strip()
    if url.startswith("//"):
        url = f"https:{url}"
    elif url[:4].lower() != "http" and (inner := _INNER_URL.search(url[:2000])):
        url = inner[0]
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").rstrip(".")
    except ValueError:  # such as http://[x: leads nowhere
        return None
    if parts.scheme.lower() not in ("http", "https") or not host:
        return None
    site = _site(host)
    if site is None:
        return None
    return _profile(site, host, unquote(parts.path), parts.query)


def _site(host: str) -> Site | None:
    labels = host.split(".")
    return next((SITES[name] for i in range(len(labels) - 1) if (name := ".".join(labels[i:])) in SITES), None)


def _profile(site: Site, host: str, path: str, query: str) -> Profile | None:
    segments = [segment.strip() for segment in path.split("/") if segment.strip()]
    if site.name == "facebook" and segments[:1] == ["plugins"]:
        inner = parse_qs(query, max_num_fields=None).get("href", [""])[0] if len(query) < 5000 else ""
        return read_profile(inner) if inner and "plugins" not in inner else None
    if site.name == "facebook" and segments[:1] == ["profile.php"]:
        number = re.search(r"(?:^|&)id=(\d{5,20})", query)
        return Profile("facebook", f"https://{host}/profile.php?id={number[1]}") if number else None
    if not segments:
        return None
    kept = site.profile(segments)
    if kept is None or kept[-1].lower().lstrip("@") in _NOBODY:
        return None
    return Profile(site.name, f"https://{host}/{'/'.join(kept)}")


def _addresses(page: Page) -> Iterator[tuple[str, str, str, int, int]]:
    for element in page.links[:MAX_LINKS]:
        yield element.get("href"), "link", "link", element.start, element.end
    for fact in facts_of(page):
        if fact.name == "sameas":
            yield fact.value, fact.method, "data", fact.position, fact.end
    for element in page.by_tag.get("iframe", ()):
        if "facebook.com/plugins" in element.get("src"):
            yield element.get("src"), "embed", "attribute", element.start, element.end
    for element in page.by_attribute.get("data-href", ()):
        if "fb-" in element.get("class"):
            yield element.get("data-href"), "embed", "attribute", element.start, element.end
