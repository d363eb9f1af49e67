"""Overture places: the GeoParquet columns, old and new, and the GeoJSON that `overturemaps download` writes.

Old: `categories{primary, alternate}` (before that `main`) and `names{common: [{value, language}]}`. New:
`basic_category`, `taxonomy{primary, hierarchy, alternates}`, `operating_status`, `names{primary, common{language}}`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cocli.pipeline.sources.open_places.kind import (
    Contacts,
    Draft,
    Facts,
    FileSighting,
    OpenFileKind,
    checked_facts,
    point_of,
)
from cocli.pipeline.sources.open_places.parquet_rows import ParquetColumns, lower_terms, point_on
from cocli.pipeline.sources.open_places.values import (
    JsonRow,
    clean,
    country_code,
    joined_address,
    mapping,
    number,
    text,
    texts,
    web_addresses,
)

if TYPE_CHECKING:
    from cocli.models.place import Place
    from cocli.pipeline.sources.licence import Licence

_STATUS = {
    "open": "operational",
    "temporarily_closed": "temporarily_closed",
    "permanently_closed": "permanently_closed",
}
_CDLA = "CDLA-Permissive-2.0"
LICENCES = {
    "overture": _CDLA,
    "meta": _CDLA,
    "microsoft": _CDLA,
    "msft": _CDLA,
    "dac": _CDLA,
    "krick": _CDLA,
    "pinmeto": _CDLA,
    "renderseo": _CDLA,
    "foursquare": "Apache-2.0",
    "alltheplaces": "CC0-1.0",
}
"""Dataset → licence, of rows that do not say it themselves (docs.overturemaps.org/attribution)."""


class OvertureRows(OpenFileKind):
    parquet = ParquetColumns(
        needed=("id", "names", "geometry"),
        structs=("names",),
        used=("id", "names", "categories", "taxonomy", "basic_category", "geometry"),
        identity="f_id->>'$'",
        name="coalesce(nullif(trim(f_names->>'$.primary'), ''), f_names->>'$.common[0].value')",
        terms=lower_terms(
            "list_concat([f_taxonomy->>'$.primary', f_categories->>'$.primary', f_categories->>'$.main',"
            " f_basic_category->>'$', array_to_string(f_taxonomy->>'$.hierarchy[*]', '/')],"
            " f_taxonomy->>'$.alternates[*]', f_categories->>'$.alternate[*]')"
        ),
        lat=point_on(1),
        lon=point_on(0),
    )

    def recognises(self, row: JsonRow) -> bool:
        values = _values(row)
        return isinstance(values.get("names"), dict) and ("geometry" in row or "geometry" in values)

    def facts(self, row: JsonRow) -> Facts:
        values = _values(row)
        identity = values.get("id") or row.get("id")
        return checked_facts(row, identity, _name(values), point_of(row.get("geometry")), _terms(values))

    def place(self, row: JsonRow, sighting: FileSighting) -> Place:
        values = _values(row)
        address = _address(values)
        contacts = Contacts(
            phones=texts(values.get("phones")),
            websites=web_addresses(texts(values.get("websites"))),
            emails=values.get("emails"),
            socials=web_addresses(texts(values.get("socials"))),
            country=address["country"] or sighting.country,
        )
        attributes: dict[str, str | None] = {**contacts.attributes(), **_rights(values, self.licence)}
        confidence = number(values.get("confidence"))
        attributes["confidence"] = None if confidence is None else f"{confidence:g}"
        attributes["brand"] = text(mapping(mapping(values.get("brand")).get("names")).get("primary"))
        attributes["wikidata"] = text(mapping(values.get("brand")).get("wikidata"))
        return Draft(self, self.facts(row), sighting, attributes).place(
            {
                "category_ids": _categories(values),
                "business_status": _STATUS.get(str(values.get("operating_status"))),
                **contacts.values(),
                **address,
            }
        )


def _values(row: JsonRow) -> JsonRow:
    """The columns: of a row of Parquet the row itself, of a feature its properties."""
    properties = row.get("properties")
    return properties if isinstance(properties, dict) else row


def _name(values: JsonRow) -> object:
    names = mapping(values.get("names"))
    if clean(names.get("primary")):
        return names["primary"]
    common = names.get("common")
    first = common[0] if isinstance(common, list) and common else None
    return mapping(first).get("value") if first is not None else names.get("primary")


def _categories(values: JsonRow) -> list[str]:
    categories, taxonomy = mapping(values.get("categories")), mapping(values.get("taxonomy"))
    several: list[object] = [taxonomy.get("primary"), categories.get("primary"), categories.get("main")]
    several += [values.get("basic_category"), *_list(taxonomy.get("alternates")), *_list(categories.get("alternate"))]
    return texts(several)


def _terms(values: JsonRow) -> list[str]:
    hierarchy = texts(_list(mapping(values.get("taxonomy")).get("hierarchy")))
    return [*_categories(values), "/".join(hierarchy)]


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _address(values: JsonRow) -> dict[str, Any]:
    given = next((address for address in _list(values.get("addresses")) if isinstance(address, dict)), {})
    parts = {
        "street": text(given.get("freeform")),
        "city": text(given.get("locality")),
        "postcode": text(given.get("postcode")),
        "region": text(given.get("region")),
        "country": country_code(given.get("country")),
    }
    return parts | {"address": joined_address(parts)}


def _rights(values: JsonRow, licence: Licence) -> dict[str, str | None]:
    """Whose data a row is: of its `sources`, with the licence that they state or that their dataset has."""
    sources = [source for source in _list(values.get("sources")) if isinstance(source, dict)]
    datasets = texts([source.get("dataset") for source in sources])
    stated = [
        text(source.get("license")) or LICENCES.get((text(source.get("dataset")) or "").lower()) for source in sources
    ]
    licences = list(dict.fromkeys(licence or "unknown" for licence in stated))
    updated = texts([source.get("update_time") for source in sources])
    return {
        "licence": "; ".join(licences) or licence.name,
        "attribution": f"{licence.attribution} ({', '.join(datasets)})" if datasets else licence.attribution,
        "datasets": "; ".join(datasets),
        "updated": max(updated, default=None),
    }
