"""JSON as rows: a list of objects, an object with one list of them, or an object a line. GeoJSON has its own reader."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from cocli.errors import FormatError
from cocli.pipeline.sources.imports.cells import flat_cells
from cocli.pipeline.sources.imports.decoding import decode
from cocli.pipeline.sources.imports.domains import COLUMN
from cocli.pipeline.sources.imports.features import is_feature, note_features
from cocli.pipeline.sources.imports.fields import readings, recognised
from cocli.pipeline.sources.imports.rows import ImportRow, ImportTable, RefusedRow

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHOWN = 200
_DEEP, _RATED = 3, 20
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
    """The list in a document. Where several lists of objects stand in it, the one whose objects are businesses."""
    if isinstance(document, list):
        return _with_header(document) or _joined(document) or document
    if not isinstance(document, dict):
        raise FormatError(file=file, line=1, reason="it is neither a list nor an object")
    if is_feature(document):
        return [document]
    lists = dict(_lists_in(document, "", _DEEP))
    if not lists:
        return [document]
    rated = sorted(((_rate(entries), name) for name, entries in lists.items()), reverse=True)
    if len(rated) > 1 and rated[0][0] == rated[1][0]:
        reason = f"it holds several lists: {', '.join(lists)}; write the one that you mean into a file of its own"
        raise FormatError(file=file, line=1, reason=reason)
    if _is_one_business(document) and rated[0][1].count("."):
        return [document]
    return lists[rated[0][1]]


def _with_header(entries: list[Any]) -> list[Any] | None:
    """`[["name", "phone"], ["Acme", "030 …"]]`: a table whose first row names the columns."""
    if len(entries) < 2 or not all(isinstance(entry, list) for entry in entries):
        return None
    names = entries[0]
    if not names or not all(isinstance(name, str) for name in names):
        return None
    return [dict(zip(names, entry, strict=False)) for entry in entries[1:]]


def _joined(entries: list[Any]) -> list[Any] | None:
    """Lists of objects in a list, such as pages of results."""
    if not entries or not all(isinstance(entry, list) and _holds_objects(entry) for entry in entries):
        return None
    return [inner for entry in entries for inner in entry]


def _lists_in(document: dict[str, Any], above: str, deep: int) -> Iterator[tuple[str, list[Any]]]:
    for name, value in document.items():
        if isinstance(value, list) and _holds_objects(value):
            yield f"{above}{name}", value
        elif isinstance(value, dict) and deep:
            yield from _lists_in(value, f"{above}{name}.", deep - 1)


def _rate(entries: list[Any]) -> int:
    """How many fields of a business its objects have."""
    known = recognised()
    columns = {column for entry in entries[:_RATED] for column in flat_cells(entry)}
    return len({known[name][0] for column in columns for name in readings(column) if name in known})


def _is_one_business(document: dict[str, Any]) -> bool:
    return any(isinstance(document.get(name), str) for name in ("name", "title", "company"))


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
