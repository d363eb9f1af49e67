"""The rows of the index's benchmarks: any number of distinct prospects in key order, made as they are written.

Values repeat as in `benchmarks.usv`; keys, names, places, domains and addresses are each row's own. They are cut
into shards by the code of the compaction, so what is measured afterwards is what a compaction would have written.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.usv import _prospect
from cocli.formats import usv
from cocli.formats.usv_dialect import SEPARATOR
from cocli.index.cache import FolderCache
from cocli.index.index import Index
from cocli.index.keys import key_digest
from cocli.index.latest import current_pointer, swap_pointer
from cocli.index.manifest import empty_manifest
from cocli.index.reader import open_reader
from cocli.index.rows import Header, read_header
from cocli.index.runs import RunWriter
from cocli.keys.paths import IndexRef
from cocli.models.prospect import Prospect
from cocli.pipeline.indexes import open_index
from cocli.store import Store, open_store

REF = IndexRef("prospects", "roofers")
_POOL = 2_000
_AT_ONCE = 4_000
_FIRST_NUMBER = 50_000_000
_CUT = SEPARATOR.encode()


class NoCache:
    """Keeps nothing: for writing millions of rows that nobody reads in this process."""

    def has(self, _name: str) -> bool:
        return False

    def get(self, _name: str) -> None:
        return None

    def add(self, _name: str, _data: bytes) -> None: ...

    def drop(self, _name: str) -> None: ...


def open_local(folder: Path, *, fsync: bool) -> Index[Prospect]:
    """The index of a benchmark's folder: its store, and the cache beside it."""
    store = open_store(str(folder / "store"), fsync="always" if fsync else "never")
    return open_index(store, REF, FolderCache(folder / "cache"))


def key_at(number: int, count: int) -> str:
    """The key of a row: in order, and in uneven steps."""
    step = (1 << 64) // count
    return f"{number * step + number * 2_654_435_761 % step:016x}"


class _Templates:
    """Lines with gaps: what stands in the gaps makes a row its own."""

    def __init__(self) -> None:
        pool = [_prospect(_FIRST_NUMBER + number) for number in range(_POOL)]
        header, *lines = usv.render(Prospect, pool)[:-1].split(b"\n")
        self.header: Header = read_header(header, file="<memory>")
        self._parts = [_take_apart(number, line) for number, line in enumerate(lines)]

    def lines(self, numbers: range, keys: list[str]) -> bytes:
        parts, rows = self._parts, list[bytes]()
        for number, key in zip(numbers, keys, strict=True):
            place, rest = parts[number % _POOL]
            name = key.encode()
            rows.append(name + place + name + (b"%08d" % number).join(rest))
        return b"\n".join(rows) + b"\n"


def _take_apart(number: int, line: bytes) -> tuple[bytes, list[bytes]]:
    _, place, rest = line.split(_CUT, 2)
    return _CUT + place[:11], (_CUT + rest).split(b"%d" % (_FIRST_NUMBER + number))


def fill(store: Store, count: int, **spec: Any) -> None:
    """Publish a version of so many rows; memory does not grow with them."""
    index: Index[Any] = open_index(store, REF, NoCache())
    index = replace(index, spec=replace(index.spec, **spec))
    pointer = current_pointer(index)
    templates, writer, total = _Templates(), RunWriter(index, frozenset(), with_prints=False), 0
    for begin in range(0, count, _AT_ONCE):
        numbers = range(begin, min(begin + _AT_ONCE, count))
        keys = [key_at(number, count) for number in numbers]
        total += sum([int.from_bytes(key_digest(key)) for key in keys])
        writer.add(templates.header, templates.lines(numbers, keys))
    manifest = empty_manifest(REF, Prospect.schema_id, store.now()).with_changes(
        version=1, base=writer.finish(), rows=count, key_sum=f"{total % (1 << 128):032x}", nonce=index.nonce()
    )
    ref = index.objects.write_manifest(manifest)
    if swap_pointer(index, pointer, manifest=ref, rows=count, key_sum=manifest.key_sum) is None:
        raise RuntimeError("somebody else writes into the benchmark's index")


def changed_records(index: Index[Prospect], filled: int, count: int, seed: int) -> list[Prospect]:
    """Records for an index that `fill` made: rows from all over it with something new, and a fifth that it has not."""
    chance = Random(seed)
    added = count // 5
    keys = [key_at(number, filled) for number in chance.sample(range(filled), count - added)]
    changed = [
        one.with_changes(tags=(*one.tags, f"call-{seed}"), updated_at=one.updated_at + timedelta(days=30, seconds=seed))
        for one in open_reader(index).get_many(keys).values()
    ]
    fresh = [
        one.with_changes(company_hash=f"{chance.getrandbits(64):016x}", slug=f"new-{seed}-{number}")
        for number, one in zip(range(added), changed, strict=False)
    ]
    if len(changed) + len(fresh) != count:
        raise RuntimeError(f"{len(changed)} of {len(keys)} rows were found")
    return changed + fresh
