"""What the requests of the dashboard say: one model each. The documentation is made from them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Short = Annotated[str, StringConstraints(max_length=1_000)]
Line = Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
Long = Annotated[str, StringConstraints(max_length=200_000)]
CompanyHash = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16}$")]
CampaignLabel = Annotated[str, StringConstraints(pattern=r"^[a-z0-9](?:[a-z0-9-]{0,50}[a-z0-9])?$")]


class RequestBody(BaseModel):
    """Unknown keys are refused: a slip of the pen must not look like success."""

    model_config = ConfigDict(extra="forbid")


class CommandWish(RequestBody):
    text: Line
    host: Short | None = None


class Basket(RequestBody):
    """Commands for the machines."""

    commands: list[CommandWish] = Field(min_length=1, max_length=100)


class CompanyPatch(RequestBody):
    """What is to be different about a company."""

    set: dict[Short, Long | None] = Field(default_factory=dict, max_length=50)
    body: Long | None = None
    add_tags: list[Line] = Field(default_factory=list, max_length=100)
    remove_tags: list[Line] = Field(default_factory=list, max_length=100)


class NewNote(RequestBody):
    text: Long = Field(min_length=1)
    title: Short | None = None
    tags: list[Line] = Field(default_factory=list, max_length=100)


class NoteText(RequestBody):
    text: Long = Field(min_length=1)


class ExcludeWish(RequestBody):
    by: Literal["place-id", "domain", "name"] | None = None
    undo: bool = False


class TagWish(RequestBody):
    """Tags for a selection."""

    company_hashes: list[CompanyHash] = Field(min_length=1, max_length=1000)
    add: list[Line] = Field(default_factory=list, max_length=100)
    remove: list[Line] = Field(default_factory=list, max_length=100)


class SplitWish(RequestBody):
    """Which part of a company is another business."""

    part: CompanyHash


class TileWish(RequestBody):
    tiles: list[Line] = Field(min_length=1, max_length=10_000)
    again: bool = False
    """Also those that were read."""


class RecoverWish(RequestBody):
    category: Short | None = None
    task_ids: list[Line] | None = Field(default=None, max_length=10_000)


class SidelineWish(RequestBody):
    task_ids: list[Line] = Field(min_length=1, max_length=10_000)
    reason: Short = "set aside in the dashboard"


class PromoteWish(RequestBody):
    edition: Line


class ExportWish(RequestBody):
    """A selection as a file."""

    format: Short = "csv"
    company_hashes: list[CompanyHash] | None = Field(default=None, max_length=200_000)
    query: Short = ""
    """The view, as it stands in the address of the page."""


class TokenWish(RequestBody):
    name: Line
    role: Literal["viewer", "editor", "admin"] = "viewer"
    campaigns: list[CampaignLabel] | None = Field(default=None, max_length=1000)
    """Null: all of them."""
    days: int = Field(default=90, ge=1, le=3650)


class WebhookWish(RequestBody):
    url: Annotated[str, StringConstraints(pattern=r"^https?://[^\s]+$", max_length=2_000)]
    campaign: CampaignLabel
    events: list[Literal["goal-met", "stall", "run-ended"]] = Field(min_length=1)


class RunWish(RequestBody):
    """A campaign from the browser: from an uploaded list, or from phrases and an area."""

    campaign: CampaignLabel
    upload: Short | None = None
    area: dict[str, Any] | None = None
    """GeoJSON: polygons."""
    queries: list[Line] = Field(default_factory=list, max_length=100)
    goal: int | None = Field(default=None, ge=1, le=10_000_000)
    sources: list[Short] | None = Field(default=None, max_length=10)
