"""What can stand on a page, by the name that `cases.toml` uses: `email:own@text`. Each adds markup and what is true."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.contacts.generator import clones, emails, phones, places, profiles
from benchmarks.contacts.generator.draft import Draft

_KINDS: dict[str, Callable[[Draft, str, str], None]] = {
    "email": emails.add,
    "phone": phones.add,
    "social": profiles.add,
    "address": lambda draft, _, where: places.add_address(draft, where),
    "hours": lambda draft, _, where: places.add_hours(draft, where),
    "price": lambda draft, _, __: places.add_price(draft),
    "clone": lambda draft, _, where: clones.add(draft, where),
    "noise": lambda draft, what, _: clones.add_noise(draft, what),
}


def add(draft: Draft, text: str) -> None:
    """Put one ingredient onto a page."""
    kind, _, rest = text.partition(":")
    what, _, where = rest.partition("@")
    _KINDS[kind](draft, what, where)
