"""From a reader of an index to the rows of a view: its shards as local files, its derived copy, what it overlays."""

from __future__ import annotations

import json
import os
import secrets
from typing import TYPE_CHECKING, Any

from cocli.formats import usv
from cocli.formats.usv_sql import quote_name, quote_text
from cocli.index.queries.names import manifest_name
from cocli.index.queries.query import Layer, parquet_layer, stacked, usv_layer
from cocli.index.rows import read_header

if TYPE_CHECKING:
    from cocli.index.queries.derived import DerivedFolder
    from cocli.index.reader import IndexReader, Veiled
    from cocli.models.record import Record


_VEILED = "veiled"


def reader_rows(
    reader: IndexReader[Any], model: type[Record], copies: DerivedFolder, folder: str, *, where: str = ""
) -> Layer:
    """All that a reader sees. `folder` is for the file of what is not packed yet; the caller removes it."""
    layers: list[Layer] = []
    veiled = _veiled(reader, copies)
    # What waits is looked at through the veil as well: a record of it is hidden, changed, or as it is.
    waiting = {key: record for key, record in reader.waiting().items() if key not in veiled.hidden} | veiled.changed
    if waiting:
        layers.append(_written(model, list(waiting.values()), folder))
    if reader.version:
        copy = copies.find(manifest_name(reader.manifest))
        layers.append(shard_rows(reader, model) if copy is None else parquet_layer(copy))
    return stacked(model, layers, where=" AND ".join(filter(None, (where, _unhidden(model, veiled)))))


def _veiled(reader: IndexReader[Any], copies: DerivedFolder) -> Veiled[Any]:
    """What the veil changes. Which records of a version those are is found out once, and remembered beside its copy."""
    if reader.veil_digest is None or not reader.version:
        return reader.veiled()
    name = f"{manifest_name(reader.manifest)}-{reader.veil_digest}"
    if (found := copies.find(name, _VEILED)) is not None:
        with open(found, encoding="utf-8") as file:
            return reader.veiled(json.load(file))
    veiled = reader.veiled()
    temporary = copies.temporary()
    with open(temporary, "x", encoding="utf-8") as file:
        json.dump(sorted({*veiled.changed, *veiled.hidden}), file)
    copies.keep(temporary, name, _VEILED)
    return veiled


def _unhidden(model: type[Record], veiled: Veiled[Any]) -> str:
    """A condition that leaves the hidden records out."""
    if not veiled.hidden:
        return ""
    columns = ", ".join(map(quote_name, model.key))
    rows = (
        ", ".join(quote_text(str(getattr(record, name))) for name in model.key) for record in veiled.hidden.values()
    )
    return f"({columns}) NOT IN ({', '.join(f'({row})' for row in rows)})"


def shard_rows(reader: IndexReader[Any], model: type[Record]) -> Layer:
    """The rows of a version, from its shards: those of the delta supersede those of the base."""
    files = reader.files()
    runs = [[(file.path, file.header) for file in files if file.run == run] for run in ("delta", "base")]
    return stacked(model, [usv_layer(model, run) for run in runs if run])


def _written(model: type[Record], records: list[Any], folder: str) -> Layer:
    path = os.path.join(folder, f"waiting-{secrets.token_hex(8)}.usv")
    data = usv.render(model, records)
    with open(path, "xb") as file:
        file.write(data)
    return usv_layer(model, [(path, read_header(data[: data.index(b"\n")], file=path))])
