"""By which names a column is recognised. docs/import.md shows this table; a test holds the two together."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

NAMES: Mapping[str, tuple[str, ...]] = {
    "name": (
        "name", "company", "company name", "business name", "business", "organization", "organisation", "org",
        "organization name", "account name", "account", "store name", "shop", "shop name", "restaurant name", "title",
        "place name", "fn", "firma", "firmenname", "unternehmen", "nom", "nombre", "empresa", "entreprise",
        "ragione sociale",
    ),
    "phone": (
        "phone", "phone number", "telephone", "telephone number", "tel", "phonenumber", "mobile", "mobile phone",
        "business phone", "work phone", "contact number", "telefon", "telefonnummer", "téléphone", "teléfono",
        "telefono",
    ),
    "email": (
        "email", "e-mail", "emails", "email address", "e-mail address", "mail", "contact email", "business email",
        "primary email", "all emails", "correo", "courriel",
    ),
    "website": (
        "website", "website url", "web site", "web", "site", "url", "homepage", "home page", "web address",
        "company website", "webseite", "internet", "site web", "sitio web",
    ),
    "domain": ("domain", "domain name", "company domain name", "company domain"),
    "address": ("address", "full address", "complete address", "formatted address", "location", "adresse",
                "dirección"),
    "street": (
        "street", "street address", "address line 1", "address 1", "street 1", "addr:street", "straße", "strasse",
        "rue", "calle", "via",
    ),
    "city": ("city", "town", "suburb", "locality", "municipality", "stadt", "ort", "ville", "ciudad", "città"),
    "region": ("region", "state", "state/region", "province", "state/province", "county", "bundesland", "département"),
    "postcode": (
        "postcode", "postal code", "post code", "zip", "zip code", "zipcode", "plz", "postleitzahl", "code postal",
        "código postal", "cap",
    ),
    "country": ("country", "country/region", "country code", "land", "pays", "país", "paese"),
    "lat": ("lat", "latitude", "y", "breite", "breitengrad"),
    "lon": ("lon", "lng", "long", "longitude", "x", "länge", "längengrad"),
    "category": (
        "category", "categories", "type", "types", "industry", "business type", "business category", "map category",
        "branche", "kategorie", "catégorie", "categoría",
    ),
    "rating": ("rating", "stars", "average rating", "approximate rating", "reviews average", "google rating", "score"),
    "review_count": (
        "review count", "reviews", "reviews count", "number of reviews", "number of ratings", "total reviews",
        "rating count", "ratings",
    ),
    "place_id": ("place id", "google place id", "google id", "feature id"),
    "map_url": (
        "google maps link", "google maps url", "maps link", "map url", "map link", "google map", "source url",
        "placepageuri", "place url", "link",
    ),
    "contact": ("contact", "contact name", "contact person", "owner", "ansprechpartner"),
    "tags": ("tags", "tag", "labels", "label"),
    "facebook": ("facebook", "facebook url", "facebook company page", "facebook page"),
    "instagram": ("instagram", "instagram url"),
    "linkedin": ("linkedin", "linkedin url", "linkedin company page", "linkedin page"),
}  # fmt: skip
"""Field → names of columns, in the order in which they are preferred. Case, accents, `_`, `-` and `.` do not matter."""

IGNORED = "-"
"""`--map "Column=-"` leaves a column out."""


def comparable(name: str) -> str:
    """`Phone_Number`, `phone-number` and `PHONE  NUMBER` are one name."""
    plain = unicodedata.normalize("NFKD", name.casefold().replace("ß", "ss"))
    plain = "".join(character for character in plain if not unicodedata.combining(character))
    return " ".join(
        "".join(character if character.isalnum() or character in "/:" else " " for character in plain).split()
    )


def recognised() -> dict[str, tuple[str, int]]:
    """Comparable name → field, and how far behind in its row of the table."""
    return {
        comparable(name): (field, position) for field, names in NAMES.items() for position, name in enumerate(names)
    }
