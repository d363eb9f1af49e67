"""What a way to find contacts says of a page, in the form in which it is compared."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks.contacts.truth import Labelled, comparable
from cocli.pipeline.websites.facts.phones.phones import to_e164


@dataclass(frozen=True, slots=True)
class Answer:
    """`found` is all that stands on the page; `delivered` what is offered as the firm's own."""

    found: frozenset[str] = frozenset()
    delivered: frozenset[str] = frozenset()
    primary: str | None = None
    phones: frozenset[str] = frozenset()
    socials: frozenset[str] = frozenset()
    addresses: tuple[str, ...] = ()
    """Each as one text."""
    hours: frozenset[tuple[str, str, str]] = frozenset()
    """Day (`mo`), opens, closes."""
    people: frozenset[tuple[str, str]] = frozenset()
    """Name and e-mail."""
    confidences: Mapping[str, float] = field(default_factory=dict)
    """How sure it is that an address is the firm's, where it says so."""


class BadAnswer(ValueError):
    """A program printed something else than the README asks for."""


def answer_of(text: str, page: Labelled) -> Answer:
    """Read what a program printed."""
    try:
        said = json.loads(text)
    except ValueError as error:
        raise BadAnswer(f"{page.path.name}: no JSON: {text[:80]!r}") from error
    if not isinstance(said, dict):
        raise BadAnswer(f"{page.path.name}: no JSON object: {text[:80]!r}")
    emails = [entry if isinstance(entry, dict) else {"value": entry} for entry in said.get("emails") or ()]
    found = {comparable("emails", str(entry["value"]).strip()): entry for entry in emails}
    delivered = [value for value, entry in found.items() if entry.get("own", True)]
    primary = said.get("primary")
    return Answer(
        found=frozenset(found),
        delivered=frozenset(delivered),
        primary=comparable("emails", primary) if primary else None,
        phones=numbers(said.get("phones") or (), page),
        socials=frozenset(comparable("socials", str(social)) for social in said.get("socials") or ()),
        addresses=tuple(_one_text(address) for address in said.get("addresses") or ()),
        hours=frozenset((hour["day"], hour["opens"], hour["closes"]) for hour in said.get("hours") or ()),
        people=frozenset((person["name"], person.get("email") or "") for person in said.get("people") or ()),
        confidences={
            value: entry["confidence"] for value, entry in found.items() if entry.get("confidence") is not None
        },
    )


def numbers(raw: Iterable[object], page: Labelled) -> frozenset[str]:
    """Numbers in E.164, with the same library for all: only finding is compared. What is no number is left out."""
    return frozenset(value for number in raw if (value := to_e164(str(number), page.country)))


def _one_text(address: Any) -> str:
    if isinstance(address, dict):
        return ", ".join(str(part) for part in address.values() if part)
    return str(address)
