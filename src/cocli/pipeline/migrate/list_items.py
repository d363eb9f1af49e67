"""Older results of list searches: 9 to 13 columns without a header → `Place`, and from it the prospect's share.

Three writers wrote them, by position: nine columns, ten (with the category), and either with two or three columns
about the search behind. A row is taken only if its values have the shapes of exactly one of these tables.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cocli.keys.identities import company_hash
from cocli.keys.tile import Tile
from cocli.models.place import Place
from cocli.models.prospect import Prospect
from cocli.pipeline.migrate import facts
from cocli.pipeline.migrate.columns import OldColumn, Shape
from cocli.pipeline.migrate.layout import Layout
from cocli.pipeline.migrate.origins import SOURCE, recorded
from cocli.pipeline.sources import google_maps

if TYPE_CHECKING:
    from cocli.pipeline.migrate.row import Context, OldRow

_IDENTITY = (
    OldColumn("place_id", "place_id", "checked against the ids in gmb_url", Shape.ID),
    OldColumn("company_slug", "slug", "a label only"),
    OldColumn("name", "name", "a row without one is hollow, and set aside", Shape.TEXT),
)
_CATEGORY = (OldColumn("category", "categories", "", Shape.TEXT),)
_VALUES = (
    OldColumn("phone", "phone", "", Shape.PHONE),
    OldColumn("domain", "domain", "the registrable part", Shape.HOST),
    OldColumn("reviews_count", "review_count", "left out where it is a number of the phone or address", Shape.WHOLE),
    OldColumn("average_rating", "rating", "", Shape.NUMBER),
    OldColumn("street_address", "street", "", Shape.TEXT),
    OldColumn("gmb_url", "", "follows from the place id; the ids in it are checked", Shape.URL),
)
_SEARCH = (
    OldColumn("discovery_phrase", "phrases", "else the name of the file"),
    OldColumn("discovery_tile_id", "tiles", "else the folders of the file"),
)
_HTML = (OldColumn("html", "", "a capture, not a value", Shape.TEXT),)

NINE = (*_IDENTITY, *_VALUES)
TEN = (*_IDENTITY, *_CATEGORY, *_VALUES)
THIRTEEN = (*TEN, *_SEARCH, *_HTML)


def place(row: OldRow, context: Context) -> Place:
    """One row → what the list said about one business."""
    place_id = facts.checked_place_id(row)
    street = row.text("street_address")
    tile = facts.tile(row, context)
    phrase = row.text("discovery_phrase") or context.phrase
    domain = facts.domain(row)
    category = row.text("category")
    return Place.checked(
        {
            "source": google_maps.SOURCE.name,
            "source_id": place_id,
            "place_id": place_id,
            "name": facts.name(row),
            "category_labels": (category,) if category else (),
            "phone": row.text("phone"),
            "phone_e164": facts.e164(row.text("phone"), None, None),
            "website": f"https://{domain}" if domain else None,
            "street": street,
            "rating": facts.rating(row),
            "review_count": facts.review_count(row, street),
            "phrase": context.phrase_of(phrase) if phrase else None,
            "tile": Tile.parse(*tile.split("_")) if tile else None,
            "observed_at": context.read_at or context.modified,
        }
    )


def prospect(row: OldRow, context: Context) -> Prospect:
    """One row → what it adds to the record of its business."""
    seen = place(row, context)
    return recorded(
        Prospect,
        {
            "company_hash": company_hash(seen.source_id),
            "place_id": seen.place_id,
            "slug": facts.slug(row, seen.name),
            "name": seen.name,
            "phone": seen.phone,
            "phone_e164": seen.phone_e164,
            "domain": facts.domain(row),
            "street": seen.street,
            "categories": seen.category_labels,
            "rating": seen.rating,
            "review_count": seen.review_count,
            "campaign": context.campaign,
            "phrases": (seen.phrase,) if seen.phrase else (),
            "tiles": (str(seen.tile),) if seen.tile else (),
            "first_seen": seen.observed_at,
            "updated_at": seen.observed_at,
            "sources": (SOURCE,),
        },
        seen.observed_at,
    )


LAYOUT = Layout(
    name="list-items",
    index="prospects",
    tables=(THIRTEEN, (*TEN, *_SEARCH), (*NINE, *_SEARCH, *_HTML), (*NINE, *_SEARCH), TEN, NINE),
    begins=re.compile(rb"[CG]hI[A-Za-z0-9_-]{23,26}\x1f"),
    convert=prospect,
    aliases={"phone_1": "phone", "slug": "company_slug"},
)
