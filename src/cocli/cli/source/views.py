"""How `cocli source` shows what it found: tables for people, documents for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cocli.cli.kit.output import count_shown, size_shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cocli.app.sources.sources import PhraseMeaning
    from cocli.cli.kit.output import Output
    from cocli.pipeline.sources.open_places.library import Addition
    from cocli.pipeline.sources.open_places.sorted_copy import BuiltCopy
    from cocli.pipeline.sources.open_places.source_file import AddedFile, BadRow
    from cocli.pipeline.sources.source import Source

_SHOWN_CATEGORIES = 6


def file_document(file: AddedFile) -> dict[str, Any]:
    about = file.about
    return {
        "id": about.id,
        "source": about.source,
        "filename": about.filename,
        "origin": about.origin,
        "sha256": about.sha256,
        "bytes": about.size,
        "copy_bytes": about.copy_bytes,
        "release": about.release,
        "rows": about.rows,
        "places": about.places,
        "unnamed": about.unnamed,
        "bad": about.bad,
        "bad_rows": _bad_rows(about.bad_rows),
        "covers": str(about.reach_box) if about.reach_box else None,
        "covers_declared": about.covers is not None,
        "country": about.country,
        "licence": about.licence,
        "attribution": about.attribution,
        "as_of": about.as_of,
        "added_at": about.added_at,
        "path": file.copy,
    }


def source_document(source: Source) -> dict[str, Any]:
    return {
        "source": source.name,
        "title": source.title,
        "licence": source.licence.name,
        "attribution": source.licence.attribution,
        "link": source.licence.link,
        "rank": source.rank.page,
        "reads_files": source.reads_files,
        "is_asked": source.is_asked,
    }


def built_document(built: BuiltCopy) -> dict[str, Any]:
    return {
        "source": built.source,
        "rows": built.rows,
        "places": built.places,
        "unnamed": built.unnamed,
        "bad": built.bad,
        "bad_rows": _bad_rows(built.bad_rows),
        "covers": str(built.bounds) if built.bounds else None,
        "licence": built.kind.licence.name,
        "attribution": built.kind.licence.attribution,
    }


def meaning_document(meaning: PhraseMeaning) -> dict[str, Any]:
    return {
        "source": meaning.source,
        "matched_by": meaning.by,
        "categories": list(meaning.categories),
        "words": list(meaning.words),
        "taken": meaning.taken,
        "files": meaning.files,
        "found": meaning.found,
    }


def _bad_rows(rows: Iterable[BadRow]) -> list[dict[str, Any]]:
    return [{"row": row.row, "reason": row.reason} for row in rows]


def show_addition(output: Output, added: Addition) -> None:
    about = added.file.about
    output.line(about.id)
    if not added.created:
        output.talk("It was added before.")
    output.talk(f"{about.source}: {_counts(about.rows, about.places, about.unnamed, about.bad)}")
    output.talk(f"It covers {about.reach_box}{'' if about.covers else ', judged by its places (--covers sets it)'}.")
    output.talk(f"Licence: {about.licence}. {about.attribution}")
    _show_bad(output, about.bad_rows, about.bad)


def show_built(output: Output, built: BuiltCopy) -> None:
    columns = ("source", "rows", "places", "unnamed", "unusable", "covers")
    row = (built.source, built.rows, built.places, built.unnamed, built.bad, built.bounds)
    output.table(columns, [row], right=("rows", "places", "unnamed", "unusable"))
    output.talk(f"Licence: {built.kind.licence}")
    _show_bad(output, built.bad_rows, built.bad)


def _show_bad(output: Output, rows: Sequence[BadRow], count: int) -> None:
    for row in rows:
        output.talk(f"row {row.row}: {row.reason}")
    if count > len(rows):
        output.talk(f"… and {count - len(rows):,} more.")


def _counts(rows: int, places: int, unnamed: int, bad: int) -> str:
    parts = [f"{count_shown(rows, 'row')}, {count_shown(places, 'place')}"]
    parts += [f"{unnamed:,} without a name"] if unnamed else []
    parts += [f"{bad:,} unusable"] if bad else []
    return ", ".join(parts) + "."


def show_sources(output: Output, sources: Sequence[Source]) -> None:
    rows = [(source.name, source.licence.name, source.licence.attribution, source.licence.link) for source in sources]
    output.table(("source", "licence", "name with its data", "terms"), rows)


def show_files(output: Output, files: Sequence[AddedFile]) -> None:
    columns = ("id", "source", "file", "release", "places", "covers", "copy", "as of")
    rows = [
        (
            file.about.id,
            file.about.source,
            file.about.filename,
            file.about.release,
            f"{file.about.places:,}",
            file.about.reach_box,
            size_shown(file.about.copy_bytes),
            file.about.as_of,
        )
        for file in files
    ]
    output.table(columns, rows, right=("places", "copy"))


def show_meanings(output: Output, meanings: Sequence[PhraseMeaning]) -> None:
    rows = [
        (meaning.source, meaning.by, _asked(meaning), "no file" if meaning.found is None else f"{meaning.found:,}")
        for meaning in meanings
    ]
    output.table(("source", "matched by", "asks for", "found here"), rows, right=("found here",))


def _asked(meaning: PhraseMeaning) -> str:
    several = meaning.categories or meaning.words
    shown = ", ".join(several[:_SHOWN_CATEGORIES])
    left = len(several) - _SHOWN_CATEGORIES
    return f"{shown} … and {left} more" if left > 0 else shown
