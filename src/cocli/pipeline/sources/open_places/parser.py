"""From a document to places: a pure function, so that it can be run again over what was captured."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from cocli.errors import DocumentInvalid, RecordError, UnusableRow
from cocli.keys.tile import Tile
from cocli.pipeline.sources.capture import FileEdition
from cocli.pipeline.sources.categories import Meaning
from cocli.pipeline.sources.open_places.kind import ROWS_BLOB, FileSighting, OpenFileKind
from cocli.pipeline.sources.open_places.values import country_code, mapping, text
from cocli.pipeline.sources.phrase_words import meant_words, words_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cocli.documents import Document
    from cocli.models.place import Place


@dataclass(frozen=True, slots=True)
class Parsed:
    """The places of a document, and the rows of it that are none: (number of the row, reason)."""

    places: list[Place]
    problems: list[tuple[int, str]]


def parse_rows(document: Document, kind: OpenFileKind) -> Parsed:
    """The places that a document of open places holds, in its order, and what was left out."""
    sighting = _sighting(document)
    blob = document.blobs.get(ROWS_BLOB)
    if blob is None:
        raise DocumentInvalid(doc=document.doc, reason=f"it has no blob called {ROWS_BLOB}")
    places: list[Place] = []
    problems: list[tuple[int, str]] = []
    for number, line in enumerate(blob.content.split(b"\n"), 1):
        if line:
            try:
                places.append(_place(line, kind, sighting))
            except (UnusableRow, RecordError) as error:
                problems.append((number, error.message))
    return Parsed(places, problems)


def slice_edition(document: Document) -> FileEdition:
    """Which edition of its files a slice was cut from."""
    release = text(_about(document).get("edition"))
    if release is None or document.source.fetched_at is None:
        raise DocumentInvalid(doc=document.doc, reason="it does not say which edition of its source it was cut from")
    return FileEdition(release, document.source.fetched_at)


def slice_meaning(document: Document) -> str:
    """What a slice was cut out for, as `Meaning.digest` has it."""
    about = _about(document)
    phrase = text(about.get("phrase")) or ""
    by: Literal["categories", "words"] = "categories" if about.get("matched_by") == "categories" else "words"
    categories = tuple(map(str, about.get("categories") or ()))
    taken = text(about.get("taken"))
    words = meant_words(phrase) if by == "words" else words_of(taken or phrase)
    return Meaning(phrase, document.connector, by, categories, words).digest


def _about(document: Document) -> Mapping[str, Any]:
    return mapping(dict(document.data.get(document.connector, {})))


def _place(line: bytes, kind: OpenFileKind, sighting: FileSighting) -> Place:
    try:
        row = json.loads(line, parse_constant=lambda _name: None)
    except (ValueError, RecursionError) as error:
        raise UnusableRow(row="?", reason=f"it is not JSON: {error}") from error
    if not isinstance(row, dict):
        raise UnusableRow(row="?", reason="it is not a JSON object")
    return kind.place(row, sighting)


def _sighting(document: Document) -> FileSighting:
    about = _about(document)
    if document.source.fetched_at is None:
        raise DocumentInvalid(doc=document.doc, reason="it does not say when its source said this")
    lat, _, lon = (text(about.get("tile")) or "").partition("_")
    return FileSighting(
        observed_at=document.source.fetched_at,
        document=document.uuid,
        phrase=text(about.get("phrase")),
        tile=Tile.parse(lat, lon) if lat else None,
        country=country_code(about.get("country")),
    )
