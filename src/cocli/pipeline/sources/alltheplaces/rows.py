"""AllThePlaces: what the websites of chains say of their branches, as GeoJSON with the tags of OpenStreetMap."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cocli.pipeline.sources.open_places.kind import Draft, Facts, FileSighting, OpenFileKind, checked_facts, point_of
from cocli.pipeline.sources.open_places.tags import tag_values, terms_of
from cocli.pipeline.sources.open_places.values import JsonRow, clean, mapping, text

if TYPE_CHECKING:
    from datetime import datetime

    from cocli.models.place import Place

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class AllThePlacesRows(OpenFileKind):
    def recognises(self, row: JsonRow) -> bool:
        return "@spider" in mapping(row.get("properties"))

    def facts(self, row: JsonRow) -> Facts:
        tags = mapping(row.get("properties"))
        name = tags.get("name") if clean(tags.get("name")) else tags.get("brand")
        return checked_facts(row, _identity(row, tags), name, point_of(row.get("geometry")), terms_of(tags))

    def place(self, row: JsonRow, sighting: FileSighting) -> Place:
        tags = mapping(row.get("properties"))
        values, attributes = tag_values(tags, sighting.country)
        if _has_ended(tags, sighting.observed_at):
            values["business_status"] = "permanently_closed"
        attributes["spider"] = text(tags.get("@spider"))
        attributes["source_uri"] = text(tags.get("@source_uri"))
        return Draft(self, self.facts(row), sighting, attributes).place(values)


def _identity(row: JsonRow, tags: JsonRow) -> str | None:
    """The spider and its reference for a branch: a reference alone means different branches to two chains."""
    spider, reference = text(tags.get("@spider")), tags.get("ref")
    if spider and isinstance(reference, (str, int)) and reference != "":
        return f"{spider}/{reference}"
    return text(row.get("id"))


def _has_ended(tags: JsonRow, when: datetime) -> bool:
    ended = text(tags.get("end_date"))
    return bool(ended and _DATE.fullmatch(ended) and ended <= when.date().isoformat())
