"""How well places agree with what a person read from the same page: per field, what was right, wrong and missed."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cocli.pipeline.sources.google_maps.parser.phones import e164

if TYPE_CHECKING:
    from cocli.models.place import Place

FIELDS = ("place_id", "name", "coordinates", "phone", "website", "address", "rating", "review_count", "category")
MORE_FIELDS = ("feature_id", "phone_e164", "plus_code", "sponsored")
CLOSE = 2e-5
"""Degrees between two readings of one point: 2 metres, which is what an advertisement rounds to."""

Truth = Mapping[str, Any]


@dataclass(slots=True)
class FieldTally:
    """Of one field over all pages."""

    right: int = 0
    wrong: int = 0
    """Said, and not what the page says."""
    invented: int = 0
    """Said where the page says nothing."""
    missed: int = 0
    silent: int = 0
    """Rightly said nothing."""
    examples: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float | None:
        said = self.right + self.wrong + self.invented
        if said:
            return self.right / said
        return None

    @property
    def recall(self) -> float | None:
        there = self.right + self.wrong + self.missed
        if there:
            return self.right / there
        return None

    def as_dict(self) -> dict[str, object]:
        return {
            "right": self.right,
            "wrong": self.wrong,
            "invented": self.invented,
            "missed": self.missed,
            "precision": self.precision,
            "recall": self.recall,
            "examples": self.examples,
        }


@dataclass(slots=True)
class Scores:
    """Of one kind of pages."""

    kind: str
    pages: int = 0
    places: int = 0
    fields: dict[str, FieldTally] = field(default_factory=dict)

    def tally(self, name: str) -> FieldTally:
        return self.fields.setdefault(name, FieldTally())

    def note(self, name: str, outcome: str, where: str) -> None:
        tally = self.tally(name)
        setattr(tally, outcome, getattr(tally, outcome) + 1)
        if outcome not in ("right", "silent") and len(tally.examples) < 20:
            tally.examples.append(f"{outcome}: {where}")

    def as_dict(self) -> dict[str, object]:
        fields = {name: tally.as_dict() for name, tally in self.fields.items()}
        return {"pages": self.pages, "places": self.places, "fields": fields}


def compare(scores: Scores, place: Place | None, truths: Iterable[Truth], where: str) -> None:
    """One place with what was read by eye; of a place that is shown twice, either reading is right."""
    known = list(truths)
    for name in (*FIELDS, *MORE_FIELDS):
        wanted = [value for truth in known if (value := _expected(name, truth)) is not ...]
        if wanted:
            scores.note(name, _outcome(name, _said(name, place), wanted), where)


def _outcome(name: str, said: Any, wanted: list[Any]) -> str:
    if name == "sponsored" and said is not None:
        if said == any(wanted):
            return "right"
        return "wrong"
    values = [value for value in wanted if value is not None]
    if said is None:
        if values:
            return "missed"
        return "silent"
    if not values:
        return "invented"
    if any(_equal(name, said, value) for value in values):
        return "right"
    return "wrong"


def _said(name: str, place: Place | None) -> Any:
    if place is None:
        return None
    if name == "coordinates":
        if place.lat is None:
            return None
        return (place.lat, place.lon)
    if name == "category":
        if place.category_labels:
            return place.category_labels[0]
        return None
    return getattr(place, name)


_LABELS = {"review_count": "reviews"}


def _expected(name: str, truth: Truth) -> Any:
    """What a label says: `...` where it does not speak of the field, None where the page does not show it."""
    if name == "coordinates":
        if truth.get("lat") is not None and "lng" in truth:
            return (truth["lat"], truth["lng"])
        return ...
    if name == "category":
        if truth.get("categories"):
            return truth["categories"][0]
        return truth.get("category", ...)
    if name == "address":
        return truth.get("address", truth.get("address_short", ...))
    if name == "phone_e164":
        given = truth.get("phone_e164") or truth.get("phone")
        if isinstance(given, str) and given.startswith("+"):
            return given
        return ...
    return truth.get(_LABELS.get(name, name), ...)


def _equal(name: str, said: Any, wanted: Any) -> bool:
    if name == "coordinates":
        return all(math.isclose(number, other, abs_tol=CLOSE) for number, other in zip(said, wanted, strict=True))
    if name == "rating":
        return math.isclose(said, wanted, abs_tol=1e-9)
    if name == "phone":
        return _same_phone(said, wanted)
    if name == "website":
        return _url(said) == _url(wanted)
    if name == "address":
        return _words(said) == _words(wanted) or _words(said).startswith(_words(wanted) + " ")
    if not isinstance(said, str):
        return bool(said == wanted)
    return " ".join(said.split()) == " ".join(str(wanted).split())


def _same_phone(said: str, wanted: str) -> bool:
    """As numbers: `+1 217-241-0100` and `(217) 241-0100` ring at the same place."""
    digits, other = _digits(said), _digits(wanted)
    if digits == other:
        return True
    return _rings_at(said, other) or _rings_at(wanted, digits)


def _rings_at(international: str, digits: str) -> bool:
    """Whether a number with its country ends with these digits, of which the zero of an area is none."""
    national = digits.lstrip("0")
    whole = _digits(e164([international]) or "")
    return bool(whole) and len(national) >= 7 and whole.endswith(national) and len(whole) - len(national) <= 3


def _digits(text: str) -> str:
    return re.sub(r"[^0-9]", "", text)


def _url(text: str) -> str:
    return text.strip().rstrip("/")


def _words(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+|[#+&/]", text.casefold()))
