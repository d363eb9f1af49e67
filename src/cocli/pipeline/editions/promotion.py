"""What a promotion leaves in the campaign's exports: what is under way, and which edition was put away."""

from __future__ import annotations

from cocli.models.campaign import CampaignName  # noqa: TC001 - pydantic reads the annotations
from cocli.models.document import AddressPart  # noqa: TC001 - pydantic reads the annotations
from cocli.models.record import Record, Sha256, UtcDatetime


class Promotion(Record):
    """`exports/editions/promotion.json`: the last promotion of a campaign, or the one that is under way."""

    schema_id = "cocli.promotion/1"
    key = ("campaign",)

    campaign: CampaignName
    edition: AddressPart
    former: AddressPart
    """The edition that the campaign lived by before."""
    started_at: UtcDatetime
    kept: bool = False
    """Whether the former records are put away: from then on the indexes may have been changed."""
    finished_at: UtcDatetime | None = None


class KeptEdition(Record):
    """`exports/editions/{edition}.json`: an edition that was left, and how things stood then."""

    schema_id = "cocli.kept-edition/1"
    key = ("campaign", "edition")

    campaign: CampaignName
    edition: AddressPart
    fingerprint: Sha256
    """Of the edition's states, and of what is excluded: while it holds, the records that were kept are right."""
    kept_at: UtcDatetime
