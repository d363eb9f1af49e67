"""Made-up rows of the pages: a small vocabulary, and now and then something that nobody expects."""

from __future__ import annotations

import random

from cocli.app.web.prospects.fields import BETWEEN, chosen_fields
from cocli.app.web.prospects.tables import ProspectTable, table_of

_NAMES = (
    *("Schäfer", "SCHAFER", "Best", "Plumbing", "Straße", "Çelik", "O’Neil", "Łódź", "ﬁne", "Ǆ", "Σίσυφος", "ΣΟΦΟΣ"),
    *("नमस्ते", "東京", "𝔘nicode", "İzmir", "24/7", "A&B", "& Sons", "Ⅷ", "x²", "e\u0301clair", "=cmd|", "<b>bold</b>"),
)
_CITIES = ("Springfield", "springfield", "München", "Zürich", "Saint-Denis", "", "Ōsaka", "Łódź", "🏙 City")
_CATEGORIES = ("Plumber", "Heating; Cooling", "Electrician", "Café", "ﬂorist")
_TAGS = ("hot", "called", "later", "ümlaut")
_SOURCES = ("overture", "google-maps", "openstreetmap")


def made_row(chance: random.Random, number: int) -> dict[str, str]:
    """A row in which every column is now and then empty."""
    words = chance.choices(_NAMES, k=chance.randint(1, 3))
    domain = f"{chance.choice(('best', 'schafer', 'a-b', 'plumb'))}{chance.randint(0, 99)}.example"

    def some(value: str, share: float = 0.7) -> str:
        return value if chance.random() < share else ""

    return {
        "name": " ".join(words),
        "city": chance.choice(_CITIES),
        "region": chance.choice(("IL", "Bayern", "")),
        "postcode": some(chance.choice(("01067", "62701-1234", "SW1A 1AA"))),
        "street": some(f"{chance.choice(('Main St', 'Hauptstraße', 'Rue d’Été'))} {chance.randint(1, 99)}"),
        "domain": some(domain),
        "phone": some(f"+1217555{chance.randint(0, 9999):04}"),
        "email": some(f"info@{domain}"),
        "emails": some(f"a@{domain}{BETWEEN}b@{domain}", 0.2),
        "categories": BETWEEN.join(chance.sample(_CATEGORIES, chance.randint(0, 2))),
        "tags": BETWEEN.join(chance.sample(_TAGS, chance.randint(0, 2))),
        "status": chance.choice(("", "called", "Won")),
        "id": f"{number:016x}",
        "slug": f"row-{number}",
        "country": chance.choice(("US", "DE", "")),
        "website": some(f"https://{domain}/"),
        "rating": some(f"{chance.randint(10, 50) / 10:g}"),
        "reviews": some(str(chance.randint(1, 2000))),
        "sources": BETWEEN.join(chance.sample(_SOURCES, chance.randint(1, 2))),
        "lat": (lat := some("39.78")),
        "lon": "-89.65" if lat else "",
        "updated": f"2026-11-{chance.randint(1, 17):02}T10:45:00Z",
    }


def made_table(count: int, seed: int = 0, names: tuple[str, ...] = ()) -> ProspectTable:
    chance, columns = random.Random(seed), names or chosen_fields()
    rows = [made_row(chance, number) for number in range(count)]
    return table_of(columns, [[row[name] for name in columns] for row in rows])
