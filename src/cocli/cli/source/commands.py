"""`cocli source`: add, ls, rm, check, fetch, categories."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import (
    CAMPAIGN,
    DRY_RUN,
    JSON,
    QUIET,
    STORE,
    YES,
    command_group,
    examples,
    shared,
)

app = command_group("Files of open places: add them, load them, see what a phrase finds in them.")


def _complete_kind(incomplete: str) -> list[str]:
    from cocli.pipeline.sources.registry import file_names

    return [name for name in file_names() if name.startswith(incomplete)]


def _complete_download(incomplete: str) -> list[str]:
    from cocli.pipeline.sources.registry import download_names

    return [name for name in download_names() if name.startswith(incomplete)]


FileArgument = Annotated[
    str, typer.Argument(metavar="FILE", help="Parquet, GeoJSON, Overpass JSON, JSON lines; gz, zip.")
]
AsOption = Annotated[
    str | None,
    typer.Option(
        "--as",
        metavar="SOURCE",
        help="The source of the file, if it is not recognised: a name that `cocli source ls` lists.",
        autocompletion=_complete_kind,
        show_default=False,
    ),
]
ReleaseOption = Annotated[
    str | None,
    typer.Option(
        "--release", metavar="RELEASE", help="The release of the data, such as 2026-01-21.0.", show_default=False
    ),
]


@app.command(
    epilog=examples(
        "cocli source add utrecht.geojson",
        "cocli source add places.parquet --as overture --release 2026-01-21.0 --covers 5.0,52.0,5.3,52.2",
        "cocli source add shops.geojson --country CH",
    )
)
@shared(JSON, QUIET)
def add(
    call: Call,
    file: FileArgument,
    as_: AsOption = None,
    release: ReleaseOption = None,
    covers: Annotated[
        str | None,
        typer.Option(
            "--covers",
            metavar="W,S,E,N",
            help="The box that the file covers completely. [default: the tiles between its outermost places]",
            show_default=False,
        ),
    ] = None,
    country: Annotated[
        str | None,
        typer.Option(
            "--country",
            metavar="CC",
            help="The country of phone numbers without a prefix, for rows that name no country.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Add a file of places. Its schema is recognised, its rows are checked, and a copy sorted by tile is made.

    The file itself is not needed afterwards. Adding it again changes only what the options say about it.
    """
    from cocli.app.sources.sources import FileClaims, add_source
    from cocli.cli.kit.progress import ProgressLine
    from cocli.cli.source.views import file_document, show_addition

    output = call.output
    with call.workspace() as workspace, ProgressLine(output, "rows read") as progress:
        claims = FileClaims(as_, release, covers, country)
        added = add_source(workspace, file, claims, datetime.now(UTC), progress)
    status = "added" if added.created else "already_added"
    if output.as_json:
        output.document({"status": status, "file": file_document(added.file)})
        return
    show_addition(output, added)
    output.hint("cocli source categories PHRASE")


@app.command(epilog=examples("cocli source ls", "cocli source ls --json"))
@shared(JSON, QUIET)
def ls(call: Call) -> None:
    """List the sources with their attributions, and the files that were added here, the newest data first."""
    from cocli.app.sources.sources import known_sources, list_sources
    from cocli.cli.source.views import file_document, show_files, show_sources, source_document

    output = call.output
    with call.workspace() as workspace:
        files = list_sources(workspace)
    if output.as_json:
        known = [source_document(source) for source in known_sources()]
        output.document({"files": [file_document(file) for file in files], "sources": known})
        return
    show_sources(output, known_sources())
    if files:
        show_files(output, files)
    else:
        output.talk("No file was added on this machine yet.")
        output.hint("cocli source fetch overture -c CAMPAIGN")


@app.command(epilog=examples("cocli source rm overture-3f9a", "cocli source rm utrecht.geojson --yes"))
@shared(DRY_RUN, YES, JSON, QUIET)
def rm(
    call: Call,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The file's id, the beginning of its id, or its name.")],
) -> None:
    """Remove a file that was added, with its copy. What was captured from it stays in the documents."""
    from cocli.app.sources.sources import remove_source
    from cocli.cli.kit.confirm import confirm
    from cocli.cli.source.views import file_document

    output = call.output
    with call.workspace() as workspace:
        found = remove_source(workspace, name, dry_run=True)
        question = f"Remove {found.about.id} ({found.about.filename}, {found.about.places:,} places)?"
        if not call.dry_run:
            if not confirm(output, question, yes=call.yes):
                output.talk("Nothing was removed.")
                return
            remove_source(workspace, found.about.id)
    status = "would_remove" if call.dry_run else "removed"
    if output.as_json:
        output.document({"status": status, "file": file_document(found)})
        return
    output.line(found.about.id)
    output.talk("Would be removed." if call.dry_run else "Removed.")


