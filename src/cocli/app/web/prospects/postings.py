"""An index that a browser reads by ranges: a sorted dictionary, the rows of each term, and the rows themselves.

Every block is deflated by itself, because ranges and `Content-Encoding` do not mix. A search asks for

- the blocks of the dictionary that have the words which begin so: they lie side by side, so it is one range;
- the row numbers of these words: in the order of the dictionary, so it is one range again;
- the blocks of 64 rows that are shown.

`directory` is read when the search is opened. It says where the blocks of the dictionary are, and names the *heads*:
lists of rows that are found without the dictionary. A head is `\x02BEGINNING`, the rows of all words that begin so
where those are too many to be read one by one, or `\x01has=COLUMN`.

A block of the dictionary is varints: offset of its postings, count of chunks, for each chunk its bytes (deflated) and
its terms; for each term its rows; for each term the bytes of its postings. Then follow the terms as text, a line each.
Postings are varints: of each row its distance from the one before.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from itertools import pairwise
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from cocli.app.web.prospects.index_rows import write_columns, write_rows
from cocli.app.web.prospects.terms import filter_term, sorted_terms
from cocli.app.web.prospects.varints import deflated, distances, varint_bytes, varints
from cocli.app.web.prospects.view import PRESENCES
from cocli.formats import json_records

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from cocli.app.web.prospects.files import NamedFiles
    from cocli.app.web.prospects.tables import ProspectTable
    from cocli.app.web.prospects.terms import SortedTerms

_TERM_BLOCK = 40_000
_CHUNK = 24_000


def write_index(table: ProspectTable, files: NamedFiles) -> dict[str, Any]:
    """Write the files; what the manifest says of them."""
    with tempfile.TemporaryDirectory(prefix="cocli-postings-") as folder:
        terms_path, postings_path = os.path.join(folder, "terms"), os.path.join(folder, "postings")
        with open(terms_path, "wb") as terms_file, open(postings_path, "wb") as postings_file:
            writer = _IndexWriter(sorted_terms(table), terms_file, postings_file)
            directory = {"heads": list(writer.heads()), "blocks": list(writer.blocks())}
        return {
            "directory": files.put("directory", "bin", deflated(json_records.text(directory).encode())),
            "terms": files.take("terms", "bin", terms_path),
            "postings": files.take("postings", "bin", postings_path),
            "rows": write_rows(table, files, folder),
            "columns": write_columns(table, files),
        }


@dataclass(frozen=True, slots=True)
class _IndexWriter:
    """Writes the dictionary and the postings side by side. Heads come first: then the postings of all blocks follow."""

    terms: SortedTerms
    terms_file: IO[bytes]
    postings_file: IO[bytes]

    def heads(self) -> Iterator[list[str | int]]:
        """Each is told by its term, its rows, where it begins and how long it is."""
        for name in PRESENCES:
            term = filter_term("has", name)
            if len(rows := self.terms.rows_of(term)):
                yield [term, *self._head(rows)]
        for crowd in self.terms.crowds():
            yield [f"\x02{crowd.text}", *self._head(self.terms.rows_between(crowd.first, crowd.last))]

    def _head(self, rows: NDArray[np.uint32]) -> tuple[int, int, int]:
        encoded, _ = varints(distances(rows, np.zeros(1, np.int64)))
        begin = self.postings_file.tell()
        return len(rows), begin, self.postings_file.write(deflated(encoded.tobytes()))

    def blocks(self) -> Iterator[list[str | int]]:
        """Each is told by its first term, where it begins and how long it is."""
        lengths = np.fromiter((len(term) + 1 for term in self.terms.terms), np.int64, len(self.terms.terms))
        for first, last in _groups(lengths, _TERM_BLOCK):
            begin = self.terms_file.tell()
            yield [self.terms.terms[first], begin, self.terms_file.write(deflated(self._block(first, last)))]

    def _block(self, first: int, last: int) -> bytes:
        bounds = self.terms.bounds[first : last + 1]
        starts = bounds[:-1] - bounds[0]
        encoded, widths = varints(distances(self.terms.rows[bounds[0] : bounds[-1]], starts))
        sizes = np.add.reduceat(widths, starts)
        head, ends = [self.postings_file.tell(), 0], np.cumsum(sizes)
        for begin, end in _groups(sizes, _CHUNK):
            data = encoded[ends[begin] - sizes[begin] : ends[end - 1]].tobytes()
            head += [self.postings_file.write(deflated(data)), end - begin]
        head[1] = len(head) // 2 - 1
        numbers = [np.diff(bounds), sizes]
        told = [varints(column.astype(np.uint32))[0].tobytes() for column in numbers]
        text = "\n".join(self.terms.terms[first:last]).encode("utf-8", "replace")
        return b"".join([varint_bytes(head), *told, text])


def _groups(sizes: NDArray[np.int64], most: int) -> Iterator[tuple[int, int]]:
    """First and last of things that together have about so many bytes."""
    if not len(sizes):
        return
    numbers = (np.cumsum(sizes) - sizes) // most
    cuts = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(sizes)]
    yield from pairwise(cuts)
