"""Older prospects: 55 or 56 columns without a header, or any of them by name, → `Prospect`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cocli.keys.identities import company_hash
from cocli.models.prospect import Prospect
from cocli.pipeline.migrate import facts
from cocli.pipeline.migrate.columns import OldColumn, Shape
from cocli.pipeline.migrate.layout import Layout
from cocli.pipeline.migrate.origins import SOURCE, recorded
from cocli.pipeline.websites.hosts.shared import social_network

if TYPE_CHECKING:
    from cocli.pipeline.migrate.row import Context, OldRow

_PICTURE = "a picture; read again with the page"
_PAGE = "the index keeps what is needed to reach a business"

FIFTY_FIVE = (
    OldColumn("place_id", "place_id", "checked against the ids in gmb_url and cid", Shape.ID),
    OldColumn("company_slug", "slug", "a label only; the identity is the place id"),
    OldColumn("name", "name", "a row without one is hollow, and set aside", Shape.TEXT),
    OldColumn("phone", "phone"),
    OldColumn("created_at", "first_seen", "", Shape.TIME),
    OldColumn("updated_at", "updated_at", "", Shape.TIME),
    OldColumn("version", "", "the number of a schema that is gone", Shape.WHOLE),
    OldColumn("processed_by", "", "the name of a machine"),
    OldColumn("company_hash", "", "made of name, street and postcode; computed anew from the place id"),
    OldColumn("keyword", "phrases", "", Shape.TEXT),
    OldColumn("full_address", "street", "where street_address is empty: its first part", Shape.TEXT),
    OldColumn("street_address", "street", "", Shape.TEXT),
    OldColumn("city", "city"),
    OldColumn("zip", "postcode"),
    OldColumn("municipality", "city", "where city is empty"),
    OldColumn("state", "region"),
    OldColumn("country", "country", "a code of two letters; a few names are known, others are left out and counted"),
    OldColumn("timezone", "", _PAGE),
    OldColumn("phone_standard_format", "phone_e164", "where it is a valid number"),
    OldColumn("website", "website", "", Shape.URL),
    OldColumn("domain", "domain", "the registrable part", Shape.HOST),
    OldColumn("first_category", "categories", "", Shape.TEXT),
    OldColumn("second_category", "categories", "", Shape.TEXT),
    OldColumn("claimed_google_my_business", "", _PAGE),
    OldColumn("reviews_count", "review_count", "left out where it is a number of the phone or address", Shape.WHOLE),
    OldColumn("average_rating", "rating", "", Shape.NUMBER),
    OldColumn("hours", "", "the same as the seven days, as one text", Shape.TEXT),
    OldColumn("saturday", "hours", "", Shape.TEXT),
    OldColumn("sunday", "hours", "", Shape.TEXT),
    OldColumn("monday", "hours", "", Shape.TEXT),
    OldColumn("tuesday", "hours", "", Shape.TEXT),
    OldColumn("wednesday", "hours", "", Shape.TEXT),
    OldColumn("thursday", "hours", "", Shape.TEXT),
    OldColumn("friday", "hours", "", Shape.TEXT),
    OldColumn("latitude", "lat", "left out where it is the corner of the tile", Shape.NUMBER),
    OldColumn("longitude", "lon", "likewise", Shape.NUMBER),
    OldColumn("coordinates", "lat, lon", "where the two are empty"),
    OldColumn("plus_code", "", "follows from the position"),
    OldColumn("menu_link", "", _PAGE),
    OldColumn("gmb_url", "", "follows from the place id; the ids in it are checked", Shape.URL),
    OldColumn("cid", "", "follows from the place id, and is checked against it"),
    OldColumn("google_knowledge_url", "", _PAGE),
    OldColumn("kgmid", "", _PAGE),
    OldColumn("image_url", "", _PICTURE),
    OldColumn("favicon", "", _PICTURE),
    OldColumn("review_url", "", "follows from the place id"),
    OldColumn("facebook_url", "socials"),
    OldColumn("linkedin_url", "socials"),
    OldColumn("instagram_url", "socials"),
    OldColumn("thumbnail_url", "", _PICTURE),
    OldColumn("reviews", "", "texts of other people; read again with the page", Shape.TEXT),
    OldColumn("quotes", "", "likewise", Shape.TEXT),
    OldColumn("uuid", "", "of a table that is gone"),
    OldColumn("discovery_phrase", "phrases", "", Shape.TEXT),
    OldColumn("discovery_tile_id", "tiles", "where it names a tile of the grid"),
)
FIFTY_SIX = (*FIFTY_FIVE, OldColumn("email", "primary_email, all_emails", "several are joined by ;"))

_NETWORKS = ("facebook", "linkedin", "instagram")


def prospect(row: OldRow, context: Context) -> Prospect:
    """One row → the record of its business."""
    place = facts.checked_place_id(row)
    name = facts.name(row)
    tile = facts.tile(row, context)
    lat, lon = facts.position(row, tile)
    country = facts.country(row)
    phone = row.text("phone")
    website, street = row.text("website"), row.text("street_address") or _first_part(row.text("full_address"))
    created, updated = row.time("created_at"), row.time("updated_at")
    first_seen = min(created or updated or context.modified, updated or created or context.modified)
    emails = facts.emails(row)
    return recorded(
        Prospect,
        {
            "company_hash": company_hash(place),
            "place_id": place,
            "slug": facts.slug(row, name),
            "name": name,
            "phone": phone,
            "phone_e164": facts.e164(phone, row.text("phone_standard_format"), country),
            "website": website,
            "domain": facts.domain(row) or facts.domain(row, "website"),
            "street": street,
            "city": row.text("city") or row.text("municipality"),
            "region": row.text("state"),
            "postcode": row.text("zip"),
            "country": country,
            "lat": lat,
            "lon": lon,
            "categories": _distinct(row.text("first_category"), row.text("second_category")),
            "rating": facts.rating(row),
            "review_count": facts.review_count(row, street, row.text("full_address"), row.text("zip")),
            "hours": facts.hours(row),
            "socials": _socials(row),
            "primary_email": emails[0] if emails else None,
            "all_emails": emails,
            "campaign": context.campaign,
            "phrases": _distinct(*(context.phrase_of(text) for text in _phrases(row, context))),
            "tiles": (tile,) if tile else (),
            "first_seen": first_seen,
            "updated_at": updated or first_seen,
            "sources": (SOURCE,),
        },
        updated or first_seen,
    )


def _socials(row: OldRow) -> dict[str, str]:
    website = row.text("website")
    network = social_network(website)
    profile = {network: website} if network and website else {}
    return profile | {network: url for network in _NETWORKS if (url := row.text(f"{network}_url"))}


def _phrases(row: OldRow, context: Context) -> list[str]:
    return [text for text in (row.text("discovery_phrase"), row.text("keyword"), context.phrase) if text]


def _distinct(*texts: str | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in texts if text))


def _first_part(address: str | None) -> str | None:
    """The street of `12 Oak Street, Springfield, NC 28000`; of an address in one piece, or without a number, none."""
    if address is None or "," not in address:
        return None
    first = address.split(",", 1)[0].strip()
    if re.search(r"[0-9]", first):
        return first
    return None


LAYOUT = Layout(
    name="prospects",
    index="prospects",
    tables=(FIFTY_SIX, FIFTY_FIVE),
    begins=re.compile(rb"[CG]hI[A-Za-z0-9_-]{23,26}\x1f"),
    convert=prospect,
    aliases={"phone_1": "phone", "slug": "company_slug"},
)
