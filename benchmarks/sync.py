"""Sync of many small files with S3, beside aws s3 sync, s5cmd and rclone: first upload, nothing changed, 1 %, download.

Sizes: `files=20000` (default) and, where asked for, `large=100000`. Every tool is a process of its own with its own
copy of the files and its own folder in one bucket of SeaweedFS on loopback; they take turns.

A push of cocli that has nothing new asks the bucket nothing: its writes are conditional, so it need not look first.
What it costs to look both ways (one LIST per 1,000 keys) is measured beside it.

How each tells what changed: aws and s5cmd by size and time; rclone by size and MD5 (`--checksum`, with the options for
many small files: 32 transfers and checkers, one listing); cocli by its state file, the file's stamp, and the etag.
cocli writes under a condition and syncs to the disk what it downloads; the others do neither.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from tests.kit import servers

from cocli.index.cache import MemoryCache
from cocli.index.compaction import Compactor
from cocli.index.writer import IndexWriter
from cocli.keys.identities import company_hash
from cocli.keys.paths import IndexRef
from cocli.models.prospect import Prospect
from cocli.pipeline.indexes import open_index
from cocli.store import Put, open_store
from cocli.sync.decision import SyncOptions
from cocli.sync.engine import Syncer
from cocli.sync.folder import Folder
from cocli.sync.kinds import SyncPart
from cocli.sync.pair import Direction, SyncPair
from cocli.sync.selection import Selection
from cocli.sync.state import SyncState

if TYPE_CHECKING:
    from benchmarks.harness import Bench

BUCKET = "cocli-bench"
RECORDS = 20_000
_ROWS = ("first", "unchanged", "changed", "download")
_ROUNDS = 2  # of what changes nothing


@dataclass(frozen=True)
class Tool:
    """How a tool is called: with its folder, and the address that it syncs with."""

    name: str
    up: Callable[[Path, str], list[str]]
    down: Callable[[Path, str], list[str]]


def _tools(server: servers.S3Server) -> list[Tool]:
    aws, s5cmd, rclone = (servers.executable(name) for name in ("aws", "s5cmd", "rclone"))
    fast = ["--transfers", "32", "--checkers", "32", "--fast-list", "--checksum", "--s3-no-check-bucket", "-q"]

    def cocli(verb: str, folder: Path, prefix: str) -> list[str]:
        url = server.url(BUCKET, prefix)
        return ["env", f"COCLI_DATA_HOME={folder}", sys.executable, "-m", "cocli", "sync", verb, "--store", url, "-q"]

    return [
        Tool(
            "cocli",
            lambda folder, prefix: cocli("push", folder, prefix),
            lambda folder, prefix: cocli("pull", folder, prefix),
        ),
        Tool(
            "aws",
            lambda folder, prefix: [aws, "s3", "sync", f"{folder}/", f"s3://{BUCKET}/{prefix}/", "--only-show-errors"],
            lambda folder, prefix: [aws, "s3", "sync", f"s3://{BUCKET}/{prefix}/", f"{folder}/", "--only-show-errors"],
        ),
        Tool(
            "s5cmd",
            lambda folder, prefix: [s5cmd, "--log", "error", "sync", f"{folder}/", f"s3://{BUCKET}/{prefix}/"],
            lambda folder, prefix: [s5cmd, "--log", "error", "sync", f"s3://{BUCKET}/{prefix}/*", f"{folder}/"],
        ),
        Tool(
            "rclone",
            lambda folder, prefix: [rclone, "sync", str(folder), f"peer:{BUCKET}/{prefix}", *fast],
            lambda folder, prefix: [rclone, "sync", f"peer:{BUCKET}/{prefix}", str(folder), *fast],
        ),
    ]


def main(bench: Bench) -> None:
    with tempfile.TemporaryDirectory(prefix="cocli-bench-") as name, _server(Path(name)) as server:
        files, large = bench.size("files", 20_000), bench.size("large", 0)
        seconds = _race(bench, server, Path(name) / "files", files)
        _compare(bench, seconds, files, "")
        if large:
            seconds = _race(bench, server, Path(name) / "large", large)
            _compare(bench, seconds, large, "_large")
        _indexes(bench, server, Path(name) / "indexes")


@contextmanager
def _server(folder: Path) -> Iterator[servers.S3Server]:
    (folder / "s3").mkdir()
    with servers.seaweedfs(folder / "s3") as server:
        servers.create_bucket(server, BUCKET)
        peer = {
            "TYPE": "s3",
            "PROVIDER": "Other",
            "ENDPOINT": server.endpoint,
            "ACCESS_KEY_ID": servers.ACCESS_KEY,
            "SECRET_ACCESS_KEY": servers.SECRET_KEY,
            "REGION": servers.REGION,
        }
        os.environ.update(
            servers.credentials_environment(),
            AWS_ENDPOINT_URL=server.endpoint,
            S3_ENDPOINT_URL=server.endpoint,
            AWS_DEFAULT_REGION=servers.REGION,
            RCLONE_CONFIG=str(folder / "rclone.conf"),
            COCLI_STATE_HOME=str(folder / "state"),
            COCLI_CACHE_HOME=str(folder / "cache"),
            COCLI_CONFIG=str(folder / "user.toml"),
            **{f"RCLONE_CONFIG_PEER_{name}": value for name, value in peer.items()},
        )
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # else an edited checkout is compiled anew in every run
        (folder / "rclone.conf").touch()
        warm = open_store(server.url(BUCKET, "warm"))
        warm.put_many([Put(f"{number}", b"x") for number in range(500)])  # the first tool does not pay for volumes
        warm.close()
        yield server


Seconds = dict[str, dict[str, float]]


def _race(bench: Bench, server: servers.S3Server, folder: Path, count: int) -> Seconds:
    tools = _tools(server)
    seconds: Seconds = {row: {} for row in (*_ROWS, "unchanged_both")}
    bench.note(f"writing {count:,} files, for each tool its own")
    for tool in tools:
        _write(folder / tool.name, count)
    time.sleep(2)  # nobody should have to doubt a time stamp of this second
    prefix = f"{folder.name}-{{}}".format
    for tool in tools:
        bench.note(f"first upload: {tool.name}")
        seconds["first"][tool.name] = _timed(tool.up(folder / tool.name, prefix(tool.name)))
    for number in range(_ROUNDS):
        for tool in tools[number:] + tools[:number]:
            bench.note(f"nothing changed: {tool.name}")
            spent = _timed(tool.up(folder / tool.name, prefix(tool.name)))
            seconds["unchanged"][tool.name] = min(spent, seconds["unchanged"].get(tool.name, spent))
    bench.note("nothing changed: cocli, both ways")
    url = server.url(BUCKET, prefix("cocli"))
    home = f"COCLI_DATA_HOME={folder / 'cocli'}"
    both = ["env", home, sys.executable, "-m", "cocli", "sync", "both", "--store", url, "-q"]
    seconds["unchanged_both"]["cocli"] = min(_timed(both) for _ in range(_ROUNDS))
    for tool in tools:
        _change(folder / tool.name, count)
    time.sleep(2)
    for tool in tools:
        bench.note(f"1 % changed: {tool.name}")
        seconds["changed"][tool.name] = _timed(tool.up(folder / tool.name, prefix(tool.name)))
    for tool in tools:
        bench.note(f"first download: {tool.name}")
        target = folder / f"{tool.name}-down"
        target.mkdir()
        seconds["download"][tool.name] = _timed(tool.down(target, prefix(tool.name)))
        _check(folder / tool.name, target, count)
        shutil.rmtree(target)
    return seconds


def _path(number: int) -> str:
    return f"companies/c{number // 10}/notes/n{number}.md"


def _write(folder: Path, count: int) -> None:
    for number in range(count):
        path = folder / _path(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"---\nnumber: %09d\n---\n" % number + b"x" * 280)


def _change(folder: Path, count: int) -> None:
    """One in a hundred, in place, with the size unchanged."""
    for number in range(0, count, 100):
        path = folder / _path(number)
        path.write_bytes(path.read_bytes().replace(b"xxxx", b"yyyy", 1))


def _check(source: Path, target: Path, count: int) -> None:
    for number in range(0, count, 50):
        if (source / _path(number)).read_bytes() != (target / _path(number)).read_bytes():
            raise AssertionError(f"{target / _path(number)} is not what was sent")


def _timed(command: list[str]) -> float:
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    spent = time.perf_counter() - begin
    if done.returncode != 0:
        raise RuntimeError(f"{command} failed: {done.stdout[-500:]} {done.stderr[-1000:]}")
    return spent


def _compare(bench: Bench, seconds: Seconds, count: int, suffix: str) -> None:
    for row in _ROWS:
        ours = seconds[row]["cocli"]
        for peer in ("aws", "s5cmd", "rclone"):
            theirs = seconds[row][peer]
            bench.measure(
                f"{row}_over_{peer}{suffix}",
                theirs / ours,
                peer=peer,
                ratio=theirs / ours,
                conditions=f"{count:,} files of 300 bytes: {ours:.2f} s to {theirs:.2f} s, SeaweedFS on loopback",
            )

    ours = seconds["unchanged_both"]["cocli"]
    for peer in ("aws", "s5cmd", "rclone"):
        theirs = seconds["unchanged"][peer]
        bench.measure(
            f"unchanged_both_over_{peer}{suffix}",
            theirs / ours,
            peer=peer,
            ratio=theirs / ours,
            conditions=f"both ways, with a listing: {ours:.2f} s to {theirs:.2f} s one way",
        )


# --- indexes


def _indexes(bench: Bench, server: servers.S3Server, folder: Path) -> None:
    bench.note(f"an index of {RECORDS:,} records")
    ref, at = IndexRef("prospects", "plumbers"), datetime(2026, 11, 15, tzinfo=UTC)
    store = open_store(server.url(BUCKET, "indexes"))
    index = open_index(store, ref, MemoryCache())
    IndexWriter(index).append(
        Prospect(
            company_hash=company_hash(f"domain:d{number}.example"), slug=f"d{number}", name=f"Company {number}",
            domain=f"d{number}.example", campaign="plumbers", first_seen=at, updated_at=at,
        )
        for number in range(RECORDS)
    )  # fmt: skip
    Compactor(index).compact()
    pair = SyncPair(Folder(folder), store, SyncState(str(folder / "state.sqlite3")), "bench")
    selection = Selection(frozenset({SyncPart.INDEXES}))

    def run() -> float:
        begin = time.perf_counter()
        Syncer(pair, selection, SyncOptions(Direction.BOTH), indexes=[ref.folder]).run()
        return time.perf_counter() - begin

    first = run()
    unchanged = median(run() for _ in range(9))
    bench.measure(
        "indexes_unchanged_s",
        unchanged,
        unit="s",
        conditions=f"{RECORDS:,} records, one index, one request; the first sync took {first:.2f} s",
    )
    pair.state.close()
    store.close()
