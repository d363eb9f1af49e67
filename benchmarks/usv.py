"""USV: reading and writing prospects, against the csv module with pydantic on top, DuckDB and pyarrow.

Both sides handle the same rows and the same model, in turns of some ten thousand rows, so that whatever else the
machine does hits both alike. The rows are many copies of a pool of different ones; what repeats in real data
(categories, opening hours, phrases) repeats in it, what does not (names, addresses, times) does not.
"""

from __future__ import annotations

import csv
import gc
import json
import os
import random
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.csv as arrow_csv
from pydantic_core import from_json

from benchmarks.harness import Bench
from cocli.formats import usv
from cocli.formats.columns import ColumnKind, columns_of
from cocli.models.origin import Origin
from cocli.models.place import OpenHours
from cocli.models.prospect import Prospect

POOL = 50_000
TURN = 20_000
_KINDS = ("Roofing contractor", "Plumber", "Electrician", "Coffee shop", "General contractor", "Florist", "Dentist")
_CITIES = ("Los Angeles", "Torrance", "Long Beach", "Pasadena", "Inglewood")
_FIRST = ("Acme", '"The Best"', "O'Reilly", "Müller & Söhne", "Sunrise", "Señor 🌮", "Back\\slash")


def main(bench: Bench) -> None:
    count = bench.size("rows", int(os.environ.get("COCLI_BENCH_ROWS", "1000000")))
    bench.note(f"making a pool of {min(POOL, count):,} prospects")
    pool = [_prospect(number) for number in range(min(POOL, count))]
    gc.freeze()  # a pool that stays is this benchmark's own doing: neither side should pay for walking over it
    conditions = f"{count:,} rows, {len(pool[0].model_dump())} columns, {len(pool):,} of them different"
    with tempfile.TemporaryDirectory(prefix="cocli-bench-") as folder:
        usv_file, csv_file = Path(folder, "prospects.usv"), Path(folder, "prospects.csv")
        _measure_writing(bench, pool, count, usv_file, csv_file, conditions)
        gc.unfreeze()
        del pool
        csv_rate = _measure_reading(bench, usv_file, csv_file, conditions)
        _measure_fast_path(bench, usv_file, csv_rate, conditions)
        _measure_others(bench, usv_file, count, conditions)


def _measure_writing(
    bench: Bench, pool: list[Prospect], count: int, usv_file: Path, csv_file: Path, conditions: str
) -> None:
    bench.note(f"writing {count:,} rows as USV and with the csv module, in turns")

    def rows() -> Iterator[Prospect]:
        return islice(chain.from_iterable(repeat(pool)), count)

    with usv_file.open("wb") as usv_out, csv_file.open("w", newline="", encoding="utf-8") as csv_out:
        writer, csv_writer = usv.Writer(Prospect, usv_out), csv.writer(csv_out)
        csv_writer.writerow(Prospect.model_fields)
        ours, theirs = _in_turns(
            rows(), writer.write_many, rows(), lambda turn: csv_writer.writerows(map(_csv_row, turn))
        )
        writer.close()
    megabytes = usv_file.stat().st_size / 1e6
    bench.measure("write_rows_s", count / ours, unit="rows/s", conditions=f"{conditions}; {megabytes:,.0f} MB")
    bench.measure(
        "write_over_csv", theirs / ours, peer="csv + pydantic, rows/s", peer_value=count / theirs, ratio=theirs / ours
    )


def _measure_reading(bench: Bench, usv_file: Path, csv_file: Path, conditions: str) -> float:
    bench.note("reading both, every value validated, in turns")
    seen = {"usv": 0, "csv": 0}

    def count_as(name: str) -> Callable[[Iterable[Prospect]], None]:
        def consume(turn: Iterable[Prospect]) -> None:
            for _ in turn:
                seen[name] += 1

        return consume

    with usv_file.open("rb") as usv_in, csv_file.open(newline="", encoding="utf-8") as csv_in:
        reader = usv.read(Prospect, usv_in, file=usv_file.name)
        ours, theirs = _in_turns(iter(reader), count_as("usv"), _csv_records(csv_in), count_as("csv"))
    if seen["usv"] != seen["csv"] or reader.rejected:
        raise RuntimeError(f"the two did not read the same: {seen}, rejected {reader.rejected[:3]}")
    count = seen["usv"]
    bench.measure("read_rows_s", count / ours, unit="rows/s", conditions=conditions)
    bench.measure(
        "read_over_csv", theirs / ours, peer="csv + pydantic, rows/s", peer_value=count / theirs, ratio=theirs / ours
    )
    return count / theirs


def _measure_fast_path(bench: Bench, usv_file: Path, csv_rate: float, conditions: str) -> None:
    bench.note("reading on the fast path: named tuples, then models")
    for name, how in (("fast_read_rows_s", usv.Reader.rows), ("fast_models_rows_s", usv.Reader.__iter__)):
        with usv_file.open("rb") as file:
            started = time.perf_counter()
            count = sum(1 for _ in how(usv.read(Prospect, file, trusted=True)))
            rate = count / (time.perf_counter() - started)
        bench.measure(
            name,
            rate,
            unit="rows/s",
            peer="csv + pydantic",
            peer_value=csv_rate,
            ratio=rate / csv_rate,
            conditions=f"trusted; {conditions}",
        )


