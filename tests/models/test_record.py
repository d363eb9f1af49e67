"""The base of all records: strict, frozen, UTC only, schema named."""

from __future__ import annotations

import importlib
import pkgutil
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from enum import Enum, StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import cocli.models
from cocli.errors import RecordError
from cocli.keys.tile import Tile
from cocli.models.email import EmailEntry
from cocli.models.place import Place
from cocli.models.record import Label, Many, Record, RecordPart, Text, TileValue, UtcDatetime, parse_utc, render_utc

NOON = datetime(2026, 11, 15, 18, 0, tzinfo=UTC)
MODULES = [
    importlib.import_module(f"cocli.models.{module.name}") for module in pkgutil.iter_modules(cocli.models.__path__)
]
CLASSES = [
    value
    for module in MODULES
    for value in vars(module).values()
    if isinstance(value, type) and value.__module__ == module.__name__
]
RECORDS = [value for value in CLASSES if issubclass(value, Record) and value is not Record]


class Sample(Record):
    schema_id = "cocli.sample/1"

    text: Text
    at: UtcDatetime | None = None
    tile: TileValue | None = None
    labels: Many[Label] = ()
    number: float = 0.0


def test_a_record_is_built_when_it_is_first_used_by_whichever_thread() -> None:
    class Inner(RecordPart):
        count: int

    class Outer(Record):
        schema_id = "cocli.outer/1"

        inner: Inner

    assert not Outer.__pydantic_complete__
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda number: Outer.checked({"inner": {"count": number}}), range(64)))
    assert [record.inner.count for record in made] == list(range(64))
    assert Outer.__pydantic_complete__


def test_every_record_can_be_built() -> None:
    for model in (kind for kind in CLASSES if issubclass(kind, RecordPart)):
        model.model_rebuild()
        assert model.__pydantic_complete__


def test_every_record_names_its_own_schema() -> None:
    ids = [record.schema_id for record in RECORDS]
    assert len(set(ids)) == len(ids) >= 19
    with pytest.raises(TypeError, match="needs a schema_id"):
        type("Nameless", (Record,), {"schema_id": "prospect"})


def test_a_key_names_fields() -> None:
    with pytest.raises(TypeError, match="do not exist"):
        type("Lost", (Record,), {"schema_id": "cocli.lost/1", "key": ("nowhere",)})


@pytest.mark.parametrize("model", [value for value in CLASSES if issubclass(value, RecordPart)])
def test_every_model_is_strict_frozen_and_says_what_it_does_with_other_keys(model: type[RecordPart]) -> None:
    assert model.model_config["strict"]
    assert model.model_config["frozen"]
    people_write_it = {"Company", "Person", "Note", "Meeting"}
    assert model.model_config["extra"] == ("allow" if model.__name__ in people_write_it else "forbid")


def test_no_enum_changes_its_text_between_python_versions() -> None:
    enums = [value for value in CLASSES if issubclass(value, Enum)]
    assert all(issubclass(value, StrEnum) for value in enums if issubclass(value, str))


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"text": 5}, "text: Input should be a valid string"),
        ({}, "text: Field required"),
        ({"text": "x", "other": 1}, "other: Extra inputs are not permitted"),
        ({"text": "x\ud800"}, "text: the text contains a lone surrogate"),
        ({"text": "x", "labels": ["a\nb"]}, "labels.0: String should match"),
        ({"text": "x", "labels": [" "]}, "labels.0: String should match"),
        ({"text": "x", "number": float("nan")}, "number: Input should be a finite number"),
        ({"text": "x", "number": "1"}, "number: Input should be a valid number"),
        ({"text": "x", "at": datetime(2026, 11, 15)}, "at: the time has no time zone"),  # noqa: DTZ001
        ({"text": "x", "at": "2026-11-15T18:00:00"}, "at: expected a time in UTC"),
        ({"text": "x", "at": "2026-11-15 18:00:00Z"}, "at: expected a time in UTC"),
        ({"text": "x", "at": 1_700_000_000}, "at: Input should be a valid datetime"),
        ({"text": "x", "tile": "33.75_-118.3"}, "tile: "),
        ({"text": "x", "tile": "33.7"}, "tile: "),
        ({"text": "x", "tile": 5}, "tile: expected a tile"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(values: dict[str, Any], reason: str) -> None:
    with pytest.raises(RecordError) as caught:
        Sample.checked(values)
    assert reason in caught.value.message
    assert "\n" not in caught.value.message


def test_other_zones_are_refused_and_other_spellings_of_utc_are_not() -> None:
    with pytest.raises(ValidationError, match="expected UTC"):
        Sample(text="x", at=NOON.astimezone(timezone(timedelta(hours=2))))
    record = Sample(text="x", at=NOON.astimezone(timezone(timedelta(0), "GMT")))
    assert record.at is not None
    assert record.at.tzinfo is UTC


@given(st.datetimes(timezones=st.just(UTC)))
def test_times_survive_their_text(moment: datetime) -> None:
    assert parse_utc(render_utc(moment)) == moment
    record = Sample(text="x", at=moment)
    assert Sample.model_validate_json(record.model_dump_json()) == record


def test_times_look_as_promised() -> None:
    assert render_utc(NOON) == "2026-11-15T18:00:00Z"
    assert render_utc(NOON.replace(microsecond=1)) == "2026-11-15T18:00:00.000001Z"
    assert render_utc(NOON.replace(year=1)) == "0001-11-15T18:00:00Z"


def test_a_tile_is_a_tile_in_memory_and_a_name_in_a_file() -> None:
    record = Sample.checked({"text": "x", "tile": "33.7_-118.3"})
    assert record.tile == Tile(33700, -118300)
    assert record.model_dump(mode="json")["tile"] == "33.7_-118.3"


def test_records_do_not_change() -> None:
    record = Sample(text="x")
    with pytest.raises(ValidationError, match="frozen"):
        record.text = "y"  # type: ignore[misc]


def test_with_changes_checks_and_keeps_extras() -> None:
    record = Sample(text="x").with_extras({"grade": "gold"})
    changed = record.with_changes(text="y")
    assert (changed.text, dict(changed.extras)) == ("y", {"grade": "gold"})
    assert record.text == "x"
    with pytest.raises(RecordError, match="text"):
        record.with_changes(text=5)
    with pytest.raises(RecordError, match="Extra inputs"):
        record.with_changes(txet="y")


def test_extras_are_part_of_equality_but_not_of_dumps() -> None:
    record = Sample(text="x")
    assert record.with_extras({"a": "1"}) != record
    assert record.with_extras({}) == record
    assert "a" not in record.with_extras({"a": "1"}).model_dump()
    assert record.extras == {}


def test_an_email_inbox_is_keyed_by_the_address_itself() -> None:
    assert EmailEntry.key == ("email",)
    dotted, dashed = "a.b@c.de", "a-b@c.de"
    entries = [EmailEntry(email=email, domain="c.de", first_seen=NOON, last_seen=NOON) for email in (dotted, dashed)]
    assert entries[0].email != entries[1].email


def test_ids_seen_together_name_one_place() -> None:
    ids: dict[str, Any] = {
        "place_id": "ChIJyUzh2kXqwoARUtNFG8VjnYQ",
        "feature_id": "0x80c2ea45dae14cc9:0x849d63c51b45d352",
    }
    values: dict[str, Any] = {"source": "google-maps", "source_id": "1", "name": "A", "observed_at": NOON}
    assert Place(**values, **ids).place_id == ids["place_id"]
    with pytest.raises(RecordError, match="feature id of ChIJ"):
        Place.checked(values | ids | {"feature_id": "0x1:0x2"})
