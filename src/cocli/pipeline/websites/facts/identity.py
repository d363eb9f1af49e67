"""Who a page says it belongs to: its domains and the words of its name."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from cocli.pipeline.websites.hosts.elsewhere import shared_host
from cocli.pipeline.websites.page.claims import are_siblings, is_borrowed
from cocli.pipeline.websites.page.languages import set_of
from cocli.pipeline.websites.page.page import host_of
from cocli.pipeline.websites.page.structured import facts_of
from cocli.pipeline.websites.page.suffixes import registrable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cocli.pipeline.websites.page.page import Page

_TOKEN = re.compile(r"[a-z0-9]{3,}")
_COMMON = set_of("title.common")
_SELVES = frozenset(("organization", "localbusiness", "website", "corporation", "store", "professionalservice"))
"""What marked-up data calls the company and its site."""

_WITHOUT_ACCENT = str.maketrans(
    {"ß": "ss", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"}
)
"""Letters that are not a letter with a mark."""


@dataclass(frozen=True, slots=True)
class SiteIdentity:
    domains: frozenset[str]
    names: frozenset[str]
    """Words of the name, in lower case without accents."""
    foreign: frozenset[str] = frozenset()
    """Domains that the page says it lives on, and nothing ties it to: those of the page that it is a copy of."""
    copied: bool = False
    """Whether it is a copy that nobody adapted: it names nobody but the other one."""

    def owns(self, registrable: str) -> bool:
        """Is it one of the domains, or the same name under another suffix?"""
        if registrable in self.domains:
            return True
        if registrable in self.foreign:
            return False
        label = registrable.partition(".")[0]
        return any(label == domain.partition(".")[0] and len(label) > 3 for domain in self.domains)

    def fits(self, text: str) -> bool:
        """Does a mailbox or a domain carry the name?"""
        letters = "".join(_TOKEN.findall(plain(text))) if text else ""
        if len(letters) < 3:
            return False
        joined = "".join(sorted(self.names))
        return any(name in letters for name in self.names if len(name) > 3) or (len(letters) > 4 and letters in joined)


def identity_of(page: Page) -> SiteIdentity:
    """What one page says; computed once per page."""
    kept: SiteIdentity | None = page.__dict__.get("_identity")
    if kept is None:
        kept = page.__dict__["_identity"] = _identity(page)
    return kept


def _identity(page: Page) -> SiteIdentity:
    titles = [page.title, page.meta.get("og:site_name", ""), page.meta.get("application-name", "")]
    titles += [fact.value for fact in facts_of(page) if fact.name in ("name", "legalname") and not fact.path][:5]
    shared = shared_host(page.url)
    foreign = _foreign(page)
    copied = bool(foreign) and not _names_its_domain(page, titles)
    if foreign:
        titles = [title for title in titles if not _is_of(title, foreign)]
    # On a host that many share, a company owns no more than its label: `bobs-plumbing.weebly.com`.
    domains = page.own_domains - {shared} if shared else page.own_domains
    labels = [domain.partition(".")[0] for domain in domains]
    if shared:
        labels.append(host_of(page.url).removesuffix(shared).strip("."))
    return SiteIdentity(domains, _names(labels if copied else (*titles, *labels)), foreign, copied)


def _foreign(page: Page) -> frozenset[str]:
    """What address and Open Graph say, else the marked-up data of the company or the site."""
    if page.domain is None or page.says_its_own_address or page.foreign_domains:
        return page.foreign_domains
    marked = (
        registrable(host_of(fact.value))
        for fact in facts_of(page)
        if fact.name in ("url", "@id")
        and fact.value[:4] == "http"
        and not set(fact.path) - {"@graph"}
        and fact.kind in _SELVES
    )
    claims = [domain for domain in marked if domain]
    if is_borrowed(page.domain) or any(are_siblings(page.domain, claim) for claim in claims):
        return frozenset()
    return frozenset(claims)


def _names_its_domain(page: Page, titles: list[str]) -> bool:
    """Does a page that says it lives elsewhere speak of the domain that it was fetched from all the same?"""
    domain = page.domain or ""
    name = domain.partition(".")[0].replace("-", "")
    if domain in page.lowered or any(domain in element.get("href").lower() for element in page.links):
        return True
    return any(len(name) > 3 and name in "".join(_TOKEN.findall(plain(text))) for text in (*titles, page.text))


def _is_of(title: str, foreign: frozenset[str]) -> bool:
    letters = "".join(_TOKEN.findall(plain(title)))
    return any((name := domain.partition(".")[0].replace("-", "")) and name in letters for domain in foreign)


def joined(identities: Iterable[SiteIdentity]) -> SiteIdentity:
    """What the pages of a site say together."""
    everyone = list(identities)
    return SiteIdentity(
        frozenset().union(*(identity.domains for identity in everyone)),
        frozenset().union(*(identity.names for identity in everyone)),
        frozenset().union(*(identity.foreign for identity in everyone)),
        bool(everyone) and all(identity.copied for identity in everyone),
    )


def _names(texts: Iterable[str]) -> frozenset[str]:
    found: set[str] = set()
    for text in texts:
        tokens = [token for token in _TOKEN.findall(plain(text[:300])) if token not in _COMMON]
        found.update(tokens)
        found.update(a + b for a, b in pairwise(tokens))
    return frozenset(found)


def plain(text: str) -> str:
    """Lower case, without accents: `Grünau` → `grunau`."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.lower().translate(_WITHOUT_ACCENT))
    return "".join(character for character in decomposed if not unicodedata.combining(character))