def _measure_others(bench: Bench, usv_file: Path, count: int, conditions: str) -> None:
    bench.note("reading with DuckDB: all columns decoded and typed")
    with duckdb.connect() as connection:
        started = time.perf_counter()
        query = f"SELECT count(*), bit_xor(hash(t)) FROM ({usv.select_usv(Prospect, str(usv_file))}) t"
        (found, _), *_ = connection.execute(query).fetchall()
        rate = count / (time.perf_counter() - started)
    if found != count:
        raise RuntimeError(f"DuckDB read {found} of {count} rows")
    bench.measure("duckdb_rows_s", rate, unit="rows/s", conditions=f"columns in DuckDB, all cores; {conditions}")
    bench.note("reading with pyarrow: columns of raw text, nothing decoded")
    started = time.perf_counter()
    table = arrow_csv.read_csv(
        usv_file,
        parse_options=arrow_csv.ParseOptions(delimiter=usv.SEPARATOR, quote_char=False, escape_char=False),
        convert_options=arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(Prospect.model_fields, pa.string()),
            null_values=[usv.NULL],
            strings_can_be_null=True,
        ),
    )
    rate = count / (time.perf_counter() - started)
    if table.num_rows != count:
        raise RuntimeError(f"pyarrow read {table.num_rows} of {count} rows")
    bench.measure("pyarrow_rows_s", rate, unit="rows/s", conditions=f"columns in Arrow, all cores; {conditions}")


def _in_turns(
    ours: Iterator[Prospect],
    do_ours: Callable[[Iterable[Prospect]], object],
    theirs: Iterator[Prospect],
    do_theirs: Callable[[Iterable[Prospect]], object],
) -> tuple[float, float]:
    """Run both to their ends, some rows each in turn; how long each took."""
    seconds = [0.0, 0.0]
    sides = [(ours, do_ours), (theirs, do_theirs)]
    while True:
        done = 0
        for side, (source, act) in enumerate(sides):
            turn = _Counted(islice(source, TURN))
            started = time.perf_counter()
            act(turn)
            seconds[side] += time.perf_counter() - started
            done += turn.count
        if done == 0:
            break
    return seconds[0], seconds[1]


class _Counted:
    """An iterator that knows how many it gave."""

    def __init__(self, rows: Iterable[Prospect]) -> None:
        self._rows = rows
        self.count = 0

    def __iter__(self) -> Iterator[Prospect]:
        for row in self._rows:
            self.count += 1
            yield row


# The peer: what one writes with the standard library and pydantic, without waste.

_JSON_NAMES = frozenset(column.name for column in columns_of(Prospect) if column.kind is ColumnKind.JSON)


def _csv_row(record: Prospect) -> list[Any]:
    values = record.model_dump(mode="json")
    return [
        json.dumps(value, ensure_ascii=False, separators=(",", ":")) if name in _JSON_NAMES else value
        for name, value in values.items()
    ]


def _csv_records(lines: Iterable[str]) -> Iterator[Prospect]:
    reader = csv.reader(lines)
    columns = [(name, name in _JSON_NAMES) for name in next(reader)]
    validate = Prospect.model_validate
    for row in reader:
        values = {
            name: from_json(text) if is_json else text or None
            for (name, is_json), text in zip(columns, row, strict=True)
        }
        yield validate(values, strict=False)


def _prospect(number: int) -> Prospect:
    chance = random.Random(number)
    kind = chance.choice(_KINDS)
    domain = f"company{number}.com" if chance.random() < 0.7 else None
    seen = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=chance.randrange(20_000_000))
    week = tuple(
        OpenHours(day=day, opens=f"0{chance.choice('789')}:00", closes="17:30")
        for day in ("mo", "tu", "we", "th", "fr")
    )
    return Prospect(
        company_hash=f"{chance.getrandbits(64):016x}",
        place_id=f"ChIJ{chance.getrandbits(92):023x}",
        slug=f"acme-{number}",
        name=f"{chance.choice(_FIRST)} {kind} {number}",
        phone=f"(310) 555-{number % 10_000:04d}",
        phone_e164=f"+1310555{number % 10_000:04d}",
        website=f"https://www.{domain}/" if domain else None,
        domain=domain,
        street=f"{number} Main St, Suite {number % 90}",
        city=chance.choice(_CITIES),
        region="CA",
        postcode=f"90{number % 1000:03d}",
        country="US",
        lat=round(33 + chance.random(), 7),
        lon=round(-118 - chance.random(), 7),
        categories=tuple(dict.fromkeys((kind, chance.choice(_KINDS)))),
        rating=round(1 + 4 * chance.random(), 1) if chance.random() < 0.8 else None,
        review_count=int(chance.expovariate(1 / 80)),
        hours=week if chance.random() < 0.8 else (),
        business_status="operational",
        socials={"facebook": f"https://www.facebook.com/c{number}"} if chance.random() < 0.4 else {},
        primary_email=f"info@{domain}" if domain else None,
        all_emails=(f"info@{domain}", f"sales@{domain}") if domain else (),
        tags=("roofers",),
        campaign="roofers",
        phrases=("roofing contractor", "roofer")[: chance.randrange(1, 3)],
        tiles=(f"33.{chance.randrange(10)}_-118.{chance.randrange(10)}",),
        first_seen=seen,
        updated_at=seen + timedelta(seconds=chance.randrange(5_000_000)),
        sources=("google-maps", "overture"),
        origins=(
            Origin(fields=("domain", "name", "phone", "website"), source="google-maps", observed_at=seen)
            if number % 2
            else Origin(fields=("name",), source="overture", observed_at=seen, document=_uuid(chance)),
        ),
    )


def _uuid(chance: random.Random) -> str:
    digits = f"{chance.getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-3{digits[13:16]}-8{digits[17:20]}-{digits[20:]}"
