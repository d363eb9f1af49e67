"""JSON: canonical bytes, strict reading."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from cocli.errors import FormatError, RecordError
from cocli.formats import json_records
from cocli.models.completion import Blocked, Completion, Empty, Failed, Ok
from cocli.models.document import DocumentReference
from cocli.models.task import Task, TaskError

NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
json_values: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
payloads = st.dictionaries(st.text(), json_values, max_size=4)


def task(**values: Any) -> Task:
    required: dict[str, Any] = {"task_id": "33.7_-118.3_roofer", "queue": "gm-list", "campaign": "roofers"}
    return Task(**(required | {"created_at": NOON, "nonce": "0123456789"} | values))


def completion(**values: Any) -> Completion:
    required: dict[str, Any] = {"task_id": "t", "queue": "gm-list", "campaign": "c", "worker": "w"}
    required |= {"token": 1, "attempt": 1}
    return Completion(**(required | {"claimed_at": NOON, "finished_at": NOON, "nonce": "01234567"} | values))


@given(payloads, st.datetimes(timezones=st.just(UTC)))
def test_every_task_survives(payload: dict[str, JsonValue], at: datetime) -> None:
    record = task(payload=payload, created_at=at)
    data = json_records.render(record)
    again = json_records.read(Task, data)
    assert again == record
    assert json_records.render(again) == data
    assert data.endswith(b"}\n")
    assert data.count(b"\n") == 1


@given(payloads)
def test_equal_records_have_equal_bytes(payload: dict[str, JsonValue]) -> None:
    backwards = dict(reversed(payload.items()))
    assert json_records.render(task(payload=payload)) == json_records.render(task(payload=backwards))


@given(
    st.one_of(
        st.builds(Ok, result=payloads, count=st.none() | st.integers(min_value=0)),
        st.builds(Empty, evidence=st.just("end of list")),
        st.builds(Blocked, reason=st.text()),
        st.builds(Failed, error=st.builds(TaskError, code=st.just("x"), message=st.text(), retryable=st.booleans())),
    )
)
def test_every_verdict_survives(verdict: Ok | Empty | Blocked | Failed) -> None:
    record = completion(verdict=verdict)
    again = json_records.read(Completion, json_records.render(record))
    assert again == record
    assert type(again.verdict) is type(verdict)


def test_the_bytes_are_these() -> None:
    owner = {"account": "acct", "connector": "web", "datasource": "ds"}
    reference = DocumentReference(**owner, doc='é "x"', address="ds", digest="0" * 64)
    assert json_records.render(reference).decode() == (
        '{"account":"acct","address":"ds","cluster":null,"connector":"web","datasource":"ds","digest":"'
        + "0" * 64
        + '",'
        '"doc":"é \\"x\\"","schema":"cocli.document-reference/1"}\n'
    )


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (lambda text: text.replace("cocli.task/1", "cocli.task/2"), "expected cocli.task/1, but"),
        (lambda text: text.replace('"schema":"cocli.task/1",', ""), "says nothing of its schema"),
        (lambda text: text.replace('"queue":', '"que":'), "que: Extra inputs are not permitted"),
        (lambda text: text.replace('"queue":', '"queue":"other","queue":'), '"queue" occurs twice'),
        (lambda text: text.replace('"recoveries":0', '"recoveries":NaN'), "not JSON"),
        (lambda text: text.replace('"recoveries":0', '"recoveries":"0"'), "recoveries: "),
        (lambda text: text.replace('"recoveries":0', '"recoveries":1.0'), "recoveries: "),
        (lambda text: text.replace("roofers", "\\ud800"), "not JSON"),
        (lambda text: text.replace("2026-11-15T12:00:00Z", "2026-11-15T12:00:00"), "created_at: expected a time"),
        (lambda text: text[:-3], "not JSON"),
        (lambda _: "", "not JSON"),
        (lambda _: "[]", "one JSON object"),
        (lambda _: "[" * 100_000, "not JSON"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_a_format_error(edit: Any, reason: str) -> None:
    data = edit(json_records.render(task()).decode()).encode()
    with pytest.raises(FormatError) as caught:
        json_records.read(Task, data, file="task.json")
    assert reason in caught.value.message
    assert caught.value.message.startswith("task.json, line 1: ")


def test_bytes_that_are_no_text_are_a_format_error() -> None:
    with pytest.raises(FormatError, match="not JSON"):
        json_records.read(Task, b'{"a":"\xff"}')


@pytest.mark.parametrize("value", ["\ud800", float("nan"), float("inf")])
def test_what_no_file_can_hold_is_refused(value: JsonValue) -> None:
    with pytest.raises(RecordError):
        json_records.render(task().model_copy(update={"payload": {"a": value}}))
