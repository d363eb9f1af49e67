"""Foursquare OS Places: its Parquet columns, and the same as JSON lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.pipeline.sources.open_places.kind import Contacts, Draft, Facts, FileSighting, OpenFileKind, checked_facts
from cocli.pipeline.sources.open_places.parquet_rows import ParquetColumns, lower_terms
from cocli.pipeline.sources.open_places.values import JsonRow, country_code, joined_address, text, texts, web_addresses

if TYPE_CHECKING:
    from cocli.models.place import Place


class FoursquareRows(OpenFileKind):
    parquet = ParquetColumns(
        needed=("fsq_place_id", "name", "latitude", "longitude"),
        used=("fsq_place_id", "name", "latitude", "longitude", "fsq_category_labels", "fsq_category_ids"),
        identity="f_fsq_place_id->>'$'",
        name="f_name->>'$'",
        terms=lower_terms("list_concat(f_fsq_category_labels->>'$[*]', f_fsq_category_ids->>'$[*]')"),
        lat="TRY_CAST(f_latitude->>'$' AS DOUBLE)",
        lon="TRY_CAST(f_longitude->>'$' AS DOUBLE)",
    )

    def recognises(self, row: JsonRow) -> bool:
        return "fsq_place_id" in row and "latitude" in row and "longitude" in row

    def facts(self, row: JsonRow) -> Facts:
        terms = [*texts(row.get("fsq_category_labels")), *texts(row.get("fsq_category_ids"))]
        point = row.get("latitude"), row.get("longitude")
        return checked_facts(row, row.get("fsq_place_id"), row.get("name"), point, terms)

    def place(self, row: JsonRow, sighting: FileSighting) -> Place:
        parts = {
            "street": text(row.get("address")),
            "city": text(row.get("locality")) or text(row.get("post_town")),
            "region": text(row.get("region")) or text(row.get("admin_region")),
            "postcode": text(row.get("postcode")),
            "country": country_code(row.get("country")),
        }
        contacts = Contacts(
            phones=texts(row.get("tel")),
            websites=web_addresses(texts(row.get("website"))),
            emails=row.get("email"),
            socials=web_addresses(_profiles(row)),
            country=parts["country"] or sighting.country,
        )
        attributes: dict[str, str | None] = {
            **contacts.attributes(),
            "updated": text(row.get("date_refreshed")),
            "closed": text(row.get("date_closed")),
            "flags": "; ".join(texts(row.get("unresolved_flags"))),
        }
        return Draft(self, self.facts(row), sighting, attributes).place(
            {
                "category_ids": texts(row.get("fsq_category_ids")),
                "category_labels": texts(row.get("fsq_category_labels")),
                "business_status": "permanently_closed" if text(row.get("date_closed")) else None,
                "address": joined_address(parts),
                **contacts.values(),
                **parts,
            }
        )


def _profiles(row: JsonRow) -> list[str]:
    forms = {"facebook_id": "https://www.facebook.com/{}", "instagram": "https://www.instagram.com/{}"}
    forms["twitter"] = "https://twitter.com/{}"
    found = []
    for column, form in forms.items():
        value = row.get(column)
        name = str(value) if isinstance(value, int) else (text(value) or "")
        if name and " " not in name:
            found.append(form.format(name.removeprefix("@")) if "/" not in name else name)
    return found
