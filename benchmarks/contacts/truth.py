"""What is known about a page: which contacts it has, and which texts only look like one."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from cocli.pipeline.websites.facts.emails.address import read_address

KINDS = ("emails", "phones", "socials")
NEGATIVE = "negative"


@dataclass(frozen=True, slots=True)
class Expected:
    """The values of one kind on one page, in the form in which they are compared."""

    must: frozenset[str] = frozenset()
    may: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    reject: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class PostalTruth:
    """A postal address that a page shows."""

    street: str
    postcode: str
    city: str


@dataclass(frozen=True, slots=True)
class Labelled:
    """A page and what is known about it."""

    path: Path
    url: str
    country: str | None
    form: str
    expected: dict[str, Expected] = field(default_factory=dict)
    family: str = ""
    """The class of a generated page; the form of one made by hand."""
    language: str = ""
    primary: frozenset[str] = frozenset()
    """The addresses to write to; empty where every one that must be found is right."""
    addresses: tuple[PostalTruth, ...] = ()
    says_addresses: bool = False
    """Whether the truth knows of postal addresses at all: then another one is wrong."""
    hours: frozenset[object] = frozenset()
    people: frozenset[object] = frozenset()

    @property
    def negative(self) -> bool:
        return self.form.startswith(NEGATIVE)


def comparable(kind: str, value: str) -> str:
    """Addresses without case and with an ASCII domain; profiles by host and path."""
    if kind == "emails":
        return str(read_address(value) or value.lower())
    if kind == "socials":
        bare = re.sub(r"^(?:https?:)?//(?:www\.|m\.)?", "", value.strip().lower())
        return re.split(r"[?#]", bare)[0].rstrip("/")
    return value.strip()


def read_truth(folder: Path) -> list[Labelled]:
    lines = (folder / "truth.jsonl").read_text("utf-8").splitlines()
    return [_labelled(folder, json.loads(line)) for line in lines if line.strip()]


def _labelled(folder: Path, row: dict[str, object]) -> Labelled:
    country = str(row.get("country") or "").strip("?").upper()[:2]
    addresses, hours, people = _dicts(row, "addresses"), _dicts(row, "hours"), _dicts(row, "people")
    primary = row.get("primary")
    return Labelled(
        path=folder / str(row["file"]),
        url=str(row.get("url") or ""),
        country=country or None,
        form=str(row.get("form") or ""),
        expected={kind: _expected(kind, row) for kind in KINDS},
        family=str(row.get("class") or row.get("form") or ""),
        language=str(row.get("lang") or ""),
        primary=frozenset(comparable("emails", str(value)) for value in primary)
        if isinstance(primary, list)
        else frozenset(),
        addresses=tuple(
            PostalTruth(str(place["street"]), str(place.get("postcode") or ""), str(place.get("city") or ""))
            for place in addresses
        ),
        says_addresses="addresses" in row,
        hours=frozenset((hour["day"], hour["opens"], hour["closes"]) for hour in hours),
        people=frozenset((person["name"], person.get("email") or "") for person in people),
    )


def _dicts(row: dict[str, object], name: str) -> list[dict[str, object]]:
    """The objects that a row lists under a name."""
    listed = row.get(name)
    return [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []


def _expected(kind: str, row: dict[str, object]) -> Expected:
    def values(suffix: str) -> frozenset[str]:
        listed = row.get(f"{kind}{suffix}") or []
        return frozenset(comparable(kind, str(value)) for value in listed) if isinstance(listed, list) else frozenset()

    return Expected(values(""), values("_optional"), values("_thirdparty"), values("_reject"))
