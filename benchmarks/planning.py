"""Planning: the United States as tiles × queries, written as targets and subtracted from what was read.

A circle that holds 80,000 tiles and 20 queries: 1.6 million targets, written into the index of an empty store; then the
tasks that are left when half of them were read. Both are whole use cases, from the campaign's file to the answer.
"""

from __future__ import annotations

import os
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from cocli.app.campaigns.mission import count_targets, lacking_rows, read_splits
from cocli.app.campaigns.plan import build_targets
from cocli.app.indexes.indexes import Indexes, campaign_indexes, needed_campaign
from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags
from cocli.formats import usv
from cocli.formats.usv_dialect import SEPARATOR
from cocli.index.completion import complete
from cocli.index.reader import open_reader
from cocli.keys.tile import Tile
from cocli.models.witness import Witness
from cocli.pipeline.plan.mission import Mission

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.harness import Bench
    from cocli.app.workspace import Campaign
    from cocli.index.completion import KeyedLine

_SOURCE = "overture"
_AIM_S = 10.0
_AGE = timedelta(days=90)


def main(bench: Bench) -> None:
    miles, queries = bench.size("miles", 958), bench.size("queries", 20)
    with tempfile.TemporaryDirectory(prefix="cocli-bench-", dir=os.environ.get("BENCH_FOLDER")) as name:
        home = _campaign(Path(name), miles, queries)
        with open_workspace(home, Flags()) as workspace:
            indexes = campaign_indexes(workspace, "us")
            campaign = needed_campaign(indexes)
            _measure_plan(bench, indexes, campaign)
            _measure_again(bench, indexes, campaign)
            _measure_subtract(bench, indexes, campaign)


class _Watch:
    """Seconds of the clock, and those of the processor: on a machine that others use, they differ."""

    def __init__(self) -> None:
        self._started, self._busy = time.perf_counter(), time.process_time()

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._started

    def __str__(self) -> str:
        return f"{time.process_time() - self._busy:.1f} s of the processor"


def _campaign(folder: Path, miles: int, queries: int) -> dict[str, str]:
    phrases = ", ".join(f'"query number {number}"' for number in range(queries))
    place = f'[[prospecting.locations]]\nname = "US"\nlat = 39.8\nlon = -98.6\nradius_miles = {float(miles)}\n'
    file = folder / "data" / "campaigns" / "us" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(f'[campaign]\nname = "us"\n\n[prospecting]\nqueries = [{phrases}]\n\n{place}', "utf-8")
    return {
        "HOME": str(folder),
        "COCLI_DATA_HOME": str(folder / "data"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "COCLI_CONFIG": str(folder / "user.toml"),
    }


def _measure_plan(bench: Bench, indexes: Indexes, campaign: Campaign) -> None:
    bench.note("planning")
    watch = _Watch()
    built = build_targets(indexes, campaign)
    seconds = watch.seconds
    conditions = f"{built.tiles:,} tiles × {built.phrases} queries = {built.added:,} targets, empty index; {watch}"
    bench.measure(
        "us_plan_s", seconds, unit="s", peer="aim", peer_value=_AIM_S, ratio=_AIM_S / seconds, conditions=conditions
    )


def _measure_again(bench: Bench, indexes: Indexes, campaign: Campaign) -> None:
    bench.note("planning again")
    watch = _Watch()
    built = build_targets(indexes, campaign)
    if built.added:
        raise AssertionError(f"planning twice added {built.added} targets")
    conditions = f"the same plan once more: {built.already:,} targets compared, none written; {watch}"
    bench.measure("us_plan_again_s", watch.seconds, unit="s", conditions=conditions)


def _measure_subtract(bench: Bench, indexes: Indexes, campaign: Campaign) -> None:
    bench.note("writing witnesses for every other target")
    witnesses = complete(indexes.open(indexes.ref("scraped-tiles")), lambda: _witness_rows(indexes, campaign)).added
    bench.note("subtracting")
    watch = _Watch()
    since = campaign.store.now() - _AGE
    targets = count_targets(indexes, campaign)
    mission = Mission(lacking_rows(indexes, (_SOURCE,), since), read_splits(indexes, since))
    tasks = sum(1 for _ in mission.tasks())
    seconds = watch.seconds
    if tasks != targets - witnesses:
        raise AssertionError(f"{targets} − {witnesses} is not {tasks}")
    bench.measure(
        "us_subtract_s",
        seconds,
        unit="s",
        peer="aim",
        peer_value=_AIM_S,
        ratio=_AIM_S / seconds,
        conditions=f"{targets:,} targets − {witnesses:,} witnesses = {tasks:,} tasks, made one by one; {watch}",
    )


def _witness_rows(indexes: Indexes, campaign: Campaign) -> Iterator[KeyedLine]:
    """A witness for every other target, in the order of the index."""
    spec = indexes.open(indexes.ref("scraped-tiles")).spec
    cut = SEPARATOR.encode()
    tails: dict[str, bytes] = {}
    now = campaign.store.now()
    for number, row in enumerate(open_reader(indexes.open(indexes.ref("target-tiles"))).rows()):
        if number % 2:
            continue
        tile, phrase, _ = row.line.split(cut, 2)
        name = phrase.decode()
        if name not in tails:
            record = Witness(
                tile=Tile(0, 0), phrase=name, source=_SOURCE, read_at=now, worker="w", campaign="us", count=12,
                outcome="exhausted",
            )  # fmt: skip
            line = usv.render(Witness, [record])[:-1].split(b"\n")[1]
            tails[name] = cut + line.partition(cut)[2]
        yield spec.key_text(tile.decode(), name, _SOURCE), tile + tails[name]
