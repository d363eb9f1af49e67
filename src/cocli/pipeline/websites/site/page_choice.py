"""Which page of a site is read next: by what it is worth, within a budget. docs/enrichment.md has the rule."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from cocli.pipeline.websites.page.url import page_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cocli.pipeline.websites.facts.facts import PageFacts
    from cocli.pipeline.websites.page.kind import PageKind
    from cocli.pipeline.websites.site.links import SiteLink

BY_VALUE: tuple[PageKind, ...] = ("contact", "imprint", "about", "team", "privacy")
AT_MOST: Mapping[str, int] = {"contact": 3, "imprint": 2, "about": 2, "team": 2, "privacy": 1}
"""Pages of one kind: a chain has a contact page for every branch."""
MAX_WAITING = 500
_TELLING = ("contact", "imprint")


class PageChoice:
    """The pages that are known of a site, and which were read."""

    def __init__(self) -> None:
        self._waiting: dict[str, SiteLink] = {}
        self._seen: set[str] = set()
        self._read = Counter[str]()

    def offer(self, links: Iterable[SiteLink]) -> None:
        """Pages that somebody links to. What was read, or is waiting, is not asked for again."""
        for link in links:
            if link.key not in self._seen and len(self._waiting) < MAX_WAITING:
                self._waiting.setdefault(link.key, link)

    def mark(self, *urls: str) -> None:
        """These addresses were asked for, or are where that led."""
        for url in urls:
            key = page_key(url)
            self._seen.add(key)
            self._waiting.pop(key, None)

    def next(self) -> SiteLink | None:
        """The page that is worth most, and that it is asked for; None where nothing is left."""
        open_kinds = {kind for kind in BY_VALUE if self._read[kind] < AT_MOST[kind]}
        candidates = [link for link in self._waiting.values() if link.kind in open_kinds]
        if not candidates:
            return None
        chosen = min(candidates, key=lambda link: (BY_VALUE.index(link.kind), link.rank))
        self.mark(chosen.url)
        self._read[chosen.kind] += 1
        return chosen

    @property
    def lacks_contact(self) -> bool:
        """No page for contact or of the imprint is known: a sitemap may know one."""
        return not any(self._read[kind] for kind in _TELLING) and not any(
            link.kind in _TELLING for link in self._waiting.values()
        )


def has_enough(pages: Sequence[PageFacts]) -> bool:
    """The site was read for this: an address of its own and a phone, with a page for contact or an imprint read."""
    return (
        any(page.kind in _TELLING for page in pages)
        and any(email.relation == "own" for page in pages for email in page.emails)
        and any(phone.kind != "fax" for page in pages for phone in page.phones)
    )
