"""What packing and reading an index take in memory: run as a process of its own, which prints its peak.

python -m benchmarks._index_memory FOLDER pack|scan|copy
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from cocli.index.cache import FolderCache
from cocli.index.compaction import Compactor
from cocli.index.index import Index
from cocli.index.reader import open_reader
from cocli.keys.paths import IndexRef
from cocli.pipeline.indexes import open_index
from cocli.store import open_store


class Peak(NamedTuple):
    mib: float
    seconds: float
    rows: int


def peak_of(folder: Path, action: str) -> Peak:
    """Do something with the index of a folder in a new process; what waits there is packed by `pack`."""
    command = [sys.executable, "-m", "benchmarks._index_memory", str(folder), action]
    answer = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    return Peak(**json.loads(answer))


def _pack(index: Index[Any]) -> int:
    return Compactor(index).compact().records


def _scan(index: Index[Any]) -> int:
    return sum(1 for _ in open_reader(index).scan())


def _copy(index: Index[Any]) -> int:
    from cocli.index.queries.derived import DerivedFolder
    from cocli.index.queries.layers import shard_rows
    from cocli.index.queries.names import manifest_name

    reader = open_reader(index)
    copies = DerivedFolder(os.path.join(os.path.dirname(index.cache.folder), "derived"))  # type: ignore[attr-defined]
    copies.build(manifest_name(reader.manifest), shard_rows(reader, index.spec.model))
    return reader.manifest.rows


def _main(folder: Path, action: str) -> None:
    # Not from benchmarks._index_rows: what makes the rows would count as memory of what reads them.
    index = open_index(
        open_store(str(folder / "store")), IndexRef("prospects", "roofers"), FolderCache(folder / "cache")
    )
    started = time.perf_counter()
    rows = {"pack": _pack, "scan": _scan, "copy": _copy}[action](index)
    print(json.dumps({"mib": _peak_mib(), "seconds": time.perf_counter() - started, "rows": rows}))


def _peak_mib() -> float:
    """Of this program alone: what `getrusage` says begins with the size of the process that started it."""
    try:
        status = Path("/proc/self/status").read_text("ascii")
    except FileNotFoundError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


if __name__ == "__main__":
    _main(Path(sys.argv[1]), sys.argv[2])
