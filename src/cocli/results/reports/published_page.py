"""The page from which people open what was published: figures in a line, the report, the files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cocli.results.reports.templating import rendered

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class FileLink:
    """A file that a page leads to."""

    name: str
    link: str
    """To this very file."""
    bytes: int
    purpose: str = ""
    rows: int | None = None
    stable: str | None = None
    """To whatever file of this name is the newest."""


@dataclass(frozen=True, slots=True)
class PublishedPage:
    """What the page says."""

    campaign: str
    at: datetime
    version: str
    prospects: int
    with_email: int
    report: str
    """The link to the report."""
    files: Sequence[FileLink]
    until: datetime | None = None
    """When its links stop working."""
    credits: Sequence[str] = field(default_factory=tuple)


def render_published(page: PublishedPage) -> str:
    return rendered(
        "published.html",
        css="published.css",
        campaign=page.campaign,
        at=page.at,
        version=page.version,
        prospects=page.prospects,
        with_email=page.with_email,
        report=page.report,
        files=page.files,
        until=page.until,
        credits=page.credits,
    )
