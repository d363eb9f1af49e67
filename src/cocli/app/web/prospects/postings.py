"""An index in three files that a browser reads by ranges: words, the rows of each, and the rows themselves.

`terms` is a sorted dictionary in blocks, `postings` the row numbers of each term in the same order, `rows` the lines in
blocks of 64. Every block is deflated by itself, because ranges and `Content-Encoding` do not mix. A term is a word, or

- `\x01FACET=VALUE` and `\x01has=COLUMN`: the rows that a filter leaves;
- `\x02BEGINNING`: the rows of all words that begin so, where those are too many to be read one by one.

A block of terms: varint offset of its postings, varint count of chunks, for each chunk varint bytes (deflated) and
varint terms; then for each term varint bytes shared with the one before, varint and bytes of the rest, varint rows,
varint bytes of its postings. Postings are varints: each row's distance from the one before.
"""

from __future__ import annotations

import os
import tempfile
import zlib
from array import array
from collections.abc import Iterator  # noqa: TC003  a NamedTuple's annotations are read when it is made
from functools import cache
from operator import sub
from typing import TYPE_CHECKING, Any, NamedTuple

from cocli.app.search.ranking import fold
from cocli.app.web.prospects.folding import ordered, word_text
from cocli.app.web.prospects.matches import rating_of, row_words
from cocli.app.web.prospects.tables import seconds_of
from cocli.app.web.prospects.view import FACETS, POSITION, PRESENCES
from cocli.formats import json_records

if TYPE_CHECKING:
    from cocli.app.web.prospects.files import NamedFiles
    from cocli.app.web.prospects.tables import ProspectTable

ROWS_OF_A_BLOCK = 64
_TERM_BLOCK = 40_000
_CHUNK = 24_000
_CROWD = 4_000
"""A beginning that more words have than this gets postings of its own."""
_LONGEST_BEGINNING = 6
_LEVEL = 6
_BETWEEN = "\x1f"
_MEMORY = "700MB"
_FETCHED = 20_000
_SHORT = 0x4000
"""Numbers below are varints of one or two bytes, and are looked up."""
_BEGINNINGS = """
INSERT INTO beginnings
SELECT $length * 100000 + row_number() OVER (), beginning FROM (
    SELECT left(term, $length) AS beginning FROM vocabulary WHERE length(term) >= $length
    GROUP BY 1 HAVING count(*) > $crowd
)
"""
_CROWDED = """
INSERT INTO crowds
SELECT DISTINCT number, beginnings.id
FROM words JOIN beginnings ON left(words.term, $length) = beginnings.beginning AND length(words.term) >= $length
WHERE length(beginnings.beginning) = $length
"""
_POSTINGS = """
SELECT * FROM (
    SELECT term, list(number ORDER BY number) FROM words GROUP BY term
    UNION ALL
    SELECT chr(2) || any_value(beginning), list(number ORDER BY number)
    FROM crowds JOIN beginnings USING (id) GROUP BY id
) ORDER BY 1
"""


class Posting(NamedTuple):
    """A term with the rows that have it."""

    term: str
    rows: list[int]


def write_index(table: ProspectTable, files: NamedFiles) -> dict[str, Any]:
    """Write the files; what the manifest says of them."""
    with tempfile.TemporaryDirectory(prefix="cocli-postings-") as folder:
        dictionary = _Dictionary(folder)
        for posting in _postings(table, folder):
            dictionary.add(posting)
        dictionary.finish()
        return {
            "terms": {"file": files.take("terms", "bin", dictionary.terms_path), "blocks": dictionary.blocks},
            "postings": files.take("postings", "bin", dictionary.postings_path),
            "rows": _write_rows(table, files, folder),
            "columns": _write_columns(table, files),
        }


# --- postings


