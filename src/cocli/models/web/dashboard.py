"""The first page of a campaign: what is wrong, how far it is, and what can be taken along."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from cocli.models.campaign import CampaignName
from cocli.models.record import Count, Label, Many, Record, RecordPart, Text, UtcDatetime
from cocli.models.web.site import WebProblem

Seconds = Annotated[float, Field(ge=0)]


class WebDownload(RecordPart):
    """A file that people take along."""

    name: Label
    link: Text
    purpose: Text
    rows: Count | None = None
    """Null where it is made when somebody asks for it."""
    bytes: Count | None = None
    at: UtcDatetime | None = None


class WebQueueLine(RecordPart):
    """How a queue moves: what waits against what was done lately."""

    queue: Label
    waiting: Count
    leased: Count
    done_recently: Count | None = None
    recent_seconds: Seconds | None = None
    problem: Text | None = None


class WebDashboard(Record):
    """`data/{campaign}/dashboard.json`."""

    schema_id = "cocli.web-dashboard/1"

    campaign: CampaignName
    at: UtcDatetime
    timezone: Label
    problems: Many[WebProblem]
    report: dict[str, Any] | None = None
    """`cocli.report/1`, as it was kept last."""
    queues: Many[WebQueueLine] = ()
    downloads: Many[WebDownload] = ()
    report_link: Text
    map_link: Text | None = None
    refresh_command: Text
