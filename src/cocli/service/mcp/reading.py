"""The tools that read. Each is a use case of `app`, and answers what the dashboard shows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.indexes.lookup import differences
from cocli.app.web.companies import make_companies
from cocli.app.web.prospects.fields import BETWEEN, FIELDS, cells_of
from cocli.app.web.prospects.view import View
from cocli.app.web.view_export import export_view, view_rows
from cocli.app.web.why import make_why
from cocli.app.why.prospect import find_prospect
from cocli.errors import NotFound, UsageError
from cocli.formats import json_records
from cocli.index.versions import version

if TYPE_CHECKING:
    from cocli.app.web.site import DataSite
    from cocli.models.record import Record

Campaign = Annotated[str, Field(description="Name of the campaign, as `campaigns` lists it")]
Company = Annotated[str, Field(description="16 hex digits as `prospects` gives them, or a slug, domain or name")]
Values = Annotated[list[str] | None, Field(description="One of these; of tags all")]
_LISTS = frozenset({"emails", "categories", "tags", "sources"})
_SHARD_DIGITS = 3
_MOST_ROWS = 200
_MOST_BYTES = 400_000
TEXT_FORMATS = ("csv", "json", "jsonl", "geojson", "kml", "vcard", "hubspot")


@dataclass(frozen=True, slots=True)
class ReadingTools:
    """Nothing is changed by any of them."""

    site: DataSite

    def campaigns(self) -> dict[str, Any]:
        """Which campaigns there are, with the figures of their last reports and what is wrong."""
        return self._file("campaigns.json")

    def prospects(
        self,
        campaign: Campaign,
        q: Annotated[str, Field(description="Words that must all occur: name, town, domain, phone, e-mail …")] = "",
        city: Values = None,
        region: Values = None,
        category: Values = None,
        tag: Values = None,
        status: Values = None,
        source: Values = None,
        has: Annotated[list[str] | None, Field(description="Columns that must be filled, or `position`")] = None,
        lacks: Annotated[list[str] | None, Field(description="Columns that must be empty")] = None,
        min_rating: float | None = None,
        sort: Annotated[str, Field(description="best, name, city, rating, reviews or updated")] = "best",
        desc: bool = False,
        offset: Annotated[int, Field(ge=0)] = 0,
        limit: Annotated[int, Field(ge=1, le=_MOST_ROWS)] = 20,
    ) -> dict[str, Any]:
        """Businesses that a campaign found, by words and filters, page by page. Excluded ones are never among them."""
        facets = {"city": city, "region": region, "category": category, "tag": tag, "status": status, "source": source}
        view = _view(facets, q=q, has=has, lacks=lacks, min_rating=min_rating, sort=sort, desc=desc)
        rows = view_rows(self.site, campaign, view)
        shown = [
            _row(dict(zip(FIELDS, cells_of(row, list(FIELDS)), strict=True))) for row in rows[offset : offset + limit]
        ]
        return {"total": len(rows), "offset": offset, "prospects": shown}

    def company(self, campaign: Campaign, company: Company) -> dict[str, Any]:
        """All that is known of one business: facts with their sources, people, notes, meetings, timeline."""
        company_hash = self.hash_of(campaign, company)
        shard = make_companies(self.site, campaign, company_hash[:_SHARD_DIGITS])
        found = next((entry for entry in shard.companies if entry.company_hash == company_hash), None)
        if found is None:
            raise NotFound(key=f"company {company}")
        return found.model_dump(mode="json")

    def why(
        self,
        campaign: Campaign,
        company: Company,
        field: Annotated[str | None, Field(description="phone_e164, primary_email, …; all fields where none")] = None,
    ) -> dict[str, Any]:
        """Where the values of a business came from: the rule, every observation, and the pages behind them."""
        made = _plain(make_why(self.site, campaign, self.hash_of(campaign, company)))
        if field is None:
            return made
        known = [entry["field"] for entry in made["fields"]]
        if field not in known:
            raise UsageError(reason=f'Nothing is known of "{field}"', hint=f"One of: {', '.join(known)}")
        return made | {"fields": [entry for entry in made["fields"] if entry["field"] == field]}

    def coverage(
        self, campaign: Campaign, limit: Annotated[int, Field(ge=0, le=500, description="Tiles to list")] = 20
    ) -> dict[str, Any]:
        """How much of the territory was read, how many businesses are probably missing, which tiles are not read."""
        made = self._file(f"{campaign}/coverage.geojson")
        tiles = [feature["properties"] for feature in made.pop("features")]
        made.pop("towns", None)
        open_tiles = [tile for tile in tiles if tile["state"] != "read"]
        return made | {"tiles": len(tiles), "tiles_not_read": len(open_tiles), "first_not_read": open_tiles[:limit]}

    def status(self, campaign: Campaign) -> dict[str, Any]:
        """Queues, machines and problems of a campaign, and the figures of its last report."""
        dashboard = self._file(f"{campaign}/dashboard.json")
        queues = self._file(f"{campaign}/queues.json")
        for queue in queues["queues"]:
            queue.pop("tasks", None)
        return {"dashboard": dashboard, "queues": queues, "machines": self._file(f"{campaign}/machines.json")}

    def changes(
        self,
        campaign: Campaign,
        since: Annotated[int | None, Field(ge=1, description="A version; the one before the last where none")] = None,
        limit: Annotated[int, Field(ge=1, le=_MOST_ROWS)] = 50,
    ) -> dict[str, Any]:
        """Businesses that came, went or changed since a version of the list, with old and new values."""
        indexes = campaign_indexes(self.site.workspace, campaign)
        ref = indexes.ref("prospects")
        newest = version(indexes.open(ref)).version
        if not newest:
            return {"before": 0, "now": 0, "changes": [], "more": False}
        begin = max(1, newest - 1) if since is None else min(since, newest)
        old, new, found = differences(indexes, ref, begin, None)
        listed = list(islice(found, limit + 1))
        told = [
            {
                "company_hash": change.key,
                "kind": change.kind,
                "name": getattr(change.new or change.old, "name", None),
                "fields": {name: [str(value) for value in pair] for name, pair in change.fields.items()},
            }
            for change in listed[:limit]
        ]
        return {"before": old, "now": new, "changes": told, "more": len(listed) > limit}

    def export(
        self,
        campaign: Campaign,
        format: Annotated[str, Field(description=f"One of {', '.join(TEXT_FORMATS)}")] = "csv",  # noqa: A002
        q: str = "",
        city: Values = None,
        category: Values = None,
        tag: Values = None,
        status: Values = None,
        has: list[str] | None = None,
    ) -> dict[str, Any]:
        """The businesses of a view as the text of a file, and the command line that writes it to a disk."""
        if format not in TEXT_FORMATS:
            raise UsageError(reason=f'"{format}" is no text', hint=f"One of: {', '.join(TEXT_FORMATS)}")
        view = _view({"city": city, "category": category, "tag": tag, "status": status}, q=q, has=has)
        made = export_view(self.site, campaign, view, format)
        if len(made.data) > _MOST_BYTES:
            reason = f"The file has {len(made.data):,} bytes, more than fits into an answer ({_MOST_BYTES:,})"
            raise UsageError(reason=reason, hint=f"Narrow the view down, or write it with: {made.command}")
        text = made.data.decode("utf-8-sig")
        return {"name": made.name, "rows": made.rows, "text": text, "command": made.command}

    # --- shared

    def hash_of(self, campaign: str, company: str) -> str:
        indexes = campaign_indexes(self.site.workspace, campaign)
        return str(find_prospect(indexes, company).prospect.company_hash)

    def _file(self, path: str) -> dict[str, Any]:
        made: dict[str, Any] = json.loads(self.site.file(path).data)
        return made


def _view(facets: dict[str, list[str] | None], **words: Any) -> View:
    found: dict[str, list[str]] = {name: values for name, values in facets.items() if values}
    for name, value in words.items():
        if isinstance(value, list):
            found[name] = value
        elif value not in (None, "", False):
            found[name] = ["1" if value is True else str(value)]
    return View.of(found)


def _row(cells: dict[str, str]) -> dict[str, Any]:
    """What is known of a row: empty cells are left out."""
    return {name: cell.split(BETWEEN) if name in _LISTS else cell for name, cell in cells.items() if cell}


def _plain(record: Record) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(json_records.render(record))
    return made
