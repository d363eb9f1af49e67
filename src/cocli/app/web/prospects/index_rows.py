"""The rows of an index in blocks, and its columns: of each row a number, by which is counted and sorted."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from cocli.app.search.ranking import fold
from cocli.app.web.prospects.folding import ordered
from cocli.app.web.prospects.matches import rating_of
from cocli.app.web.prospects.varints import deflated
from cocli.app.web.prospects.view import FACETS
from cocli.formats import json_records

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from cocli.app.web.prospects.files import NamedFiles
    from cocli.app.web.prospects.tables import ProspectTable

ROWS_OF_A_BLOCK = 64
_WIDTHS = ((1 << 8, "u1"), (1 << 16, "<u2"), (1 << 32, "<u4"))


def write_rows(table: ProspectTable, files: NamedFiles, folder: str) -> dict[str, Any]:
    """The lines in blocks, the bytes of each block, and the folded name of the first row of each."""
    path, lengths, firsts = os.path.join(folder, "rows"), [], []
    name = table.names.index("name")
    with open(path, "wb") as file:
        for begin in range(0, len(table.rows), ROWS_OF_A_BLOCK):
            rows = table.rows[begin : begin + ROWS_OF_A_BLOCK]
            lines = "\n".join(map("\t".join, rows))
            lengths.append(file.write(deflated(lines.encode("utf-8", "replace"))))
            firsts.append(fold(rows[0][name]))
    return {
        "file": files.take("rows", "bin", path),
        "lengths": files.put("rows", "bin", deflated(np.array(lengths, "<u4").tobytes())),
        "firsts": files.put("rows", "bin", deflated("\n".join(firsts).encode("utf-8", "replace"))),
        "block": ROWS_OF_A_BLOCK,
    }


def write_columns(table: ProspectTable, files: NamedFiles) -> dict[str, Any]:
    """Each column by which is counted or sorted, in a file of its own. 0 is none."""
    made = {facet: _write_facet(table, facet, files) for facet in table.facets()}
    for name, numbers_of in (("rating", _ratings), ("reviews", _reviews), ("updated", _ranks)):
        if name in table.names:
            cells = _column(table, name)
            made[name] = _write_codes(files, cells, numbers_of({cell for cell in cells if cell}))
    return made


def _write_facet(table: ProspectTable, facet: str, files: NamedFiles) -> dict[str, Any]:
    """A cell's number stands for all values of the cell. Numbers are in the order of the folded texts."""
    cells = _column(table, FACETS[facet])
    values = sorted({cell for cell in cells if cell}, key=lambda cell: (ordered(fold(cell)), ordered(cell)))
    numbers = {cell: number for number, cell in enumerate(values, 1)}
    text = json_records.text(values).encode("utf-8", "replace")
    return _write_codes(files, cells, numbers) | {"values": files.put("columns", "bin", deflated(text))}


def _column(table: ProspectTable, name: str) -> list[str]:
    place = table.names.index(name)
    return [row[place] for row in table.rows]


def _write_codes(files: NamedFiles, cells: list[str], numbers: Mapping[str, int]) -> dict[str, Any]:
    """As few bytes for each row as the greatest number needs."""
    known = {**numbers, "": 0}
    codes: NDArray[np.int64] = np.fromiter(map(known.__getitem__, cells), np.int64, len(cells))
    width = next(kind for most, kind in _WIDTHS if codes.max(initial=0) < most)
    data = deflated(codes.astype(width).tobytes())
    return {"codes": files.put("columns", "bin", data), "width": np.dtype(width).itemsize}


def _ratings(cells: set[str]) -> dict[str, int]:
    """In hundredths, and one more: a page asks for those that are rated so at least."""
    return {cell: rating_of({"rating": cell}) + 1 for cell in cells}


def _reviews(cells: set[str]) -> dict[str, int]:
    return {cell: int(cell) + 1 for cell in cells}


def _ranks(cells: set[str]) -> dict[str, int]:
    """Times are sorted by, and nothing else: which of them it is says enough."""
    return {cell: rank for rank, cell in enumerate(sorted(cells), 1)}
