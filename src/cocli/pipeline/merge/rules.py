"""What happens to each field when two records of one key meet: one table per model, and the table of the sources.

docs/merging.md shows these tables; a test holds the two together. The code that applies them is `engine.py`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from cocli.models.completion import Completion
from cocli.models.domain import Domain
from cocli.models.email import EmailEntry
from cocli.models.prospect import Prospect
from cocli.models.witness import TargetTile, Witness
from cocli.pipeline.sources.imports import IMPORT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cocli.models.record import Record


class Rule(StrEnum):
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


MEANING: Mapping[Rule, str] = {
    Rule.SAME: "must be equal; records that differ in it are refused",
    Rule.BEST: "a value before none; then the better grade, the better source, the newer observation",
    Rule.PAIRED: "as `best`, the fields of the pair together",
    Rule.ENTRIES: "as `best`, for every entry of the map by itself",
    Rule.OLDEST: "a value before none; then the older observation: a label that others may have noted stays",
    Rule.UNION: "all of both, sorted",
    Rule.EARLIEST: "the earlier time",
    Rule.LATEST: "the later time",
    Rule.EITHER: "true if either is",
    Rule.SMALLEST: "a value before none; then the first in the order of characters",
    Rule.ORIGINS: "follows the values: each keeps the observation it came from",
    Rule.WHOLE: "the record is one statement, and one of the two stays as a whole",
}

RULES: Mapping[type[Record], Mapping[str, Rule]] = {
    Prospect: {
        "company_hash": Rule.SAME,
        "place_id": Rule.BEST,
        "slug": Rule.OLDEST,
        "name": Rule.BEST,
        "phone": Rule.BEST,
        "phone_e164": Rule.BEST,
        "website": Rule.BEST,
        "domain": Rule.BEST,
        "street": Rule.BEST,
        "city": Rule.BEST,
        "region": Rule.BEST,
        "postcode": Rule.BEST,
        "country": Rule.BEST,
        "lat": Rule.PAIRED,
        "lon": Rule.PAIRED,
        "categories": Rule.BEST,
        "rating": Rule.BEST,
        "review_count": Rule.BEST,
        "hours": Rule.BEST,
        "business_status": Rule.BEST,
        "socials": Rule.ENTRIES,
        "primary_email": Rule.BEST,
        "all_emails": Rule.UNION,
        "tags": Rule.UNION,
        "campaign": Rule.SAME,
        "phrases": Rule.UNION,
        "tiles": Rule.UNION,
        "first_seen": Rule.EARLIEST,
        "updated_at": Rule.LATEST,
        "sources": Rule.UNION,
        "source_ids": Rule.UNION,
        "merged_into": Rule.BEST,
        "origins": Rule.ORIGINS,
    },
    EmailEntry: {
        "email": Rule.SAME,
        "domain": Rule.BEST,
        "company_hash": Rule.BEST,
        "source_page": Rule.BEST,
        "method": Rule.BEST,
        "label": Rule.BEST,
        "name": Rule.BEST,
        "first_seen": Rule.EARLIEST,
        "last_seen": Rule.LATEST,
        "verification": Rule.BEST,
        "tags": Rule.UNION,
        "origins": Rule.ORIGINS,
    },
    Domain: {
        "domain": Rule.SAME,
        "company_hash": Rule.BEST,
        "status": Rule.BEST,
        "mx": Rule.BEST,
        "ip": Rule.BEST,
        "is_email_provider": Rule.EITHER,
        "last_crawled": Rule.LATEST,
        "scraper_version": Rule.BEST,
        "next_check": Rule.BEST,
        "origins": Rule.ORIGINS,
    },
    TargetTile: {
        "tile": Rule.SAME,
        "phrase": Rule.SAME,
        "campaign": Rule.SAME,
        "location": Rule.SMALLEST,
        "planned_at": Rule.EARLIEST,
    },
    Witness: {
        "tile": Rule.SAME,
        "phrase": Rule.SAME,
        "source": Rule.SAME,
        "read_at": Rule.WHOLE,
        "worker": Rule.WHOLE,
        "campaign": Rule.WHOLE,
        "count": Rule.WHOLE,
        "outcome": Rule.WHOLE,
        "document": Rule.WHOLE,
        "earlier": Rule.WHOLE,
        "again": Rule.WHOLE,
    },
    Completion: {
        "task_id": Rule.SAME,
        "queue": Rule.SAME,
        "campaign": Rule.SAME,
        "verdict": Rule.WHOLE,
        "token": Rule.WHOLE,
        "attempt": Rule.WHOLE,
        "worker": Rule.WHOLE,
        "claimed_at": Rule.WHOLE,
        "finished_at": Rule.WHOLE,
        "nonce": Rule.WHOLE,
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
GOOGLE_MAPS, GOOGLE_MAPS_LIST = "google-maps", "google-maps-list"

SOURCES: Mapping[str, int] = {
    PERSON: 90,
    WEBSITE: 80,
    GOOGLE_MAPS: 70,
    GOOGLE_MAPS_LIST: 60,
    "alltheplaces": 40,
    "foursquare": 40,
    "openstreetmap": 40,
    "overture": 40,
    IMPORT: 20,
    MATCHING: 20,
    UNKNOWN: 10,
}
"""How much a source counts, greater is better. A source that is not listed counts as much as `import`."""

_BELOW_IMPORT = 15

EXCEPTIONS: Mapping[type[Record], Mapping[str, Mapping[str, int]]] = {
    Prospect: {
        # A page's title says "Home | Welcome": it once replaced the names of a whole campaign.
        "name": {WEBSITE: _BELOW_IMPORT},
        "categories": {WEBSITE: _BELOW_IMPORT},
        # An address on a page may be that of the head office, the one on the map is where the pin is.
        **{
            field: {WEBSITE: _BELOW_IMPORT}
            for field in ("street", "city", "region", "postcode", "country", "lat", "business_status")
        },
        # Which record goes on is decided by the newest look at all of them, not by who looked.
        "merged_into": dict.fromkeys(SOURCES, SOURCES[IMPORT]),
    },
    # Whose an address or a domain is: the same.
    EmailEntry: {"company_hash": dict.fromkeys(SOURCES, SOURCES[IMPORT])},
    Domain: {"company_hash": dict.fromkeys(SOURCES, SOURCES[IMPORT])},
}
"""Where a source counts differently for one field."""
