"""JSON as rows: a list of objects, an object with one list of them, or an object a line. GeoJSON has its own reader."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from cocli.errors import FormatError
from cocli.pipeline.sources.imports.cells import flat_cells
from cocli.pipeline.sources.imports.decoding import decode
from cocli.pipeline.sources.imports.domains import COLUMN
from cocli.pipeline.sources.imports.features import is_feature, note_features
from cocli.pipeline.sources.imports.rows import ImportRow, ImportTable, RefusedRow

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHOWN = 200
_TOO_DEEP = "its lists and objects are nested too deeply"
_TOO_LONG = "a number in it has thousands of digits"


def read_objects(data: bytes, *, file: str) -> ImportTable:
    """One row per object, numbered as they stand; of a file with an object a line, its line."""
    decoded = decode(data)
    text = decoded.text.removeprefix("\ufeff")
    table = ImportTable("json", decoded.encoding)
    try:
        entries = list(enumerate(_listed(json.loads(text), file), 1))
    except json.JSONDecodeError as error:
        if not error.msg.startswith("Extra data"):
            raise FormatError(file=file, line=error.lineno, reason=f"not JSON: {error.msg}") from error
        entries = list(_lines(text, table))
    except RecursionError as error:
        raise FormatError(file=file, line=1, reason=_TOO_DEEP) from error
    except ValueError as error:
        raise FormatError(file=file, line=1, reason=_TOO_LONG) from error
    if entries and is_feature(entries[0][1]):
        note_features([entry for _, entry in entries], table)
        return table
    for number, entry in entries:
        _add(table, number, entry)
    return table


def _add(table: ImportTable, number: int, entry: Any) -> None:
    if isinstance(entry, str):
        cells = {COLUMN: entry}  # a list of texts is a list of websites
    elif isinstance(entry, dict):
        cells = flat_cells(entry)
    else:
        table.refused.append(RefusedRow(number, "it is no object", json.dumps(entry)[:_SHOWN]))
        return
    table.see(cells)
    if any(cell.strip() for cell in cells.values()):
        table.rows.append(ImportRow(number, cells))
    else:
        table.blank += 1


def _listed(document: Any, file: str) -> list[Any]:
    """The list in a document. Where several lists of objects stand in it, nobody knows which is meant."""
    if isinstance(document, list):
        return document
    if not isinstance(document, dict):
        raise FormatError(file=file, line=1, reason="it is neither a list nor an object")
    if is_feature(document):
        return [document]
    lists = {name: value for name, value in document.items() if isinstance(value, list) and _holds_objects(value)}
    if len(lists) == 1:
        return next(iter(lists.values()))
    if len(lists) > 1:
        reason = f"it holds several lists: {', '.join(lists)}; write the one that you mean into a file of its own"
        raise FormatError(file=file, line=1, reason=reason)
    return [document]


def _holds_objects(entries: list[Any]) -> bool:
    return bool(entries) and all(isinstance(entry, dict) for entry in entries)


def _lines(text: str, table: ImportTable) -> Iterator[tuple[int, Any]]:
    """An object a line; a line that is none costs that line."""
    for number, line in enumerate(text.split("\n"), 1):
        content = line.strip().removesuffix(",")
        if not content:
            continue
        try:
            yield number, json.loads(content)
        except json.JSONDecodeError as error:
            table.refused.append(RefusedRow(number, f"not JSON: {error.msg}", content[:_SHOWN]))
        except RecursionError:
            table.refused.append(RefusedRow(number, _TOO_DEEP, content[:_SHOWN]))
        except ValueError:
            table.refused.append(RefusedRow(number, _TOO_LONG, content[:_SHOWN]))
