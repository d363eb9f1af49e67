"""What no node read stays in the records of an edition; what only a node read goes with its state."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cocli.documents import DocumentRepository, open_catalog
from cocli.models.campaign import ExcludeSection
from cocli.models.email import EmailEntry
from cocli.models.origin import Origin
from cocli.models.prospect import Prospect
from cocli.pipeline.editions.records import CampaignRecords, CampaignView, make_records
from cocli.pipeline.editions.states import EditionStates
from cocli.pipeline.exclusions import Exclusions
from cocli.store.memory import MemoryStore

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
DOCUMENT = "00000000-0000-3000-8000-000000000000"


def origin(source: str, *fields: str, document: str | None = DOCUMENT) -> Origin:
    return Origin(fields=fields, source=source, observed_at=NOON, document=document)


def prospect(number: int, *origins: Origin, **values: Any) -> Prospect:
    known = {"company_hash": f"{number:016x}", "slug": f"shop-{number}", "name": f"Shop {number}", "campaign": "demo"}
    return Prospect(**known | values, first_seen=NOON, updated_at=NOON, origins=origins)


def address(name: str, *origins: Origin, **values: Any) -> EmailEntry:
    known: dict[str, Any] = {
        "email": f"{name}@example.com",
        "domain": "example.com",
        "first_seen": NOON,
        "last_seen": NOON,
    }
    return EmailEntry(**known | values, origins=origins)


@pytest.fixture
def states(tmp_path: Path) -> EditionStates:
    catalog = open_catalog(str(tmp_path / "documents.sqlite3"), durable=False)
    return EditionStates(DocumentRepository(MemoryStore(), catalog, clock=lambda: NOON), "acct", "empty")


def test_imports_and_older_records_stay_and_what_nodes_read_goes(states: EditionStates) -> None:
    prospects = [
        prospect(1, origin("import", "name", "slug", "phone"), phone="+1 555 0101", tags=("hot",)),
        prospect(2, origin("google-maps", "name", "slug")),
        prospect(3, origin("overture", "city"), origin("import", "name", "slug"), city="Elsewhere"),
        prospect(4, origin("google-maps", "name", "slug", document=None)),
        prospect(5, origin("import", "name", "slug")),
    ]
    emails = [
        address("kept", origin("import", "method"), method="import"),
        address("checked", origin("website", "method"), origin("dns", "verification", document=None), method="mailto"),
    ]
    known = CampaignRecords({one.company_hash: one for one in prospects}, {one.email: one for one in emails})
    view = CampaignView("demo", Exclusions.of(ExcludeSection(names=("Shop 5",))), known, frozenset(), NOON)
    made = make_records(states, view)
    assert {one.name: one.city for one in made.prospects.values()} == {"Shop 1": None, "Shop 3": None, "Shop 4": None}
    first = made.prospects[prospects[0].company_hash]
    assert (first.phone, first.tags, first.origins) == ("+1 555 0101", ("hot",), prospects[0].origins)
    assert [one.email for one in made.emails.values()] == ["kept@example.com"]
    assert not made.domains
