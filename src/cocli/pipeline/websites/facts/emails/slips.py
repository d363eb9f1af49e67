"""Links whose address is a misspelling of the address that they show. What a reader reads is right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.pipeline.websites.facts.emails.address import read_address
from cocli.pipeline.websites.facts.emails.links import is_mailto, recipients, shown_address

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.pipeline.websites.page.page import Page

_MAX_DISTANCE = 2


def slip_of_the_pen(page: Page) -> frozenset[str]:
    """The addresses that stand only in links that show another one, different by a letter or two."""
    slips: set[str] = set()
    confirmed: set[str] = set()
    for target, shown in _linked_and_shown(page):
        (slips if target != shown and _distance(target, shown) <= _MAX_DISTANCE else confirmed).add(target)
    return frozenset(slips - confirmed)


def links_that_differ(page: Page) -> frozenset[str]:
    """The addresses that stand only in links that show another one: what a reader reads is meant."""
    pairs = _linked_and_shown(page)
    shown_somewhere = {shown for _, shown in pairs}
    return frozenset(target for target, shown in pairs if target != shown and target not in shown_somewhere)


def _linked_and_shown(page: Page) -> list[tuple[str, str]]:
    """Of each link that shows an address, the one it leads to and the one it shows; computed once per page."""
    kept: list[tuple[str, str]] | None = page.__dict__.get("_linked_and_shown")
    if kept is None:
        kept = page.__dict__["_linked_and_shown"] = list(_pairs(page))
    return kept


def _pairs(page: Page) -> Iterator[tuple[str, str]]:
    for element in page.links:
        href = element.get("href")
        if not is_mailto(href):
            continue
        target = next((str(address) for text in recipients(href[:1000])[:1] if (address := read_address(text))), None)
        shown = shown_address(page, element)
        if target and shown:
            yield target, shown


def _distance(left: str, right: str) -> int:
    """Letters to change, add, drop, or swap with their neighbour; more than a few are not counted out."""
    if abs(len(left) - len(right)) > _MAX_DISTANCE:
        return _MAX_DISTANCE + 1
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        older, before, row = before, row, [i]
        for j, b in enumerate(right, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and b == left[i - 2]:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1]
