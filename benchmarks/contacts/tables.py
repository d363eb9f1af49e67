"""The tables that people read: ways to find contacts, classes, languages, reliability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.contacts.calibration import reliability
from benchmarks.contacts.figures import Figures
from benchmarks.contacts.pairs.score import PairFigures

_HEADS = (
    "pages", "found F1", "delivered F1", "primary", "phones F1", "profiles F1", "addresses", "hours", "people", "junk",
)  # fmt: skip


def figures_table(rows: Mapping[str, Figures], head: str) -> str:
    """A row per name. A figure of which the truth has nothing is a dash."""
    return aligned([(head, *_HEADS), *((name, *_cells(row)) for name, row in rows.items())])


def _cells(row: Figures) -> list[str]:
    shares = [
        (row.found.right + row.found.missed + row.found.wrong, row.found.f1),
        (row.delivered.right + row.delivered.missed + row.delivered.wrong, row.delivered.f1),
        (row.primary_asked, row.primary_accuracy),
        (row.phones.right + row.phones.missed + row.phones.wrong, row.phones.f1),
        (row.socials.right + row.socials.missed + row.socials.wrong, row.socials.f1),
        (row.addresses.right + row.addresses.missed, row.addresses.recall),
        (row.hours.right + row.hours.missed, row.hours.recall),
        (row.people.right + row.people.missed, row.people.recall),
    ]
    return [str(row.pages), *(f"{share:.3f}" if count else "–" for count, share in shares), str(row.junk)]


def reliability_table(judged: Sequence[tuple[float, bool]]) -> str:
    """Confidence said against share right, per tenth."""
    rows: list[tuple[str, ...]] = [
        (f"{row.low:.1f}–{row.high:.1f}", str(row.count), f"{row.said:.3f}", f"{row.right:.3f}")
        for row in reliability(judged)
    ]
    return aligned([("confidence", "addresses", "said", "right"), *rows])


def aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def pairs_table(rows: Mapping[str, PairFigures]) -> str:
    """How pairs were matched."""
    cells = [
        (name, str(row.pairs), f"{row.total.precision:.4f}", f"{row.total.recall:.4f}", str(row.total.wrong))
        for name, row in rows.items()
    ]
    return aligned([("pairs", "count", "precision", "recall", "wrongly merged"), *cells])
