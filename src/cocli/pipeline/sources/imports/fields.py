"""By which names a column is recognised. docs/import.md shows this table; a test holds the two together."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_PARENTHESES = re.compile(r"\([^)]*\)|\[[^]]*\]")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

NAMES: Mapping[str, tuple[str, ...]] = {
    "name": (
        "company name", "company", "business name", "organization name", "organisation name", "organization",
        "organisation", "organization 1 name", "account name", "store name", "shop name", "restaurant name",
        "firmenname", "firma", "unternehmen", "unternehmensname", "betrieb", "nom commercial", "nom de l'entreprise",
        "entreprise", "raison sociale", "société", "nombre comercial", "nombre de la empresa", "empresa",
        "razón social", "ragione sociale", "azienda", "bedrijfsnaam", "bedrijf", "name", "business", "account", "shop",
        "org", "place name", "fn", "nom", "nombre", "nome", "naam", "full name", "display name", "file as", "title",
    ),
    "phone": (
        "phone", "phone number", "telephone", "telephone number", "tel", "tel no", "phonenumber", "phone 1 value",
        "phone 1", "main phone", "company phone", "business phone", "work phone", "person phone work", "office phone",
        "landline", "contact number", "telefon", "telefonnummer", "telefon geschäftlich", "rufnummer", "festnetz",
        "téléphone", "téléphone fixe", "tél", "numéro de téléphone", "n° de téléphone", "teléfono", "teléfono fijo",
        "número de teléfono", "telefono", "telefoon", "telefoonnummer", "phone 2 value", "phone 2", "business phone 2",
        "mobile", "mobile phone", "mobile number", "cell", "cell phone", "mobil", "mobiltelefon", "handy", "portable",
        "móvil", "cellulare", "contact:phone",
    ),
    "email": (
        "email", "e-mail", "emails", "email address", "e-mail address", "mail", "primary email", "business email",
        "company email", "work email", "person email work", "contact email", "e-mail 1 value", "email 1",
        "e-mail 2 address", "e-mail 2 value", "email 2", "e-mail 3 address", "e-mail 3 value", "email 3", "all emails",
        "e-mail-adresse", "mailadresse", "e-mail geschäftlich", "adresse e-mail", "adresse email", "adresse mail",
        "adresse électronique", "courriel", "correo electrónico", "correo", "indirizzo email", "posta elettronica",
        "emailadres", "contact:email",
    ),
    "website": (
        "website", "website url", "web site", "web", "site", "url", "homepage", "home page", "web page", "webpage",
        "web address", "website 1 value", "company website", "business website", "www", "webseite", "internet",
        "internetadresse", "internetseite", "webadresse", "site web", "site internet", "sitio web", "página web",
        "sito web", "sito", "contact:website",
    ),
    "domain": ("domain", "domain name", "company domain name", "company domain"),
    "address": (
        "address", "full address", "complete address", "formatted address", "address 1 formatted", "business address",
        "organization address", "postal address", "location", "adresse", "anschrift", "adresse complète",
        "adresse postale", "dirección", "domicilio", "indirizzo", "adres", "addr:full",
    ),
    "street": (
        "street", "street address", "address line 1", "address 1", "street 1", "address 1 street", "business street",
        "billing street", "addr:street", "straße", "strasse", "straße und hausnummer", "straße/nr", "rue", "calle",
        "via", "straat", "addr:street_address",
    ),
    "city": (
        "city", "town", "suburb", "locality", "municipality", "address 1 city", "business city", "billing city",
        "stadt", "ort", "ville", "commune", "localité", "ciudad", "población", "localidad", "municipio", "città",
        "comune", "plaats", "addr:city",
    ),
    "region": (
        "region", "state", "state/region", "province", "state/province", "county", "address 1 region", "business state",
        "billing state/province", "billing state", "bundesland", "kanton", "département", "provincia",
        "comunidad autónoma", "provincie", "addr:state",
    ),
    "postcode": (
        "postcode", "postal code", "post code", "zip", "zip code", "zipcode", "zip/postal code",
        "address 1 postal code", "business postal code", "billing zip/postal code", "billing postal code", "plz",
        "postleitzahl", "code postal", "código postal", "cp", "cap", "addr:postcode",
    ),
    "country": (
        "country", "country/region", "country code", "address 1 country", "business country/region", "business country",
        "billing country", "land", "pays", "país", "paese", "addr:country",
    ),
    "lat": ("lat", "latitude", "y", "breite", "breitengrad", "latitud", "latitudine"),
    "lon": ("lon", "lng", "long", "longitude", "x", "länge", "längengrad", "longitud", "longitudine"),
    "category": (
        "category", "categories", "type", "types", "industry", "business type", "business category", "category name",
        "main category", "primary category", "map category", "branche", "kategorie", "catégorie", "secteur",
        "secteur d'activité", "activité", "categoría", "sector", "actividad", "settore",
    ),
    "rating": (
        "rating", "stars", "average rating", "approximate rating", "reviews average", "google rating", "score",
        "total score", "bewertung", "note moyenne", "valoración", "calificación",
    ),
    "review_count": (
        "review count", "reviews", "reviews count", "number of reviews", "number of ratings", "total reviews",
        "rating count", "ratings", "anzahl bewertungen", "bewertungen", "nombre d'avis", "avis", "número de reseñas",
        "reseñas",
    ),
    "place_id": ("place id", "google place id", "google id", "feature id"),
    "map_url": (
        "google maps link", "google maps url", "maps link", "map url", "map link", "google map", "source url",
        "placepageuri", "place url", "link",
    ),
    "contact": (
        "contact", "contact name", "contact person", "person name", "owner", "ansprechpartner", "kontaktperson",
        "interlocuteur", "persona de contacto",
    ),
    "first_name": ("first name", "given name", "forename", "vorname", "prénom", "nombre de pila"),
    "last_name": (
        "last name", "family name", "surname", "nachname", "familienname", "nom de famille", "apellidos", "apellido",
        "cognome",
    ),
    "tags": ("tags", "tag", "labels", "label", "group membership"),
    "facebook": ("facebook", "facebook url", "facebook company page", "facebook page"),
    "instagram": ("instagram", "instagram url"),
    "linkedin": ("linkedin", "linkedin url", "linkedin company page", "linkedin page"),
}  # fmt: skip
"""Field → names of columns, in the order in which they are preferred. Case, accents, `_`, `-` and `.` do not matter."""

IGNORED = "-"
"""`--map "Column=-"` leaves a column out."""

SEVERAL = ("phone", "email")
"""Fields that a file may have several columns of: the first number that a row has, and all of its addresses."""

OF_ANYBODY = frozenset({"name", "fn", "nom", "nombre", "nome", "naam", "full name", "display name", "file as"})
"""Names of columns that hold a person's name where another column holds the company's."""

_NAMES_OF_ANYTHING = OF_ANYBODY | {"title", "url", "link", "type", "label", "tag", "x", "y", "code"}
"""In an object in an object these say nothing of the business: `owner.name`, `image.url`."""


_LONGEST_NAME = 200
"""Characters of a column's name that are looked at: no name that is known is longer."""


def comparable(name: str) -> str:
    """`Phone_Number`, `phone-number` and `PHONE  NUMBER` are one name."""
    plain = unicodedata.normalize("NFKD", name.casefold().replace("ß", "ss"))
    plain = "".join(character for character in plain if not unicodedata.combining(character))
    return " ".join(
        "".join(character if character.isalnum() or character in "/:" else " " for character in plain).split()
    )


def readings(name: str) -> Iterator[str]:
    """A column's name, comparable: as it is, without what stands in parentheses, and `postalCode` as two words.

    What JSON calls `address.city` is read as `city`; a name in it may be anybody's, and is not.
    """
    name = name[:_LONGEST_NAME]
    yield comparable(name)
    yield comparable(_PARENTHESES.sub(" ", name))
    yield comparable(_HUMP.sub(" ", name))
    inner = name.rpartition(".")[2]
    if inner != name and comparable(inner) not in _NAMES_OF_ANYTHING:
        yield comparable(_HUMP.sub(" ", inner))


def recognised() -> dict[str, tuple[str, int]]:
    """Comparable name → field, and how far behind in its row of the table."""
    return {
        comparable(name): (field, position) for field, names in NAMES.items() for position, name in enumerate(names)
    }
