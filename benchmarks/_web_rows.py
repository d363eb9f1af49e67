"""Rows of the dashboard's search, made up: a vocabulary of tens of thousands of words, as businesses have."""

from __future__ import annotations

import random
from itertools import product

from cocli.app.web.prospects.fields import BETWEEN, chosen_fields
from cocli.app.web.prospects.tables import ProspectTable, table_of

_BEGIN = ("Sch", "M", "B", "K", "Gr", "W", "H", "St", "L", "R", "D", "F", "N", "T", "P", "Br", "Kl", "Fr", "Z", "Bl")
_MIDDLE = ("ä", "a", "e", "i", "o", "u", "ü", "ei", "au", "ö")
_END = ("fer", "ller", "nn", "ck", "rg", "ster", "ch", "ng", "lz", "rs", "tz", "ve", "ria", "son", "ley", "den", "wick")
_TRADES = ("Plumbing", "Heating", "Roofing", "Bakery", "Dental", "Law", "Garage", "Florist", "Cleaning", "Electric")
_SORTS = ("Plumber", "Heating contractor", "Roofer", "Bakery", "Dentist", "Lawyer", "Car repair", "Florist", "Cleaner")


def made_rows(count: int, seed: int = 1) -> ProspectTable:
    chance, names = random.Random(seed), chosen_fields()
    surnames = ["".join(parts) for parts in product(_BEGIN, _MIDDLE, _END)]
    cities = ["".join(parts) for parts in product(_BEGIN, _MIDDLE, ("ville", "burg", " City"))]
    return table_of(names, (_row(chance, number, surnames, cities, names) for number in range(count)))


def _row(
    chance: random.Random, number: int, surnames: list[str], cities: list[str], names: tuple[str, ...]
) -> list[str]:
    owner, place = chance.choice(surnames), int(len(cities) * chance.random() ** 2)
    domain = f"{owner.lower()}{chance.randint(1, 9999)}.example"
    known = {
        "name": f"{owner} {chance.choice(surnames)} {chance.choice(_TRADES)}",
        "city": cities[place],
        "region": f"R{place % 50}",
        "postcode": f"{10_000 + place * 37 % 89_999}",
        "street": f"{chance.randint(1, 999)} {chance.choice(surnames)} Street",
        "domain": domain,
        "phone": f"+1{chance.randint(2_000_000_000, 9_999_999_999)}",
        "email": f"info@{domain}" if chance.random() < 0.5 else "",
        "categories": BETWEEN.join(chance.sample(_SORTS, chance.randint(1, 2))),
        "id": f"{number:016x}",
        "slug": f"{owner.lower()}-{number:x}",
        "country": "US",
        "website": f"https://{domain}/",
        "rating": f"{chance.randint(20, 50) / 10:g}",
        "reviews": str(chance.randint(1, 900)),
        "sources": "overture",
        "lat": f"{chance.uniform(25, 49):.5f}",
        "lon": f"{chance.uniform(-120, -70):.5f}",
        "updated": "2026-11-17T10:45:00Z",
    }
    return [known.get(name, "") for name in names]
