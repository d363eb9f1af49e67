"""Small objects: puts and gets per second, in a folder against plain files, on S3 against boto3."""

from __future__ import annotations

import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from tests.kit import servers

from cocli.store import Put, Store, open_store
from cocli.store.local import LocalStore

if TYPE_CHECKING:
    from benchmarks.harness import Bench

OBJECT = b"x" * 300
LOCAL_OBJECTS = 5_000
SYNCED_OBJECTS = 500
S3_OBJECTS = 2_000
BOTO3_THREADS = 16
ROUNDS = 5
TURNS = 8  # per round


def main(bench: Bench) -> None:
    with tempfile.TemporaryDirectory(prefix="cocli-bench-") as name:
        _local(bench, Path(name), LOCAL_OBJECTS, fsync=False)
        _local(bench, Path(name), SYNCED_OBJECTS, fsync=True)
        bench.note("starting SeaweedFS")
        (Path(name) / "s3").mkdir()
        with servers.seaweedfs(Path(name) / "s3") as server:
            _s3(bench, server)


Rates = dict[str, list[float]]


def _local(bench: Bench, folder: Path, count: int, *, fsync: bool) -> None:
    policy = "fsync" if fsync else "no fsync"
    bench.note(f"local folder, {policy}: {ROUNDS} rounds of {count} objects of {len(OBJECT)} bytes")
    rates: Rates = defaultdict(list)
    for number in range(ROUNDS):
        _local_round(rates, folder / f"{policy}-{number}", count, fsync=fsync)
    suffix = "_fsync" if fsync else ""
    for name, peer, what in (
        ("put", "plain put", "open/write/rename"),
        ("create", "plain put", "open/write/rename"),
        ("put_many", "plain put", "open/write/rename"),
        ("get", "plain get", "open/read"),
    ):
        conditions = f"{policy}, {len(OBJECT)} bytes, one thread"
        _compare(bench, f"local_{name}{suffix}_over_plain", rates[name], rates[peer], what, conditions)


def _local_round(rates: Rates, folder: Path, count: int, *, fsync: bool) -> None:
    store = LocalStore(folder / "ours", fsync="always" if fsync else "never")
    keys = [f"{n % 16:x}/{n}" for n in range(count)]
    plain = str(folder / "plain")
    for shard in range(16):  # folders exist before the clock starts, on both sides
        os.makedirs(f"{plain}/{shard:x}")
        for kind in ("put", "create", "bulk"):
            store.put(f"{kind}/{shard:x}/first", b"")
    _take_turns(
        rates,
        keys,
        {
            "plain put": lambda some: [_plain_put(f"{plain}/{key}", fsync) for key in some],
            "put": lambda some: [store.put(f"put/{key}", OBJECT) for key in some],
            "create": lambda some: [store.put(f"create/{key}", OBJECT, if_absent=True) for key in some],
            "put_many": lambda some: _all_good(store.put_many([Put(f"bulk/{key}", OBJECT) for key in some])),
        },
    )
    _take_turns(
        rates,
        keys,
        {
            "plain get": lambda some: [_plain_get(f"{plain}/{key}") for key in some],
            "get": lambda some: [store.get(f"put/{key}") for key in some],
        },
    )
    store.close()


def _take_turns(rates: Rates, keys: Sequence[str], contenders: dict[str, Callable[[Sequence[str]], object]]) -> None:
    """Chunk by chunk, each contender goes first in turn: a slow moment of the disk, or being first, favours nobody."""
    order, seconds, size = list(contenders), dict.fromkeys(contenders, 0.0), max(1, len(keys) // TURNS)
    for start in range(0, len(keys), size):
        for name in order:
            begin = time.perf_counter()
            contenders[name](keys[start : start + size])
            seconds[name] += time.perf_counter() - begin
        order.append(order.pop(0))
    for name, spent in seconds.items():
        rates[name].append(len(keys) / spent)


def _s3(bench: Bench, server: servers.S3Server) -> None:
    servers.create_bucket(server, "cocli-bench")
    os.environ.update(servers.credentials_environment())
    bench.note(f"S3 (SeaweedFS on loopback): {ROUNDS} rounds of {S3_OBJECTS} objects")
    rates: Rates = defaultdict(list)
    store = open_store(server.url("cocli-bench", "ours"))
    client: Any = boto3.client("s3", endpoint_url=server.endpoint, config=Config(max_pool_connections=BOTO3_THREADS))
    with ThreadPoolExecutor(BOTO3_THREADS) as pool:
        for number in range(ROUNDS):
            _s3_round(rates, store, client, pool, [f"{number}/{n}" for n in range(S3_OBJECTS)])
    store.close()
    peer, conditions = f"boto3, {BOTO3_THREADS} threads", f"{len(OBJECT)} bytes, SeaweedFS on loopback"
    _compare(bench, "s3_put_over_boto3", rates["put"], rates["boto3 put"], peer, conditions)
    _compare(bench, "s3_get_over_boto3", rates["get"], rates["boto3 get"], peer, conditions)


def _s3_round(rates: Rates, store: Store, client: Any, pool: ThreadPoolExecutor, keys: list[str]) -> None:
    _take_turns(
        rates,
        keys,
        {
            "boto3 put": lambda some: list(pool.map(partial(_boto_put, client), some)),
            "put": lambda some: _all_good(store.put_many([Put(key, OBJECT) for key in some])),
        },
    )
    _take_turns(
        rates,
        keys,
        {
            "boto3 get": lambda some: list(pool.map(partial(_boto_get, client), some)),
            "get": lambda some: _all_good(store.get_many(some)),
        },
    )


def _compare(
    bench: Bench, name: str, ours: Sequence[float], peers: Sequence[float], peer: str, conditions: str
) -> None:
    ratio = median(mine / other for mine, other in zip(ours, peers, strict=True))
    rates = f"{median(ours):,.0f}/s to {median(peers):,.0f}/s"
    bench.measure(name, ratio, peer=peer, ratio=ratio, conditions=f"{rates}; {conditions}")


def _plain_put(path: str, fsync: bool) -> str:
    temporary = f"{path}.tmp"
    with open(temporary, "wb") as file:
        file.write(OBJECT)
        if fsync:
            file.flush()
            os.fsync(file.fileno())
    os.rename(temporary, path)
    if fsync:
        folder = os.open(os.path.dirname(path), os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)
    return path


def _plain_get(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _boto_put(client: Any, key: str) -> None:
    client.put_object(Bucket="cocli-bench", Key=f"boto3/{key}", Body=OBJECT)


def _boto_get(client: Any, key: str) -> bytes:
    return bytes(client.get_object(Bucket="cocli-bench", Key=f"boto3/{key}")["Body"].read())


def _all_good(answers: Sequence[object]) -> None:
    failed = [one for one in answers if isinstance(one, Exception)]
    if failed:
        raise failed[0]
