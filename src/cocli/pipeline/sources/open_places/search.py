"""Asking the files of one source for a tile and a phrase; the answer is a capture: the rows as they are, and how far.

The copy is narrowed to the whole tile by its number; `Tile.containing` then says which rows lie in the tile that was
asked for, so that every business lies in exactly one. A row with categories is found by them. A row without any is
found by the words of its name, and so is everything where the table does not know the phrase.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from cocli.documents import Blob, Document, DocumentSource
from cocli.errors import SourceError, SourceMissing
from cocli.formats.usv_sql import quote_text
from cocli.keys.tile import Tile
from cocli.pipeline.sources.capture import Capture, FileEdition, Reach
from cocli.pipeline.sources.categories import Meaning, like_pattern
from cocli.pipeline.sources.open_places.kind import ROWS_BLOB
from cocli.pipeline.sources.open_places.library import edition_at, editions, files_at
from cocli.pipeline.sources.open_places.tiles import Box, tile_number, tile_of_number
from cocli.pipeline.sources.phrase_words import words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cocli.pipeline.sources.categories import Categories
    from cocli.pipeline.sources.open_places.kind import OpenFileKind
    from cocli.pipeline.sources.open_places.source_file import AddedFile

NDJSON = "application/x-ndjson"
_FETCHED_AT_ONCE = 2000
_COUNTED_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class FoundRow:
    id: str
    lat: float
    lon: float
    raw: str


class OpenPlaces:
    """The added files of one source, ready to be asked. Close it afterwards, or use it as a context."""

    def __init__(self, kind: OpenFileKind, files: Sequence[AddedFile], categories: Categories, *, account: str) -> None:
        """`files` are those of the source, the newest data first, as `Library.files` has them."""
        if not files:
            raise SourceMissing(source=kind.name)
        from cocli.pipeline.sources.open_places.session import reading_connection

        self.kind = kind
        self.files = tuple(files)
        self._categories = categories
        self._account = account
        self._connection = reading_connection([file.copy for file in files])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    # --- asking

    def find(self, tile: Tile, phrase: str) -> Capture:
        """All rows of a tile that a phrase asks for."""
        meaning = self.meaning(phrase)
        reach, reason = self.reach(tile)
        rows = self.rows(tile, meaning) if reach != "blocked" else []
        edition = self.edition(tile)
        document = self._document(tile, meaning, rows, edition)
        return Capture(document, reach, reason, edition, meaning.digest, self._seen(tile, reach))

    def meaning(self, phrase: str) -> Meaning:
        return self._categories.meaning(phrase, self.kind.name)

    def edition(self, tile: Tile) -> FileEdition | None:
        """What the files have of a tile; None where none of them reaches it."""
        return edition_at(self.files, tile)

    def reach(self, tile: Tile) -> tuple[Reach, str | None]:
        """Whether the files cover a tile. Outside of them nothing is known, which is not the same as nothing there."""
        if any(file.about.covers_tile(tile) for file in self.files):
            return "exhausted", None
        if any(file.about.touches_tile(tile) for file in self.files):
            return "cut_short", f"the files of {self.kind.name} cover only a part of the tile {tile}"
        return "blocked", f"no file of {self.kind.name} covers the tile {tile}"

    def _seen(self, tile: Tile, reach: Reach) -> Box | None:
        """The tile itself where a file has all of it, else what the newest of the files that reach it has."""
        if reach == "exhausted":
            return Box.of_tiles([tile])
        return next((file.about.reach_box for file in self.files if file.about.touches_tile(tile)), None)

    def rows(self, tile: Tile, meaning: Meaning) -> list[FoundRow]:
        """The rows of a tile, in the order of their ids; of a row in several files the newest."""
        found: dict[str, list[FoundRow]] = {}
        for file in files_at(self.files, tile):
            here: dict[str, list[FoundRow]] = {}
            for row in self._rows_of(file, tile, meaning):
                here.setdefault(row.id, []).append(row)
            found = here | found
        return [row for identity in sorted(found) for row in found[identity]]

    def expected(self, tiles: Iterable[Tile], phrase: str) -> dict[Tile, int]:
        """How many places of a phrase the files have in each of some tiles; tiles that no file covers are left out."""
        meaning = self.meaning(phrase)
        wanted = [tile for tile in dict.fromkeys(tiles) if self.reach(tile)[0] == "exhausted"]
        whole = [tile for tile in wanted if tile.size == Tile.WHOLE]
        counts = {tile: len(self.rows(tile, meaning)) for tile in wanted if tile.size != Tile.WHOLE}
        if len(self.files) > 1 or meaning.by == "words":
            return counts | {tile: len(self.rows(tile, meaning)) for tile in whole}
        for start in range(0, len(whole), _COUNTED_AT_ONCE):
            some = whole[start : start + _COUNTED_AT_ONCE]
            counts |= dict.fromkeys(some, 0) | self._counted(some, meaning)
        return counts

    def total(self, meaning: Meaning) -> int:
        """How many rows of all files match, wherever they lie."""
        return sum(sum(1 for _ in self._matching(file, "true", meaning, "''")) for file in self.files)

    # --- SQL

    def _counted(self, tiles: Sequence[Tile], meaning: Meaning) -> dict[Tile, int]:
        numbers = ", ".join(str(tile_number(tile)) for tile in tiles)
        counts: dict[Tile, int] = {}
        for row in self._matching(self.files[0], f"tile IN ({numbers})", meaning, "''"):
            tile = tile_of_number(row[0])
            counts[tile] = counts.get(tile, 0) + 1
        return counts

    def _rows_of(self, file: AddedFile, tile: Tile, meaning: Meaning) -> Iterator[FoundRow]:
        for _, lat, lon, identity, raw in self._matching(file, f"tile = {tile_number(tile)}", meaning, "raw"):
            if Tile.containing(lat, lon, tile.size) == tile:
                yield FoundRow(identity, lat, lon, raw)

    def _matching(self, file: AddedFile, where: str, meaning: Meaning, raw: str) -> Iterator[tuple[Any, ...]]:
        """`tile, lat, lon, id, raw` of the rows that a phrase asks for. `raw` is what stands in that column."""
        condition = f"{where} AND ({category_condition(meaning)})"
        sql = (
            f"SELECT tile, lat, lon, id, {raw} AS raw, name, terms FROM read_parquet({quote_text(file.copy)})"  # noqa: S608
            f" WHERE {condition} ORDER BY id, raw"
        )
        with _mapped_errors(file):
            cursor = self._connection.cursor()
            cursor.execute(sql)
            while some := cursor.fetchmany(_FETCHED_AT_ONCE):
                yield from (row[:5] for row in some if _is_meant(meaning, row[5], row[6]))

    # --- the document

    def _document(
        self, tile: Tile, meaning: Meaning, rows: Sequence[FoundRow], edition: FileEdition | None
    ) -> Document:
        content = "".join(f"{row.raw}\n" for row in rows).encode()
        # Where no file reaches the tile, what was not found was not found in all of them.
        edition = edition or FileEdition(editions(self.files), self.files[0].about.as_of)
        release = edition.release
        identity = slice_identity(release, tile, meaning.phrase)
        source = DocumentSource(uri=f"{self.kind.name}:{identity}", mime_type=NDJSON, fetched_at=edition.as_of)
        document = Document.intake(account=self._account, connector=self.kind.name, doc=identity, source=source)
        about = {
            "source": self.kind.name,
            "edition": release,
            "tile": str(tile),
            "phrase": meaning.phrase,
            "matched_by": meaning.by,
            "categories": list(meaning.categories),
            "licence": self.kind.licence.name,
            "attribution": self.kind.licence.attribution,
            "count": len(rows),
            "files": [_file_data(file) for file in self.files],
        }
        if meaning.taken:
            about["taken"] = meaning.taken
        country = next((file.about.country for file in self.files if file.about.country), None)
        if country:
            about["country"] = country
        return document.with_data(self.kind.name, about).with_blob(ROWS_BLOB, Blob.of(content, NDJSON))


def category_condition(meaning: Meaning) -> str:
    """What SQL can say of a phrase: a row has one of its categories, or none at all (then its name decides)."""
    if meaning.by == "words":
        return "true"
    plain = [category for category in meaning.categories if "*" not in category and "&" not in category]
    parts = ["len(terms) = 0"]
    if plain:
        parts.append(f"list_has_any(terms, [{', '.join(map(quote_text, plain))}])")
    parts += [
        " AND ".join(_has_term(term.strip()) for term in category.split("&"))
        for category in meaning.categories
        if category not in plain
    ]
    return " OR ".join(f"({part})" for part in parts)


def _has_term(category: str) -> str:
    pattern = like_pattern(category)
    if pattern is None:
        return f"list_contains(terms, {quote_text(category)})"
    return f"len(list_filter(terms, lambda term: term LIKE {quote_text(pattern)} ESCAPE '\\')) > 0"


def _is_meant(meaning: Meaning, name: str, terms: Sequence[str]) -> bool:
    if meaning.by == "categories" and terms:
        return True
    return meaning.words <= words_of(" ".join([name, *terms])) and bool(meaning.words)


def _file_data(file: AddedFile) -> dict[str, str]:
    about = file.about
    data = {"filename": about.filename, "sha256": about.sha256, "release": about.release, "origin": about.origin}
    return {name: value for name, value in data.items() if value}


def slice_identity(release: str, tile: Tile, phrase: str) -> str:
    """The id of the document that holds what an edition has of a tile for a phrase. In an id, `|` separates."""
    escaped = phrase.replace("%", "%25").replace("|", "%7C")
    return f"{release}/{tile}/{escaped}"


@contextmanager
def _mapped_errors(file: AddedFile) -> Iterator[None]:
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        reason = f"its copy cannot be read: {str(error).partition(chr(10))[0]}"
        hint = f"Remove it with: cocli source rm {file.about.id}, and add the file again."
        raise SourceError(source=file.about.id, reason=reason, hint=hint) from error
