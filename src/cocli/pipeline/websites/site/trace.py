"""What a visit asked for, one after the other, and what came of each.

A reading follows from its answers alone. So where all of them are as they were, the whole reading is, and nobody has to
parse a page or to write a state to know it. It also has what the next visit needs to ask whether a page changed, so
that nobody has to look for its pages.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from cocli.documents.digest import canonical_json
from cocli.pipeline.websites.fetch.outcome import Fetched, NotModified, Validators

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cocli.pipeline.websites.fetch.outcome import Outcome

NOTHING = "-"
"""No answer, or one that says that there is no such page."""
UNKNOWN = "?"
"""As before, by the server's word; what it was is said once the page was found here."""


@dataclass(frozen=True, slots=True)
class TracedAnswer:
    """What came of asking for an address."""

    answer: str
    """The digest of the page, the SHA-256 of another file, or `-`."""
    url: str | None = None
    """Where the page was, after redirects."""
    etag: str | None = None
    last_modified: str | None = None

    @property
    def validators(self) -> Validators | None:
        if self.etag or self.last_modified:
            return Validators(self.etag, self.last_modified)
        return None

    def as_data(self) -> list[str | None]:
        return [self.answer, self.url, self.etag, self.last_modified]


@dataclass(frozen=True, slots=True)
class VisitTrace:
    """`basis` stands for what the reading depended on besides the answers."""

    basis: str
    asked: Mapping[str, TracedAnswer]
    """Address → what came of it, in the order of the visit."""
    telling: Sequence[str] = ()
    """The addresses of the pages that have all contacts of the site; of one that is no company's website the page that
    says so. None where there is no page at all."""

    @property
    def is_whole(self) -> bool:
        return bool(self.asked) and all(found.answer != UNKNOWN for found in self.asked.values())

    def with_telling(self, pages: Sequence[str]) -> VisitTrace:
        """`pages` are named by where they were; each is known by the first address that led there."""
        led = {found.url: url for url, found in list(self.asked.items())[::-1]}
        return replace(self, telling=tuple(led[page] for page in pages if page in led))

    def brief(self, *, leads_away: bool = False) -> dict[str, TracedAnswer]:
        """What is asked for to see whether the contacts are as they were: where a page was → what it was.

        A site without any page is asked at the address that was asked first, and not in its other spellings. One that
        leads to somebody else's is asked whether it still does: what stands there is not of interest.
        """
        pages = {url: self.asked[url] for url in self.telling or list(self.asked)[:1]}
        if leads_away:
            return pages
        return {page.url or url: page for url, page in pages.items()}

    def as_data(self) -> dict[str, Any]:
        """For the document of the visit. A list: the order counts, and that of an object does not."""
        asked = [[url, *found.as_data()] for url, found in self.asked.items()]
        return {"basis": self.basis, "asked": asked, "telling": list(self.telling)}

    @classmethod
    def from_data(cls, data: Any) -> Self | None:
        """None where a visit left none, or one of an older version, which does not say how to ask again."""
        if not isinstance(data, dict) or "telling" not in data:
            return None
        asked = {url: TracedAnswer(*values) for url, *values in data["asked"]}
        return cls(data["basis"], asked, tuple(data["telling"]))


def basis_of(*parts: object) -> str:
    return hashlib.sha256(canonical_json(list(parts)).encode()).hexdigest()[:16]


def answer_of(outcome: Outcome) -> str:
    """What came of asking, where it is not kept as a page."""
    if isinstance(outcome, Fetched):
        return f"sha256:{hashlib.sha256(outcome.body).hexdigest()}"
    return UNKNOWN if isinstance(outcome, NotModified) else NOTHING
