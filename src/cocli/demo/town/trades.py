"""The trades of the town: what a person searches for, and how open data and the map call it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Trade:
    """A kind of business."""

    phrase: str
    """What is searched for."""
    category: str
    """In Overture's scheme."""
    hierarchy: tuple[str, ...]
    """From the broadest group down to the category."""
    map_category: str
    """The map's id, independent of language."""
    map_label: str
    words: tuple[str, ...]
    """What such a business calls itself."""
    share: int
    """How many of a hundred businesses are of this trade."""


TRADES: tuple[Trade, ...] = (
    Trade(
        "restaurant", "restaurant", ("eat_and_drink", "restaurant"), "restaurant", "Restaurant",
        ("Kitchen", "Table", "Grill House"), 20,
    ),
    Trade(
        "dentist", "dentist", ("health_and_medical", "dentist"), "dentist", "Dentist",
        ("Dental", "Family Dentistry", "Dental Practice"), 13,
    ),
    Trade(
        "plumber", "plumbing", ("home_service", "plumbing"), "plumber", "Plumber",
        ("Plumbing", "Pipe & Drain", "Plumbing Works"), 10,
    ),
    Trade(
        "hair salon", "hair_salon", ("beauty_and_spa", "hair_salon"), "hair_salon", "Hair salon",
        ("Hair", "Hairdressing", "Cuts & Colour"), 10,
    ),
    Trade(
        "bakery", "bakery", ("eat_and_drink", "bakery"), "bakery", "Bakery",
        ("Bakery", "Bread & Buns", "Bakehouse"), 8,
    ),
    Trade(
        "electrician", "electrician", ("home_service", "electrician"), "electrician", "Electrician",
        ("Electric", "Electrical Contracting", "Wiring"), 7,
    ),
    Trade(
        "car repair", "automotive_repair", ("automotive", "automotive_repair"), "auto_repair_shop", "Auto repair shop",
        ("Auto Repair", "Motors", "Garage"), 7,
    ),
    Trade(
        "lawyer", "lawyer", ("professional_services", "lawyer"), "lawyer", "Lawyer",
        ("Law Office", "Attorneys", "Legal Counsel"), 6,
    ),
    Trade(
        "florist", "florist", ("retail", "flowers_and_gifts_shop", "florist"), "florist", "Florist",
        ("Flowers", "Floral Design", "Blooms"), 5,
    ),
    Trade(
        "veterinarian", "veterinarian", ("pets", "veterinarian"), "veterinarian", "Veterinarian",
        ("Veterinary", "Animal Hospital", "Pet Care"), 5,
    ),
    Trade(
        "coffee shop", "coffee_shop", ("eat_and_drink", "cafe", "coffee_shop"), "coffee_shop", "Coffee shop",
        ("Coffee", "Roasters", "Espresso Bar"), 5,
    ),
    Trade(
        "roofing contractor", "roofing", ("home_service", "contractor", "roofing"), "roofing_contractor",
        "Roofing contractor", ("Roofing", "Roof & Gutter", "Slate & Shingle"), 4,
    ),
)  # fmt: skip

PHRASES: tuple[str, ...] = tuple(trade.phrase for trade in TRADES)


def trade_of(phrase: str) -> Trade | None:
    wanted = phrase.strip().lower()
    return next((trade for trade in TRADES if trade.phrase == wanted), None)
