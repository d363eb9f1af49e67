"""What another edition would change in a campaign: in places and in prospects. Nothing is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cocli.app.documents.editions import CampaignEditions
from cocli.app.indexes.indexes import campaign_indexes
from cocli.pipeline.editions.differences import RecordDifferences, compare_places
from cocli.pipeline.editions.records import make_records

if TYPE_CHECKING:
    from cocli.app.documents.documents import Documents
    from cocli.app.workspace import Workspace


@dataclass(frozen=True, slots=True)
class EditionDifferences:
    places: RecordDifferences
    prospects: RecordDifferences | None
    """None without a campaign: whose prospects would it be?"""
    states_read: int
    missing: dict[str, int]
    """Of the left and of the right edition: documents of which it has no state."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "places": self.places.as_dict(),
            "prospects": None if self.prospects is None else self.prospects.as_dict(),
            "states_read": self.states_read,
            "missing": self.missing,
        }


def compare_editions(
    workspace: Workspace, documents: Documents, left: str, right: str, *, examples: int
) -> EditionDifferences:
    """The places of all captures; with a campaign also the prospects that each edition makes of them."""
    name = documents.campaign.name if documents.campaign else None
    editions = CampaignEditions(documents, campaign_indexes(workspace, name))
    sides = editions.states(left), editions.states(right)
    places = compare_places(*sides, examples)
    prospects = None
    if name is not None:
        view = editions.view(editions.known(), documents.store.now())
        before, after = (make_records(side, view).businesses() for side in sides)
        prospects = RecordDifferences(most=examples)
        prospects.add(before, after)
    missing = {name: len(side.missing()) for name, side in zip(("left", "right"), sides, strict=True)}
    return EditionDifferences(places, prospects, sum(side.read for side in sides), missing)
