"""People: whom a page marks up with name and title, and whom it shows with a mailbox of their own."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cocli.pipeline.websites.facts.emails.address import read_address
from cocli.pipeline.websites.facts.identity import identity_of
from cocli.pipeline.websites.facts.person_cards import PersonCard, person_cards
from cocli.pipeline.websites.page.structured import Fact, facts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.pipeline.websites.facts.facts import EmailFinding
    from cocli.pipeline.websites.page.page import Page

MAX_PEOPLE = 200
_ROLES = frozenset(
    ("employee", "employees", "founder", "founders", "member", "members", "owner", "contactpoint", "team")
)
_NOT_STAFF = frozenset(("review", "comment", "reviewer", "itemreviewed", "character", "actor"))


@dataclass(frozen=True, slots=True)
class PersonFinding:
    name: str
    title: str | None
    email: str | None
    phone: str | None
    """As it stands there."""
    method: str
    context: str
    position: int


def find_people(page: Page, emails: Sequence[EmailFinding] = ()) -> tuple[PersonFinding, ...]:
    """The people of a page, each once. Whoever wrote a review is none of them."""
    groups: dict[tuple[str, int], list[Fact]] = defaultdict(list)
    for fact in facts_of(page):
        groups[(fact.method, fact.item)].append(fact)
    found: dict[str, PersonFinding] = {}
    for facts in groups.values():
        person = _person(page, facts)
        if person is not None and len(found) < MAX_PEOPLE:
            found.setdefault(person.name.lower(), person)
    for card in person_cards(page, emails, identity_of(page)):
        known = found.get(card.name.lower())
        if known is None and len(found) < MAX_PEOPLE:
            found[card.name.lower()] = _shown(page, card)
        elif known is not None and known.email is None:
            found[card.name.lower()] = replace(known, email=card.email)
    return tuple(sorted(found.values(), key=lambda person: person.position))


def _shown(page: Page, card: PersonCard) -> PersonFinding:
    return PersonFinding(
        name=card.name,
        title=card.role,
        email=card.email,
        phone=None,
        method="text",
        context=page.context(card.start, card.end),
        position=card.start,
    )


def _person(page: Page, facts: list[Fact]) -> PersonFinding | None:
    kind, path = facts[0].kind, set(facts[0].path)
    values = {fact.name: fact for fact in reversed(facts)}
    name, title = values.get("name"), values.get("jobtitle")
    if name is None or path & _NOT_STAFF or not _is_name(name.value):
        return None
    if kind != "person" and not (kind == "card" and title is not None):
        return None
    if title is None and "author" in path:
        return None
    email = None
    if "email" in values:
        email = read_address(values["email"].value.removeprefix("mailto:"))
    return PersonFinding(
        name=name.value,
        title=title.value[:200] if title else next(iter(path & _ROLES), None),
        email=str(email) if email else None,
        phone=values["telephone"].value.removeprefix("tel:")[:40] if "telephone" in values else None,
        method=name.method,
        context=page.context(name.position, name.end),
        position=name.position,
    )


def _is_name(text: str) -> bool:
    return 3 < len(text) < 100 and any(map(str.isalpha, text)) and "http" not in text
