"""The self-check as it is kept: learnt as long as all is well, and stopped where a field is lost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from cocli.errors import ParserAlarm
from cocli.pipeline.sources.google_maps.quality import CONTACT, IDENTITY, LAST_PAGES, PageFill
from cocli.pipeline.sources.google_maps.quality_book import QualityBook, quality_of
from cocli.store.memory import MemoryStore

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
FIELDS = (*IDENTITY, *CONTACT)


def page(places: int = 10, **filled: int) -> PageFill:
    return PageFill(places, dict.fromkeys(FIELDS, places) | filled)


def book(store: MemoryStore, version: str = "1") -> QualityBook:
    return QualityBook(store, "demo", "list", version=version, clock=lambda: NOON)


def test_what_is_usual_is_learnt_from_pages_that_left_the_last_ones() -> None:
    store = MemoryStore()
    for _ in range(LAST_PAGES):
        assert book(store).add(page(website=6)).usual is None
    for _ in range(30):
        record = book(store).add(page(website=6))
    assert record.usual is not None
    assert (record.usual.pages, record.usual.places, record.usual.rate("website")) == (30, 300, 0.6)
    assert len(record.recent) == LAST_PAGES
    assert record.alarms == ()
    assert quality_of(store, "demo") == [record]
    assert quality_of(store, "other") == []


def test_a_field_that_is_lost_stops_reading_and_is_not_learnt_as_usual() -> None:
    store = MemoryStore()
    for _ in range(LAST_PAGES + 20):
        book(store).add(page())
    lost = 0
    while not (record := book(store).add(page(phone=0))).grave:
        lost += 1
    assert 5 < lost < LAST_PAGES, "not by one odd page, but before all are lost"
    assert record.usual is not None
    learnt = record.usual.pages
    with pytest.raises(ParserAlarm, match="phone fell to"):
        book(store).check()
    for _ in range(100):
        record = book(store).add(page())
    assert record.usual is not None
    assert record.usual.pages == learnt, "what came after an alarm says nothing of what is usual"
    with pytest.raises(ParserAlarm) as alarm:
        book(store).check()
    assert str(alarm.value.details["key"]) in (alarm.value.hint or "")
    store.delete(str(alarm.value.details["key"]))
    book(store).check()


def test_a_warning_is_shown_and_goes_by_itself() -> None:
    store = MemoryStore()
    for _ in range(LAST_PAGES + 40):
        book(store).add(page())
    for _ in range(LAST_PAGES):
        record = book(store).add(page(website=7))
    assert [alarm.severity for alarm in record.alarms] == ["warning"]
    book(store).check()
    for _ in range(LAST_PAGES):
        record = book(store).add(page())
    assert record.alarms == ()


def test_another_version_starts_with_what_was_usual_and_without_alarms() -> None:
    store = MemoryStore()
    for fill in [page()] * (LAST_PAGES + 20) + [page(name=0)] * 20:
        book(store).add(fill)
    with pytest.raises(ParserAlarm):
        book(store).check()
    book(store, "2").check()
    record = book(store, "2").add(page())
    assert (record.version, len(record.recent), record.alarms) == ("2", 1, ())
    assert record.usual is not None


def test_workers_side_by_side_lose_no_page() -> None:
    store = MemoryStore()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: book(store).add(page()), range(40)))
    (record,) = quality_of(store, "demo")
    assert len(record.recent) == 40
