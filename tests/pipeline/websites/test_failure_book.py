"""Failures of extractors are counted by websites, over an hour, for all processes of a machine."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from tests.kit.faulty_store import Fault, FaultKind, FaultyStore

from cocli.fleet.stall import extractor_problems
from cocli.formats import json_records
from cocli.keys.paths import ExtractorQualityKey
from cocli.pipeline.websites.site.extractor_quality import ExtractorQuality, FailureExample
from cocli.pipeline.websites.site.failure_book import FailureBook
from cocli.pipeline.websites.site.site import PageFailure, PageRead, SiteReading
from cocli.store.memory import MemoryStore

START = datetime(2026, 11, 17, 8, tzinfo=UTC)
KEY = str(ExtractorQualityKey("plumbers", "pi1"))


class Bench:
    """A store, and a clock that the test turns."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.seconds = 0.0

    @property
    def now(self) -> datetime:
        return START + timedelta(seconds=self.seconds)

    def book(self, version: str = "1") -> FailureBook:
        return FailureBook(
            self.store, "plumbers", "pi1", version=version, clock=lambda: self.now, monotonic=lambda: self.seconds
        )

    def counted(self) -> ExtractorQuality:
        return json_records.read(ExtractorQuality, self.store.get(KEY).data, file=KEY)

    def alarms(self) -> list[tuple[str, int, int]]:
        return [(alarm.extractor, alarm.failed, alarm.sites) for alarm in self.counted().alarms(self.now)]


def reading(*failures: tuple[str, str]) -> SiteReading:
    made = SiteReading("http://a.com/", "a.com")
    made.pages = [object.__new__(PageRead)]
    made.failures = [PageFailure(extractor, reason, "http://a.com/") for extractor, reason in failures]
    return made


def test_nothing_is_written_as_long_as_nothing_fails() -> None:
    bench = Bench()
    book = bench.book()
    for _ in range(20):
        book.add(reading())
        bench.seconds += 100
    book.flush()
    assert list(bench.store.list("campaigns/")) == []


def test_two_processes_of_a_machine_are_counted_together_and_a_site_once() -> None:
    bench = Bench()
    first, second = bench.book(), bench.book()
    for _ in range(3):
        first.add(reading(("hours", "KeyError: 'mo'"), ("hours", "KeyError: 'tu'"), ("page", "too-costly: 10 s")))
        second.add(reading(("hours", "KeyError: 'we'")))
        bench.seconds += 11
    assert bench.alarms() == [("hours", 6, 6)]
    (problem,) = extractor_problems([bench.counted()], campaign="plumbers", now=bench.now)
    assert problem.hint == "cocli documents get http://a.com/ --node page -c plumbers"
    for _ in range(2):
        first.add(reading(("page", "too-costly: 10 s")))
    first.flush()
    assert bench.alarms() == [("hours", 6, 8), ("too-costly", 5, 8)]


def test_what_fails_often_is_written_now_and_then_only() -> None:
    bench = Bench()
    book = bench.book()
    versions = set()
    for _ in range(100):
        book.add(reading(("hours", "KeyError: 'mo'")))
        versions.add(bench.store.get(KEY).etag)
        bench.seconds += 0.5
    assert 4 <= len(versions) <= 6
    assert bench.alarms()[0][1] > 80


@pytest.mark.parametrize(("failed", "sites", "raised"), [(4, 10, False), (5, 250, True), (5, 251, False), (9, 9, True)])
def test_several_websites_and_two_in_a_hundred(failed: int, sites: int, raised: bool) -> None:
    record = ExtractorQuality(hostname="pi1", version="1", updated_at=START)
    example = FailureExample(document="http://a.com/", reason="KeyError: 'mo'")
    record = record.with_sites(sites, Counter({"hours": failed}), {"hours": example}, START)
    assert bool(record.alarms(START)) is raised
    assert record.alarms(START + timedelta(hours=1)) == [], "it is over an hour later"


def test_sites_that_are_read_well_afterwards_end_the_alarm() -> None:
    bench = Bench()
    book = bench.book()
    for _ in range(5):
        book.add(reading(("hours", "KeyError: 'mo'")))
    book.flush()
    assert bench.alarms() == [("hours", 5, 5)]
    for _ in range(400):
        book.add(reading())
        bench.seconds += 1
    assert bench.alarms() == []


def test_another_version_counts_anew_and_so_does_one_that_finds_nonsense() -> None:
    bench = Bench()
    for version in ("1", "2"):
        book = bench.book(version)
        for _ in range(5):
            book.add(reading(("hours", "KeyError: 'mo'")))
        book.flush()
        assert bench.alarms() == [("hours", 5, 5)]
    bench.store.put(KEY, b"{")
    book.add(reading(("hours", "KeyError: 'mo'")))
    book.flush()
    assert bench.counted().spans[0].sites == 1


def test_a_store_that_is_away_costs_no_website_its_records() -> None:
    bench = Bench()
    faulty = FaultyStore(bench.store, lambda operation: Fault(FaultKind.ERROR) if operation.number == 1 else None)
    book = FailureBook(faulty, "plumbers", "pi1", version="1", clock=lambda: bench.now, monotonic=lambda: bench.seconds)
    book.add(reading(("hours", "KeyError: 'mo'")))
    bench.seconds += 11
    book.add(reading(("hours", "KeyError: 'mo'")))
    assert bench.counted().spans[0].failed == {"hours": 2}
