"""`cocli campaign coverage`: what was read of a plan, as a table, as JSON, and as maps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocli.cli.campaign.kml import KmlContent, WhatOption
from cocli.cli.kit.context import Call
from cocli.cli.kit.options import JSON, QUIET, STORE, DefaultCampaign, examples, shared

if TYPE_CHECKING:
    from cocli.app.campaigns.coverage import Covered
    from cocli.cli.kit.output import Output

app = typer.Typer()

_Ttl = Annotated[
    str | None,
    typer.Option("--ttl", metavar="AGE", help="What is older counts as stale: 30d, 12h, 8w.", show_default="90d"),
]
_Phrase = Annotated[str | None, typer.Option("--query", metavar="TEXT", help="Only this phrase.", show_default=False)]
_Targets = Annotated[bool, typer.Option("--targets", help="List the targets one by one.")]
_Limit = Annotated[int, typer.Option("--limit", metavar="N", help="List at most N targets; 0 lists all.", min=0)]


def _file(kind: str, words: str) -> Any:
    return typer.Option(f"--{kind}", metavar="FILE", help=f"Also write {words} into FILE.", show_default=False)


@app.command(
    epilog=examples(
        "cocli campaign coverage plumbers",
        "cocli campaign coverage plumbers --targets --limit 0 --json",
        "cocli campaign coverage plumbers --html coverage.html --kml coverage.kml",
    )
)
@shared(STORE, JSON, QUIET)
def coverage(
    call: Call,
    name: DefaultCampaign,
    ttl: _Ttl = None,
    query: _Phrase = None,
    targets: _Targets = False,
    limit: _Limit = 50,
    html: Annotated[str | None, _file("html", "a page with the map")] = None,
    svg: Annotated[str | None, _file("svg", "the map")] = None,
    kml: Annotated[str | None, _file("kml", "the tiles and the prospects as KML")] = None,
    what: WhatOption = KmlContent.BOTH,
    geojson: Annotated[str | None, _file("geojson", "the tiles as GeoJSON")] = None,
) -> None:
    """Say how much of the plan was read: to the end, cut short, blocked, too long ago, not yet; and what is missing.

    The missing businesses are estimated from tiles that a source has read twice. The maps open without a network. The
    KML file is for Google Earth, My Maps and the like: tiles coloured by what was read, prospects by how to reach them.
    """
    from cocli.app.campaigns.coverage import measure_coverage, render_file
    from cocli.app.campaigns.kml import What, kml_to_file
    from cocli.app.campaigns.mission import DEFAULT_AGE, parse_age
    from cocli.app.indexes.indexes import campaign_indexes, needed_campaign
    from cocli.cli.kit.progress import ProgressLine

    output = call.output
    age = DEFAULT_AGE if ttl is None else parse_age(ttl)
    with call.workspace() as workspace, ProgressLine(output, "targets") as progress:
        indexes = campaign_indexes(workspace, name)
        covered = measure_coverage(
            indexes, needed_campaign(indexes), age=age, phrase=query, limit=limit, progress=progress
        )
        files = {"html": html, "svg": svg, "geojson": geojson}
        written = {kind: _write(path, render_file(covered, kind)) for kind, path in files.items() if path is not None}
        if kml is not None:
            written["kml"] = kml_to_file(indexes, What(what.value), kml, progress, covered).path
    if output.as_json:
        output.document(_document(covered, written))
        return
    _show(output, covered, targets=targets)
    for path in written.values():
        output.talk(f"Wrote {path}.")


def _write(path: str, text: str) -> str:
    from cocli.app.whole_file import absolute, whole_file

    with whole_file(path) as file:
        file.write(text.encode())
    return absolute(path)


def _document(covered: Covered, written: dict[str, str]) -> dict[str, Any]:
    from dataclasses import asdict

    from cocli.app.campaigns.coverage import age_days, population_document, totals_document

    now, coverage = covered.at, covered.coverage
    pairs = [
        {
            "tile": pair.tile,
            "phrase": pair.phrase,
            "source": pair.source,
            "state": pair.state,
            "found": pair.found,
            "expected": pair.expected,
            "missing": None if pair.population is None else round(pair.population.missing, 1),
            "age_days": age_days(pair.read_at, now),
        }
        for pair in covered.pairs
    ]
    overlaps = [
        asdict(overlap) | {"population": population_document(overlap.population, 1)} for overlap in covered.overlaps
    ]
    return {
        "campaign": covered.campaign,
        "at": now,
        "since": covered.since,
        "sources": covered.sources,
        "totals": totals_document(coverage.totals, now),
        "phrases": [totals_document(totals, now) for totals in coverage.phrases.values()],
        "overlaps": overlaps,
        "pairs": pairs,
        "truncated": covered.truncated,
        "written": written,
    }


def _show(output: Output, covered: Covered, *, targets: bool) -> None:
    from cocli.app.campaigns.coverage import age_days, summary_rows
    from cocli.pipeline.plan.coverage import CoverageState

    output.table(("coverage", "value"), summary_rows(covered), right=("value",))
    columns = (
        "phrase",
        *(state.value.replace("_", " ") for state in CoverageState),
        "read share",
        "found",
        "expected",
        "missing",
    )
    rows = []
    for totals in covered.coverage.phrases.values():
        population = totals.population
        expected = totals.expected if totals.expected_pairs else None
        missing = None if population is None else f"{population.missing:.0f}"
        states = (totals.states[state] for state in CoverageState)
        read_share = f"{totals.share(CoverageState.READ):.1%}"
        rows.append((totals.name, *states, read_share, totals.found, expected, missing))
    output.text("\n")
    output.table(columns, rows, right=columns[1:])
    if targets:
        shown = ("tile", "phrase", "source", "state", "found", "expected", "missing", "age in days")
        output.text("\n")
        output.table(
            shown,
            [
                (
                    pair.tile,
                    pair.phrase,
                    pair.source,
                    pair.state.value,
                    pair.found,
                    pair.expected,
                    None if pair.population is None else f"{pair.population.missing:.1f}",
                    age_days(pair.read_at, covered.at),
                )
                for pair in covered.pairs
            ],
            right=shown[4:],
        )
        if covered.truncated:
            output.talk(f"The first {len(covered.pairs)}; there are more: --limit 0 lists all.")
    if covered.coverage.totals.share(CoverageState.READ) < 1:
        output.hint(f"cocli campaign plan {covered.campaign} --queue --dry-run")