def _postings(table: ProspectTable, folder: str) -> Iterator[Posting]:
    """Terms in the order of their bytes. DuckDB sorts: it needs no more memory than it is given."""
    import duckdb

    path = os.path.join(folder, "words.tsv")
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        terms = _Terms(table)
        for number, row in enumerate(table.rows):
            file.write(f"{number}\t{_BETWEEN.join(terms.of(row))}\n")
    with duckdb.connect(":memory:", config={"memory_limit": _MEMORY, "temp_directory": folder}) as connection:
        connection.execute("SET enable_progress_bar = false")  # a terminal is not ours here
        connection.execute(
            "CREATE TABLE words AS SELECT number, unnest(string_split(terms, chr(31))) AS term FROM read_csv(?, "
            "delim='\t', header=false, quote='', escape='', max_line_size=20000000, "
            "columns={'number': 'UINTEGER', 'terms': 'VARCHAR'})",
            [path],
        )
        connection.execute("CREATE TABLE vocabulary AS SELECT DISTINCT term FROM words WHERE term[1] > chr(2)")
        connection.execute("CREATE TABLE beginnings (id UINTEGER, beginning VARCHAR)")
        connection.execute("CREATE TABLE crowds (number UINTEGER, id UINTEGER)")
        for length in range(1, _LONGEST_BEGINNING + 1):
            connection.execute(_BEGINNINGS, {"length": length, "crowd": _CROWD})
            connection.execute(_CROWDED, {"length": length})
        answer = connection.execute(_POSTINGS)
        while lot := answer.fetchmany(_FETCHED):
            for term, rows in lot:
                yield Posting(term, rows)


class _Terms:
    """The terms of each row. What many rows have in common is made once."""

    def __init__(self, table: ProspectTable) -> None:
        self._searched = table.searched
        self._phone = table.names.index("phone") if "phone" in table.names else None
        self._facets = [(facet, table.names.index(FACETS[facet])) for facet in table.facets()]
        self._of_cell: dict[tuple[str, str], list[str]] = {}
        needed = {name: ("lat", "lon") if name == POSITION else (name,) for name in PRESENCES}
        self._of_filled: dict[tuple[bool, ...], list[str]] = {}
        self._has = [
            (filter_term("has", name), [table.names.index(column) for column in columns])
            for name, columns in needed.items()
            if set(columns) <= set(table.names)
        ]

    def of(self, row: list[str]) -> Iterator[str]:
        """Folded as one text: words are the same as those of each cell."""
        phone = {"phone": row[self._phone]} if self._phone is not None else {}
        yield from row_words(phone, word_text("\t".join(row[: self._searched])))
        for facet, place in self._facets:
            if row[place]:
                yield from self._filters(facet, row[place])
        yield from self._presences(tuple(map(bool, row)))

    def _presences(self, filled: tuple[bool, ...]) -> list[str]:
        known = self._of_filled.get(filled)
        if known is None:
            known = [term for term, places in self._has if all(filled[place] for place in places)]
            self._of_filled[filled] = known
        return known

    def _filters(self, facet: str, cell: str) -> list[str]:
        known = self._of_cell.get((facet, cell))
        if known is None:
            known = [filter_term(facet, value) for value in dict.fromkeys(cell.split(_BETWEEN))]
            self._of_cell[facet, cell] = known
        return known


def filter_term(name: str, value: str) -> str:
    return f"\x01{name}={value}"


class _Dictionary:
    """Writes terms and postings side by side."""

    def __init__(self, folder: str) -> None:
        self.terms_path = os.path.join(folder, "terms")
        self.postings_path = os.path.join(folder, "postings")
        self.blocks: list[list[str | int]] = []
        self._terms = open(self.terms_path, "wb")  # noqa: SIM115  closed by `finish`
        self._postings = open(self.postings_path, "wb")  # noqa: SIM115
        self._begin()

    def _begin(self) -> None:
        self._first: str | None = None
        self._before = b""
        self._entries = bytearray()
        self._chunk = bytearray()
        self._in_chunk = 0
        self._chunks: list[tuple[int, int]] = []
        self._offset = self._postings.tell()

    def add(self, posting: Posting) -> None:
        if self._first is None:
            self._first = posting.term
        word, encoded = posting.term.encode(), _encoded(posting.rows)
        shared = _shared(self._before, word)
        rest, rows = len(word) - shared, len(posting.rows)
        if max(shared, rest, rows, len(encoded)) < 0x80:  # of most words: a varint is the byte itself
            self._entries += b"%c%c%b%c%c" % (shared, rest, word[shared:], rows, len(encoded))
        else:
            self._entries += varint(shared) + varint(rest) + word[shared:] + varint(rows) + varint(len(encoded))
        self._before = word
        self._chunk += encoded
        self._in_chunk += 1
        if len(self._chunk) >= _CHUNK:
            self._end_chunk()
        if len(self._entries) >= _TERM_BLOCK:
            self._end_block()

    def _end_chunk(self) -> None:
        if self._in_chunk:
            self._chunks.append((self._postings.write(deflated(bytes(self._chunk))), self._in_chunk))
            self._chunk, self._in_chunk = bytearray(), 0

    def _end_block(self) -> None:
        self._end_chunk()
        if self._first is None:
            return
        head = varint(self._offset) + varint(len(self._chunks))
        for size, terms in self._chunks:
            head += varint(size) + varint(terms)
        begin = self._terms.tell()
        self.blocks.append([self._first, begin, self._terms.write(deflated(head + bytes(self._entries)))])
        self._begin()

    def finish(self) -> None:
        self._end_block()
        self._terms.close()
        self._postings.close()


