"""Social profiles that a page links to: profiles, not share buttons, posts, login pages or somebody's front door."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, parse_qsl, unquote, urlsplit

from cocli.pipeline.websites.facts.credits import is_credit
from cocli.pipeline.websites.facts.finding import Finding
from cocli.pipeline.websites.facts.identity import identity_of
from cocli.pipeline.websites.facts.relation import of_somebody
from cocli.pipeline.websites.hosts.social import NO_PROFILES, SocialSite, social_site
from cocli.pipeline.websites.page.languages import either
from cocli.pipeline.websites.page.structured import facts_of
from cocli.pipeline.websites.page.wordlist import words
from cocli.pipeline.websites.triage.template import is_unfilled_template

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.pipeline.websites.page.page import Page

MAX_LINKS = 5_000
_NOBODY = words(
    """
    wix wixcom wixstudio editorx squarespacehelp strikingly duda webador getelementor elegantthemes themeisle wpbakery
    themefusion theme_fusion qodeinteractive qode-themes tagdiv mikadothemes edgethemes thememove selectthemes
    elatedthemes astrathemes w3layouts html5up templatemo wix-com themegrill joomla drupal prestashop bigcommerce
    networksolutions yourlink yourbrand yourhandle share squarespace shopify wordpress wordpressdotcom wordpresscom
    godaddy weebly elementor jimdo webflow ionos facebook facebookapp instagram twitter x youtube google linkedin
    pinterest tiktok yelp username user yourpage your-page yourusername yourprofile your-profile yourname
    your_username yourcompany your-company yourbusiness profile page company name handle example test demo envato
    themeforest templatemonster colorlib bootstrapmade getbootstrap home index.html index.php undefined null
    """
)
_INNER_URL = re.compile(r"https?://[^\s()\[\]<>\"']+")
"""Inside what should have been an address, such as Markdown that was pasted into a link."""
_BARE = re.compile(
    r"(?:https?:?/{0,3}(?=https?:)|https?:?/{1,3}(?=www\.)|(?:https?)?/{0,3}(?=www\.|[a-z]{1,12}\.(?:com|net|me)/))",
    re.I,
)
"""What authors write where `https://` belongs: nothing, half of it, or twice."""
_MENTION = re.compile(
    r"(?<![\w@/-])(?:https?://)?(?:www\.)?(?:facebook|instagram|twitter|linkedin|youtube|tiktok)\.com/[\w@./-]{2,80}",
    re.IGNORECASE,
)
_CLICK = re.compile(r"""['"](https?://[^'"\s]{8,300})['"]""")
MAX_MENTIONS = 50
_PASSING_ON = {
    ("l.facebook.com", "l.php"): "u",
    ("lm.facebook.com", "l.php"): "u",
    ("l.instagram.com", ""): "u",
    ("google.com", "url"): "q",
    ("facebook.com", "login"): "next",
    ("twitter.com", "intent/follow"): "screen_name",
    ("twitter.com", "intent/user"): "screen_name",
    ("x.com", "intent/follow"): "screen_name",
}
_CREDIT = re.compile(
    rf"(?:{either('credit.social_work')})\s+(?:and \w+ )?(?:{either('credit.social_by')})\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class SocialProfile:
    site: str
    url: str


def find_socials(page: Page) -> tuple[Finding, ...]:
    """The profiles of a page, each once. A finding's `method` says how it was linked."""
    if identity_of(page).copied:
        return ()  # they are those of whom the page was copied from
    found: dict[tuple[str, str], Finding] = {}
    for url, method, where, start, end in _addresses(page):
        profile = read_profile(url)
        if profile is None or is_unfilled_template(page) or _is_foreign(page, profile):
            continue
        key = (profile.site, urlsplit(profile.url).path.lower() + urlsplit(profile.url).query)
        if key not in found and not (where == "link" and _is_somebody_elses(page, start, end, bool(found))):
            found[key] = Finding(profile.url, method, page.context(start, end), start, where)
    if not is_unfilled_template(page):
        for finding in _besides(page, {site for site, _ in found}):
            found[("", finding.value)] = finding
    return tuple(sorted(found.values(), key=lambda finding: finding.position))


def _is_foreign(page: Page, profile: SocialProfile) -> bool:
    """Does it carry the name of the domain that the page is a copy from?"""
    handle = re.sub(r"[^a-z0-9]", "", profile.url.rpartition("/")[2].lower())
    names = (domain.partition(".")[0].replace("-", "") for domain in identity_of(page).foreign)
    return any(len(name) > 3 and name in handle for name in names)


def _is_somebody_elses(page: Page, start: int, end: int, has_others: bool) -> bool:
    """The agency's, where "Website by" stands before it on its line; or that of who wrote a review or an embedded post.

    An icon behind such a credit is the agency's only if the company has others.
    """
    line = page.before(start, 120).rpartition("\n")[2]
    behind_credit = _CREDIT.search(line) is not None or is_credit(line)
    if behind_credit and (has_others or any(map(str.isalpha, page.text[start:end]))):
        return True
    return of_somebody(page, start)


