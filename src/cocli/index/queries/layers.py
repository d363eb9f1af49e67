"""From a reader of an index to the rows of a view: its shards as local files, its derived copy, what it overlays."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING, Any

from cocli.formats import usv
from cocli.index.queries.names import manifest_name
from cocli.index.queries.query import Layer, parquet_layer, stacked, usv_layer
from cocli.index.rows import read_header

if TYPE_CHECKING:
    from cocli.index.queries.derived import DerivedFolder
    from cocli.index.reader import IndexReader
    from cocli.models.record import Record


def reader_rows(
    reader: IndexReader[Any], model: type[Record], copies: DerivedFolder, folder: str, *, where: str = ""
) -> Layer:
    """All that a reader sees. `folder` is for the file of what is not packed yet; the caller removes it."""
    layers: list[Layer] = []
    if waiting := reader.waiting():
        layers.append(_written(model, list(waiting.values()), folder))
    if reader.version:
        copy = copies.find(manifest_name(reader.manifest))
        layers.append(shard_rows(reader, model) if copy is None else parquet_layer(copy))
    return stacked(model, layers, where=where)


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