def _shared(one: bytes, other: bytes) -> int:
    """So many bytes both begin with."""
    least = min(len(one), len(other))
    for place in range(least):
        if one[place] != other[place]:
            return place
    return least


def _encoded(rows: list[int]) -> bytes:
    """Distances as varints. Most are small: then a byte each, made in one call."""
    if len(rows) == 1:
        return varint(rows[0])
    distances = [rows[0], *map(sub, rows[1:], rows)]
    if max(distances) < 0x80:
        return bytes(distances)
    short = _short_varints()
    return b"".join([short[distance] if distance < _SHORT else varint(distance) for distance in distances])


@cache
def _short_varints() -> list[bytes]:
    return [varint(number) for number in range(_SHORT)]


def varint(number: int) -> bytes:
    if number < 0x80:
        return bytes((number,))
    made = bytearray()
    while number >= 0x80:
        made.append(number & 0x7F | 0x80)
        number >>= 7
    made.append(number)
    return bytes(made)


def deflated(data: bytes) -> bytes:
    """Raw deflate, as `DecompressionStream("deflate-raw")` reads it."""
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


# --- rows and columns


def _write_rows(table: ProspectTable, files: NamedFiles, folder: str) -> dict[str, Any]:
    path, lengths = os.path.join(folder, "rows"), array("I")
    with open(path, "wb") as file:
        for begin in range(0, len(table.rows), ROWS_OF_A_BLOCK):
            lines = "\n".join(map(table.line, table.rows[begin : begin + ROWS_OF_A_BLOCK]))
            lengths.append(file.write(deflated(lines.encode("utf-8", "replace"))))
    return {
        "file": files.take("rows", "bin", path),
        "lengths": files.put("rows", "bin", deflated(_little(lengths))),
        "block": ROWS_OF_A_BLOCK,
    }


def _write_columns(table: ProspectTable, files: NamedFiles) -> dict[str, Any]:
    """Each column by which is counted or sorted: a number for each row, in a file of its own."""
    made = {facet: _write_facet(table, facet, files) for facet in table.facets()}
    for name, value in (("rating", rating_of), ("reviews", _reviews), ("updated", _updated)):
        if name in table.names:
            place = table.names.index(name)
            numbers = {cell: value({name: cell}) + 1 for cell in {row[place] for row in table.rows}}  # 0: none
            codes = array("I", (numbers[row[place]] for row in table.rows))
            made[name] = {"codes": files.put("columns", "bin", deflated(_little(codes)))}
    return made


def _write_facet(table: ProspectTable, facet: str, files: NamedFiles) -> dict[str, Any]:
    """A cell's number stands for all values of the cell. Numbers are in the order of the folded texts; 0 is none."""
    place = table.names.index(FACETS[facet])
    cells = sorted(
        {row[place] for row in table.rows if row[place]}, key=lambda cell: (ordered(fold(cell)), ordered(cell))
    )
    numbers = {cell: number for number, cell in enumerate(cells, 1)} | {"": 0}
    codes = array("I", (numbers[row[place]] for row in table.rows))
    values = json_records.text(cells).encode("utf-8", "replace")
    return {
        "codes": files.put("columns", "bin", deflated(_little(codes))),
        "values": files.put("columns", "bin", deflated(values)),
    }


def _reviews(cells: dict[str, str]) -> int:
    return int(cells["reviews"] or -1)


def _updated(cells: dict[str, str]) -> int:
    return seconds_of(cells["updated"]) if cells["updated"] else -1


def _little(numbers: array[int]) -> bytes:
    import sys

    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()
