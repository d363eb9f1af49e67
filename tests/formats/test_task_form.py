"""A task that is read by its form is the one that is read by the book."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocli.errors import FormatError
from cocli.formats import json_records
from cocli.formats.task_form import TaskForm
from cocli.models.task import Task, TaskItem

FORM = TaskForm("plumbers", "gm-list")
NOW = datetime(2026, 11, 17, 12, 30, 1, 250_000, tzinfo=UTC)
TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
DAMAGE = (b"", b"\x00", b'"', b"}", b'"a":1,', b"\xff", b"NaN", b'},"payload":{', b"13", b" ")


def task(task_id: object = "t1", **values: object) -> Task:
    given = {"queue": "gm-list", "campaign": "plumbers", "created_at": NOW, "nonce": "0123456789", **values}
    return Task.checked({"task_id": task_id, **given})


@given(
    TEXT.filter(lambda text: text and "\x00" not in text),
    st.dictionaries(TEXT, JSON, max_size=4),
    st.datetimes(timezones=st.just(UTC)),
)
def test_both_readers_agree(task_id: str, payload: dict[str, object], at: datetime) -> None:
    written = json_records.render(task(task_id, payload=payload, created_at=at))
    quick, careful = FORM.read(written, file="x"), json_records.read(Task, written)
    assert (quick, quick.model_fields_set) == (careful, careful.model_fields_set)
    assert vars(quick) == vars(careful)
    assert json_records.render(quick) == written


def test_a_plain_task_is_read_by_its_form() -> None:
    assert FORM._quickly(json_records.render(task(payload={"phrase": "plumber", "tile": [1, 2.5]}))) is not None
    assert FORM._quickly(json_records.render(task())) is not None


@pytest.mark.parametrize(
    "other", [{"items": (TaskItem(item_id="a"),)}, {"recoveries": 1, "last_token": 3}, {"queue": "gm-details"}]
)
def test_other_tasks_are_read_by_the_book(other: dict[str, object]) -> None:
    written = json_records.render(task(**other))
    assert FORM._quickly(written) is None
    assert FORM.read(written, file="x") == json_records.read(Task, written)


@given(st.data())
def test_what_one_reader_refuses_the_other_does(data: st.DataObject) -> None:
    """A damaged text is read alike, or refused alike."""
    written = json_records.render(task(payload={"a": {"b": 1}, "c": "x"}))
    at = data.draw(st.integers(0, len(written) - 1))
    cut = data.draw(st.integers(0, 12))
    new = data.draw(
        st.sampled_from([b"", b"\x00", b'"', b"}", b'"a":1,', b"\xff", b"NaN", b'},"payload":{', b"13", b" "])
    )
    damaged = written[:at] + new + written[at + cut :]
    try:
        careful: Task | None = json_records.read(Task, damaged)
    except FormatError:
        careful = None
    try:
        quick: Task | None = FORM.read(damaged, file="x")
    except FormatError:
        quick = None
    assert quick == careful
