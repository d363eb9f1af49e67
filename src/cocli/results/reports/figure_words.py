"""The figures of a campaign in words: the same names wherever they are shown.

docs/reference/figures.md explains them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cocli.models.report import CampaignFigures


def figure_rows(figures: CampaignFigures) -> list[tuple[str, str]]:
    """The figures in words; those that are nothing are left out where they say nothing."""
    searches, sites = figures.searches, figures.websites
    rows = []
    if searches.planned:
        rows.append(("searches read", _of(searches.read, searches.planned)))
    rows += [
        ("businesses", f"{figures.businesses:,}"),
        ("businesses excluded", _some(figures.excluded)),
        ("websites read", _of(sites.read, sites.known)),
        ("websites dead", _some(sites.dead)),
        ("websites that forbid it", _some(sites.refused)),
        ("websites of closed businesses", _some(sites.closed)),
        ("websites not read", _some(sum(sites.unread.values()))),
        ("e-mail addresses", f"{figures.emails:,}"),
        ("businesses with e-mail", f"{figures.with_email:,}"),
    ]
    return [(what, count) for what, count in rows if count]


def figure_line(figures: CampaignFigures) -> str:
    """The most important ones in one line."""
    searches, sites = figures.searches, figures.websites
    parts = [f"{_of(searches.read, searches.planned)} searches"] if searches.planned else []
    parts += [
        f"{figures.businesses:,} businesses",
        f"{_of(sites.read, sites.known)} websites read",
        f"{figures.emails:,} e-mail addresses",
    ]
    return ", ".join(parts)


def unread_lines(figures: CampaignFigures) -> list[str]:
    """What was tried and has no answer, by reason: one sentence for each kind."""
    kinds = {
        ("search", "searches"): figures.searches.unread,
        ("place", "places"): figures.places.unread,
        ("website", "websites"): figures.websites.unread,
    }
    return [_unread(words, reasons) for words, reasons in kinds.items() if reasons]


def _unread(words: tuple[str, str], reasons: Mapping[str, int]) -> str:
    count = sum(reasons.values())
    named = ", ".join(f"{number:,} {reason}" for reason, number in reasons.items())
    if count == 1:
        return f"1 {words[0]} was not read: {named}."
    return f"{count:,} {words[1]} were not read: {named}."


def _of(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,}"


def _some(count: int) -> str:
    return f"{count:,}" if count else ""
