"""What happens to each field when two records of one key meet: one table per model, and the table of the sources.

docs/merging.md shows these tables; a test holds the two together. The code that applies them is `engine.py`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from cocli.models.completion import Completion
from cocli.models.domain import Domain
from cocli.models.email import EmailEntry
from cocli.models.freshness.change import BusinessChange
from cocli.models.freshness.roll import TileRoll
from cocli.models.freshness.standing import BusinessStanding
from cocli.models.harvest import HarvestedTile
from cocli.models.prospect import Prospect
from cocli.models.witness import TargetTile, Witness
from cocli.pipeline.sources.imports import IMPORT
from cocli.pipeline.sources.registry import sources

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cocli.models.record import Record


class MergeRule(StrEnum):
    """How a field is merged."""

    SAME = "same"
    BEST = "best"
    PAIRED = "paired"
    ENTRIES = "entries"
    OLDEST = "oldest"
    UNION = "union"
    EARLIEST = "earliest"
    LATEST = "latest"
    EITHER = "either"
    SMALLEST = "smallest"
    ORIGINS = "origins"
    WHOLE = "whole"


MEANING: Mapping[MergeRule, str] = {
    MergeRule.SAME: "must be equal; records that differ in it are refused",
    MergeRule.BEST: "a value before none; then the better grade, the better source, the newer observation",
    MergeRule.PAIRED: "as `best`, the fields of the pair together",
    MergeRule.ENTRIES: "as `best`, for every entry of the map by itself",
    MergeRule.OLDEST: "a value before none; then the older observation: a label that others may have noted stays",
    MergeRule.UNION: "all of both, sorted",
    MergeRule.EARLIEST: "the earlier time",
    MergeRule.LATEST: "the later time",
    MergeRule.EITHER: "true if either is",
    MergeRule.SMALLEST: "a value before none; then the first in the order of characters",
    MergeRule.ORIGINS: "follows the values: each keeps the observation it came from",
    MergeRule.WHOLE: "the record is one statement, and one of the two stays as a whole",
}

RULES: Mapping[type[Record], Mapping[str, MergeRule]] = {
    Prospect: {
        "company_hash": MergeRule.SAME,
        "place_id": MergeRule.BEST,
        "slug": MergeRule.OLDEST,
        "name": MergeRule.BEST,
        "phone": MergeRule.BEST,
        "phone_e164": MergeRule.BEST,
        "website": MergeRule.BEST,
        "domain": MergeRule.BEST,
        "street": MergeRule.BEST,
        "city": MergeRule.BEST,
        "region": MergeRule.BEST,
        "postcode": MergeRule.BEST,
        "country": MergeRule.BEST,
        "lat": MergeRule.PAIRED,
        "lon": MergeRule.PAIRED,
        "categories": MergeRule.BEST,
        "rating": MergeRule.BEST,
        "review_count": MergeRule.BEST,
        "hours": MergeRule.BEST,
        "business_status": MergeRule.BEST,
        "socials": MergeRule.ENTRIES,
        "primary_email": MergeRule.BEST,
        "all_emails": MergeRule.UNION,
        "tags": MergeRule.UNION,
        "campaign": MergeRule.SAME,
        "phrases": MergeRule.UNION,
        "tiles": MergeRule.UNION,
        "first_seen": MergeRule.EARLIEST,
        "updated_at": MergeRule.LATEST,
        "sources": MergeRule.UNION,
        "source_ids": MergeRule.UNION,
        "merged_into": MergeRule.BEST,
        "origins": MergeRule.ORIGINS,
        "people": MergeRule.BEST,
        "split_from": MergeRule.UNION,
    },
    EmailEntry: {
        "email": MergeRule.SAME,
        "domain": MergeRule.BEST,
        "company_hash": MergeRule.BEST,
        "source_page": MergeRule.BEST,
        "method": MergeRule.BEST,
        "label": MergeRule.BEST,
        "name": MergeRule.BEST,
        "first_seen": MergeRule.EARLIEST,
        "last_seen": MergeRule.LATEST,
        "verification": MergeRule.BEST,
        "tags": MergeRule.UNION,
        "origins": MergeRule.ORIGINS,
        "confidence": MergeRule.BEST,
    },
    Domain: {
        "domain": MergeRule.SAME,
        "company_hash": MergeRule.BEST,
        "status": MergeRule.BEST,
        "mx": MergeRule.BEST,
        "ip": MergeRule.BEST,
        "is_email_provider": MergeRule.EITHER,
        "last_crawled": MergeRule.LATEST,
        "scraper_version": MergeRule.BEST,
        "next_check": MergeRule.BEST,
        "origins": MergeRule.ORIGINS,
    },
    TargetTile: {
        "tile": MergeRule.SAME,
        "phrase": MergeRule.SAME,
        "campaign": MergeRule.SAME,
        "location": MergeRule.SMALLEST,
        "planned_at": MergeRule.EARLIEST,
    },
    Witness: {
        "tile": MergeRule.SAME,
        "phrase": MergeRule.SAME,
        "source": MergeRule.SAME,
        "read_at": MergeRule.WHOLE,
        "worker": MergeRule.WHOLE,
        "campaign": MergeRule.WHOLE,
        "count": MergeRule.WHOLE,
        "outcome": MergeRule.WHOLE,
        "document": MergeRule.WHOLE,
        "earlier": MergeRule.WHOLE,
        "again": MergeRule.WHOLE,
        "digest": MergeRule.WHOLE,
        "release": MergeRule.WHOLE,
        "as_of": MergeRule.WHOLE,
        "meaning": MergeRule.WHOLE,
        "south": MergeRule.WHOLE,
        "west": MergeRule.WHOLE,
        "north": MergeRule.WHOLE,
        "east": MergeRule.WHOLE,
    },
    HarvestedTile: {
        "tile": MergeRule.SAME,
        "phrase": MergeRule.SAME,
        "source": MergeRule.SAME,
        "campaign": MergeRule.SAME,
        "read_at": MergeRule.WHOLE,
        "outcome": MergeRule.WHOLE,
        "reason": MergeRule.WHOLE,
        "document": MergeRule.WHOLE,
        "release": MergeRule.WHOLE,
        "as_of": MergeRule.WHOLE,
        "meaning": MergeRule.WHOLE,
        "parser": MergeRule.WHOLE,
        "count": MergeRule.WHOLE,
        "left_out": MergeRule.WHOLE,
        "exclusions": MergeRule.WHOLE,
        "marked_at": MergeRule.WHOLE,
    },
    TileRoll: {
        "tile": MergeRule.SAME,
        "phrase": MergeRule.SAME,
        "source": MergeRule.SAME,
        "campaign": MergeRule.SAME,
        "begun": MergeRule.WHOLE,
        "read_at": MergeRule.WHOLE,
        "release": MergeRule.WHOLE,
        "as_of": MergeRule.WHOLE,
        "meaning": MergeRule.WHOLE,
        "document": MergeRule.WHOLE,
        "readings": MergeRule.WHOLE,
        "changed": MergeRule.WHOLE,
        "quiet": MergeRule.WHOLE,
        "places": MergeRule.WHOLE,
    },
    BusinessStanding: {
        "company_hash": MergeRule.SAME,
        "campaign": MergeRule.SAME,
        "taken_at": MergeRule.WHOLE,
        "state": MergeRule.WHOLE,
        "since": MergeRule.WHOLE,
        "reason": MergeRule.WHOLE,
        "last_seen": MergeRule.WHOLE,
        "missed": MergeRule.WHOLE,
        "document": MergeRule.WHOLE,
        "name": MergeRule.WHOLE,
        "street": MergeRule.WHOLE,
        "postcode": MergeRule.WHOLE,
        "city": MergeRule.WHOLE,
        "lat": MergeRule.WHOLE,
        "lon": MergeRule.WHOLE,
        "phone": MergeRule.WHOLE,
        "email": MergeRule.WHOLE,
        "website": MergeRule.WHOLE,
        "documents": MergeRule.WHOLE,
        "observed": MergeRule.WHOLE,
        "sources": MergeRule.WHOLE,
        "changed_at": MergeRule.WHOLE,
        "changes": MergeRule.WHOLE,
    },
    BusinessChange: {
        "change_id": MergeRule.SAME,
        "campaign": MergeRule.SAME,
        "company_hash": MergeRule.WHOLE,
        "name": MergeRule.WHOLE,
        "kind": MergeRule.WHOLE,
        "before": MergeRule.WHOLE,
        "after": MergeRule.WHOLE,
        "before_at": MergeRule.WHOLE,
        "after_at": MergeRule.WHOLE,
        "before_document": MergeRule.WHOLE,
        "after_document": MergeRule.WHOLE,
        "source": MergeRule.WHOLE,
        "reason": MergeRule.WHOLE,
        "found_at": MergeRule.WHOLE,
    },
    Completion: {
        "task_id": MergeRule.SAME,
        "queue": MergeRule.SAME,
        "campaign": MergeRule.SAME,
        "verdict": MergeRule.WHOLE,
        "token": MergeRule.WHOLE,
        "attempt": MergeRule.WHOLE,
        "worker": MergeRule.WHOLE,
        "claimed_at": MergeRule.WHOLE,
        "finished_at": MergeRule.WHOLE,
        "nonce": MergeRule.WHOLE,
    },
}

PAIRS: Mapping[type[Record], tuple[tuple[str, str], ...]] = {Prospect: (("lat", "lon"),)}
"""Half of a position is none: the two are chosen together."""

GRADES: Mapping[type[Record], Mapping[str, Mapping[object, int]]] = {
    EmailEntry: {
        "verification": {"unknown": 0, "syntax": 1, "mx": 2, "risky": 3, "deliverable": 3, "undeliverable": 3},
    },
    Domain: {"status": {"blocked": 0}},
}
"""How much a value says, whoever said it. A value that is not listed has grade 1."""

PERSON, WEBSITE, MATCHING, UNKNOWN = "person", "website", "matching", "unknown"
"""Who says something of a business without being a source of businesses."""
DOMAIN_ITSELF = "domain"
"""Nobody said it: it is the domain, until somebody says better."""


def _ranks() -> dict[str, int]:
    """The sources' own ranks, and those of the other observers; the best first, then in the order of the alphabet."""
    ranks = {PERSON: 90, WEBSITE: 80, MATCHING: 20, UNKNOWN: 10, DOMAIN_ITSELF: 5}
    for source in sources():
        ranks[source.name] = source.rank.page
        if source.rank.row is not None:
            ranks[source.row_name] = source.rank.row
    return dict(sorted(ranks.items(), key=lambda ranked: (-ranked[1], ranked[0])))


SOURCES: Mapping[str, int] = _ranks()
"""How much a source counts, greater is better. A source that is not listed counts as much as `import`."""

_BELOW_IMPORT = 15

EXCEPTIONS: Mapping[type[Record], Mapping[str, Mapping[str, int]]] = {
    Prospect: {
        # A page's title says "Home | Welcome": it once replaced the names of a whole campaign.
        "name": {WEBSITE: _BELOW_IMPORT},
        "categories": {WEBSITE: _BELOW_IMPORT},
        # An address on a page may be that of the head office, the one on the map is where the pin is. Hours may be
        # those of another branch or of the last season.
        **{
            field: {WEBSITE: _BELOW_IMPORT}
            for field in ("street", "city", "region", "postcode", "country", "lat", "hours", "business_status")
        },
        # Which record goes on is decided by the newest look at all of them, not by who looked.
        "merged_into": dict.fromkeys(SOURCES, SOURCES[IMPORT]),
    },
    # Whose an address or a domain is: the same.
    EmailEntry: {"company_hash": dict.fromkeys(SOURCES, SOURCES[IMPORT])},
    Domain: {"company_hash": dict.fromkeys(SOURCES, SOURCES[IMPORT])},
}
"""Where a source counts differently for one field."""
