"""How much of a campaign's plan was read, as numbers and as maps."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import combinations
from typing import TYPE_CHECKING, Any

from cocli.app.campaigns.mission import DEFAULT_AGE, count_targets, micros, read_splits
from cocli.app.indexes.query import opened_query, options_at
from cocli.app.workspace import no_progress
from cocli.errors import UsageError
from cocli.formats.usv_sql import quote_text
from cocli.pipeline.plan.coverage import PASSES, Coverage, CoverageState, Passed, Totals, judged
from cocli.pipeline.plan.coverage_files import render_geojson
from cocli.pipeline.plan.coverage_map import render_html, render_svg
from cocli.pipeline.plan.recapture import Population, chapman
from cocli.pipeline.sources.registry import file_names, source_named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.app.indexes.indexes import Indexes
    from cocli.app.workspace import Campaign, Progress
    from cocli.pipeline.plan.coverage import TargetSource

_TOLD_EVERY = 10_000
_BOTH = """
WITH found AS (
    SELECT from_json(sources, '["VARCHAR"]') AS sources FROM prospects
), named AS (
    SELECT list_contains(sources, {first}) OR list_contains(sources, {first_list}) AS first,
           list_contains(sources, {second}) OR list_contains(sources, {second_list}) AS second
    FROM found
)
SELECT count(*) FILTER (WHERE first), count(*) FILTER (WHERE second), count(*) FILTER (WHERE first AND second)
FROM named
"""
"""A source's short form (`google-maps-list`) is the same source."""


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two sources as two passes: what each found of the campaign's prospects, and how many there are by that."""

    first: str
    second: str
    first_found: int
    second_found: int
    both: int
    population: Population


@dataclass(slots=True)
class Covered:
    campaign: str
    sources: tuple[str, ...]
    at: datetime
    since: datetime
    coverage: Coverage
    pairs: list[TargetSource] = field(default_factory=list)
    """The first of them that are not read, and then of those that are."""
    truncated: bool = False
    overlaps: list[Overlap] = field(default_factory=list)


def measure_coverage(
    indexes: Indexes,
    campaign: Campaign,
    *,
    age: timedelta = DEFAULT_AGE,
    phrase: str | None = None,
    limit: int = 50,
    progress: Progress = no_progress,
    as_of: datetime | None = None,
) -> Covered:
    """Go through every target and source. `limit` is how many of them are kept one by one; 0 keeps all.

    `as_of`: what was planned and read at that time. Which sources and phrases there are is that of now.
    """
    count_targets(indexes, campaign, as_of)
    known = campaign.settings.model().prospecting
    if phrase is not None and phrase not in known.queries:
        raise UsageError(reason=f'"{phrase}" is no query of {campaign.name}: {", ".join(known.queries)}')
    sources, now = tuple(dict.fromkeys(known.sources)), as_of or campaign.store.now()
    covered = Covered(campaign.name, sources, now, now - age, Coverage())
    for number, pair in enumerate(_pairs(indexes, sources, now - age, as_of), start=1):
        if number % _TOLD_EVERY == 0:
            progress(number)
        if phrase is not None and pair.phrase != phrase:
            continue
        covered.coverage.add(pair)
        if not limit or len(covered.pairs) < limit:
            covered.pairs.append(pair)
        else:
            covered.truncated = True
    covered.overlaps = list(_overlaps(indexes, sources, as_of))
    return covered


def _pairs(
    indexes: Indexes, sources: tuple[str, ...], since: datetime, as_of: datetime | None
) -> Iterator[TargetSource]:
    splits = read_splits(indexes, since, as_of)
    sql = PASSES.format(sources=_listed(sources), open_data=_listed(file_names()))
    with opened_query(indexes, sql, options_at(as_of)) as query:
        yield from judged(map(Passed._make, query.result().rows()), splits)