@app.command(epilog=examples("cocli source check places.geojson", "cocli source check rows.ndjson --as openstreetmap"))
@shared(JSON, QUIET)
def check(call: Call, file: FileArgument, as_: AsOption = None) -> None:
    """Look into a file without adding it: what it is, how many places it has, and which rows are unusable."""
    from cocli.app.sources.sources import check_source
    from cocli.cli.kit.progress import ProgressLine
    from cocli.cli.source.views import built_document, show_built

    output = call.output
    with call.workspace() as workspace, ProgressLine(output, "rows read") as progress:
        built = check_source(workspace, file, as_, progress)
    if output.as_json:
        output.document(built_document(built))
    else:
        show_built(output, built)


@app.command(
    epilog=examples(
        "cocli source fetch overture -c plumbers",
        "cocli source fetch overture --bbox 5.0,52.0,5.3,52.2",
        "cocli source fetch overture --bbox 5.0,52.0,5.3,52.2 --release 2026-01-21.0 --from ~/overture",
    )
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def fetch(
    call: Call,
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="A source that can be loaded, such as overture. Of the others, you add files yourself.",
            autocompletion=_complete_download,
        ),
    ],
    bbox: Annotated[
        str | None,
        typer.Option(
            "--bbox",
            metavar="W,S,E,N",
            help="The box to load, in degrees; widened to whole tiles. [default: around the campaign's territory]",
            show_default=False,
        ),
    ] = None,
    release: ReleaseOption = None,
    base: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="URL",
            help="A folder or an address with release/… in it, instead of Overture's own bucket.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Load the places of a box from Overture over the network, and add them. Only what is in the box is read.

    Without --release, the newest is loaded. DuckDB downloads its extension httpfs for this, once.
    """
    from cocli.app.sources.sources import check_downloadable, fetch_source, territory_box
    from cocli.cli.kit.progress import ProgressLine
    from cocli.cli.source.views import file_document, show_addition
    from cocli.errors import UsageError

    output = call.output
    check_downloadable(source)
    name = call.campaign
    with call.workspace() as workspace, ProgressLine(output, "percent loaded") as progress:
        if bbox is None:
            if name is None:
                raise UsageError(
                    reason="Which box?", hint=f"cocli source fetch {source} -c CAMPAIGN, or --bbox W,S,E,N"
                )
            bbox = str(territory_box(workspace.campaign(name)))
        added = fetch_source(workspace, source, bbox, datetime.now(UTC), release=release, base=base, progress=progress)
    if output.as_json:
        output.document({"status": "added" if added.created else "already_added", "file": file_document(added.file)})
        return
    show_addition(output, added)
    output.hint(f"cocli run {name}" if name else "cocli source categories PHRASE")


@app.command(
    epilog=examples("cocli source categories plumber", 'cocli source categories "coffee shop" -c plumbers --json')
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def categories(
    call: Call, phrase: Annotated[str, typer.Argument(metavar="PHRASE", help="What a campaign looks for.")]
) -> None:
    """Show what a phrase means to each source, and how many rows of the added files it finds.

    Words such as "near me" or "emergency" are left out, and of "pediatric dentist" the dentist is found. A phrase that
    no table knows is looked for by its words, in names and categories. The tables are
    campaigns/CAMPAIGN/categories.csv in the store, categories.csv beside the user file, and the packaged one.
    """
    from cocli.app.sources.sources import explain_phrase
    from cocli.cli.source.views import meaning_document, show_meanings

    output = call.output
    with call.workspace() as workspace:
        name = call.campaign
        meanings = explain_phrase(workspace, workspace.campaign(name) if name else None, phrase)
    if output.as_json:
        output.document({"phrase": phrase, "sources": [meaning_document(meaning) for meaning in meanings]})
        return
    show_meanings(output, meanings)
    taken = next((meaning.taken for meaning in meanings if meaning.taken), None)
    if taken is not None:
        output.talk(f'No table has "{phrase}" as it is; "{taken}" was taken for it.')
    if all(meaning.by == "words" for meaning in meanings):
        output.talk(f'No table knows "{phrase}": it is looked for by its words, in names and categories.')