def _besides(page: Page, known: set[str]) -> Iterator[Finding]:
    """Profiles that are not linked: in meta data, or in the text with the company's name in them."""
    found = set(known)
    identity = identity_of(page)
    metas = [(page.meta.get(name, ""), "meta", "head", 0) for name in ("article:publisher", "og:see_also")]
    mentions = _MENTION.finditer(page.text) if ".com/" in page.lowered else ()  # which is seen much faster
    texts = ((m[0].rstrip("."), "text", "text", m.start()) for m in mentions)
    for url, method, where, start in (*metas, *islice(texts, MAX_MENTIONS)):
        profile = read_profile(url) if url else None
        if profile is None or profile.site in found:
            continue
        if where == "head" or identity.fits(profile.url.rpartition("/")[2]):
            found.add(profile.site)
            yield Finding(profile.url, method, page.context(start, start + len(url)), start, where)


def site_of(url: str) -> str | None:
    """`https://www.facebook.com/firm` → `facebook`."""
    profile = read_profile(url)
    if profile:
        return profile.site
    return None


def read_profile(url: str) -> SocialProfile | None:
    """The profile that an address leads to, without query and trailing slash; None for every other address."""
    url = _whole(url.strip())
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").rstrip(".")
    except ValueError:  # such as http://[x: leads nowhere
        return None
    if parts.scheme.lower() not in ("http", "https") or not host:
        return None
    if inner := _forwarded(host, parts.path, parts.query):
        return read_profile(inner)
    site = _site(host)
    if site is None:
        return None
    path = parts.fragment[1:] if parts.path in ("", "/") and parts.fragment.startswith("!/") else parts.path
    return _profile(site, host, unquote(path), parts.query)


def _forwarded(host: str, path: str, query: str) -> str | None:
    """The address that a link of a platform or a search engine passes on, such as one that asks to log in first."""
    name = _PASSING_ON.get((host.removeprefix("www."), path.strip("/")))
    if name is None or len(query) > 5000:
        return None
    inner = dict(parse_qsl(query, max_num_fields=None)).get(name, "")
    if name == "screen_name":
        return f"https://{host}/{inner}"
    if inner.startswith("http") and "l.php" not in inner and "login" not in inner:
        return inner
    return None


def _whole(url: str) -> str:
    if url.startswith("//"):
        return f"https:{url}"
    slip = _BARE.match(url)
    if slip and not url[slip.end() :].lower().startswith("http"):
        return f"https://{url[slip.end() :]}"
    if slip or url[:4].lower() != "http":
        inner = _INNER_URL.search(url[slip.end() if slip else 0 :][:2000])
        if inner:
            return inner[0]
        return url
    return url


def _site(host: str) -> SocialSite | None:
    labels = host.split(".")
    if labels[0] in NO_PROFILES or (labels[0] == "business" and "facebook" not in labels):
        return None
    return social_site(host)


def _profile(site: SocialSite, host: str, path: str, query: str) -> SocialProfile | None:
    segments = [segment.strip() for segment in path.split("/") if segment.strip()]
    if site.name == "facebook" and segments[:1] == ["plugins"]:
        inner = ""
        if len(query) < 5000:
            inner = parse_qs(query, max_num_fields=None).get("href", [""])[0]
        if inner and "plugins" not in inner:
            return read_profile(inner)
        return None
    if site.name == "facebook" and segments[:1] == ["profile.php"]:
        number = re.search(r"(?:^|&)id=(\d{5,20})", query)
        if number:
            return SocialProfile("facebook", f"https://{host}/profile.php?id={number[1]}")
        return None
    if not segments:
        return None
    kept = site.profile(segments)
    if kept is None or kept[-1].lower().lstrip("@") in _NOBODY:
        return None
    return SocialProfile(site.name, f"https://{host}/{'/'.join(kept)}")


def _addresses(page: Page) -> Iterator[tuple[str, str, str, int, int]]:
    for element in page.links[:MAX_LINKS]:
        yield element.get("href"), "link", "link", element.start, element.end
    facts = facts_of(page)
    has_company = any("organization" in fact.kind or "business" in fact.kind for fact in facts)
    for fact in facts:
        # Beside a company, a person is the author of the page.
        if fact.name == "sameas" and not (has_company and fact.kind == "person"):
            yield fact.value, fact.method, "data", fact.position, fact.end
    for element in page.by_tag.get("iframe", ()):
        source = element.get("src") or element.get("data-src")
        if "facebook.com/plugins" in source:
            yield source, "embed", "attribute", element.start, element.end
    for element in page.by_attribute.get("data-href", ()):
        if "fb-" in element.get("class"):
            yield element.get("data-href"), "embed", "attribute", element.start, element.end
    for element in page.by_attribute.get("onclick", ())[:MAX_LINKS]:
        click = _CLICK.search(element.get("onclick")[:500])
        if click:
            yield click[1], "click", "link", element.start, element.end