def _overlaps(indexes: Indexes, sources: tuple[str, ...], as_of: datetime | None) -> Iterator[Overlap]:
    for first, second in combinations(sources, 2):
        names = {
            "first": first,
            "first_list": source_named(first).row_name,
            "second": second,
            "second_list": source_named(second).row_name,
        }
        sql = _BOTH.format(**{key: quote_text(name) for key, name in names.items()})
        with opened_query(indexes, sql, options_at(as_of)) as query:
            mine, theirs, both = next(query.result().rows())
        if mine and theirs:
            yield Overlap(first, second, mine, theirs, both, chapman(mine, theirs, both))


def _listed(texts: tuple[str, ...]) -> str:
    return ", ".join(map(quote_text, texts))


# --- for people


def totals_document(totals: Totals, now: datetime) -> dict[str, Any]:
    """Totals as in coverage.md."""
    return {
        "name": totals.name,
        "pairs": totals.pairs,
        **{state.value: totals.states[state] for state in CoverageState},
        "read_share": totals.share(CoverageState.READ),
        "found": totals.found,
        "expected": totals.expected if totals.expected_pairs else None,
        "expected_pairs": totals.expected_pairs,
        "found_of_expected": totals.found_of_expected if totals.expected_pairs else None,
        "recapture": population_document(totals.population, len(totals.populations)),
        "completeness": totals.completeness,
        "oldest_days": age_days(totals.oldest, now),
        "newest_days": age_days(totals.newest, now),
    }


def population_document(found: Population | None, pairs: int) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "pairs": pairs,
        "seen": found.seen,
        "total": round(found.total, 1),
        "low": round(found.low, 1),
        "high": round(found.high, 1),
        "missing": round(found.missing, 1),
        "completeness": found.completeness,
    }


def age_days(read_at: int | None, now: datetime) -> float | None:
    if read_at is None:
        return None
    return round((micros(now) - read_at) / 86_400_000_000, 2)


def summary_rows(covered: Covered) -> list[tuple[str, str]]:
    """The totals in words."""
    totals = covered.coverage.totals
    rows = [(_WORDS[state], f"{totals.states[state]:,} ({totals.share(state):.1%})") for state in CoverageState]
    rows.insert(0, ("targets × sources", f"{totals.pairs:,}"))
    rows.append(("places found", f"{totals.found:,}"))
    if totals.expected_pairs:
        rows.append(("… of what open data has", f"{totals.found_of_expected:,} of {totals.expected:,}"))
    if (found := totals.population) is not None:
        interval = f"{found.low:,.0f} to {found.high:,.0f}"
        rows.append(("by repeated passes there are", f"{found.total:,.0f} ({interval}), seen {found.seen:,}"))
    for overlap in covered.overlaps:
        guess = overlap.population
        label = f"by {overlap.first} and {overlap.second} there are"
        rows.append((label, f"{guess.total:,.0f} ({guess.low:,.0f} to {guess.high:,.0f}), seen {guess.seen:,}"))
    if totals.completeness is not None:
        rows.append(("estimated completeness", f"{totals.completeness:.1%}"))
    if totals.oldest is not None:
        rows.append(("oldest reading", _day(totals.oldest)))
    return rows


_WORDS = {
    CoverageState.READ: "read to the end",
    CoverageState.STALE: "read too long ago",
    CoverageState.CUT_SHORT: "cut short",
    CoverageState.BLOCKED: "blocked",
    CoverageState.UNREAD: "not read yet",
}


def render_file(covered: Covered, kind: str) -> str:
    """The coverage as a file: svg, html or geojson. KML, which has prospects too, is made by `kml`."""
    title, tiles = f"Coverage of {covered.campaign}, {covered.at:%Y-%m-%d}", covered.coverage.tiles
    if kind == "svg":
        return render_svg(title, tiles)
    if kind == "html":
        return render_html(title, summary_rows(covered), tiles)
    return render_geojson(tiles)


def _day(at: int) -> str:
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at)).strftime("%Y-%m-%d")
