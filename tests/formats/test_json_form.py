"""A form gives the bytes that the record itself would."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue
from tests.formats.test_json_records import completion, payloads

from cocli.errors import RecordError
from cocli.formats import json_records
from cocli.formats.json_form import JsonForm
from cocli.models.completion import Empty, Ok
from cocli.models.document import DocumentReference
from cocli.models.record import render_utc

ids = st.text(min_size=1).filter(lambda text: "\0" not in text)
times = st.datetimes(timezones=st.just(UTC))


@given(ids, payloads, times)
def test_the_bytes_are_those_of_the_record(task_id: str, result: dict[str, JsonValue], at: datetime) -> None:
    form = JsonForm(completion(verdict=Ok(), worker="100 % {w}"), "claimed_at", "finished_at", "task_id", "verdict")
    for verdict in (Ok(result=result, count=3), Empty(evidence='the "end" mark')):
        moment = json_records.text(render_utc(at))
        filled = form.fill(moment, moment, json_records.text(task_id), json_records.text(vars(verdict)))
        record = completion(verdict=verdict, worker="100 % {w}", task_id=task_id, claimed_at=at, finished_at=at)
        assert filled == json_records.render(record)


def test_documents_of_a_verdict_are_written_as_in_the_record() -> None:
    address = dict.fromkeys(("account", "connector", "datasource", "doc", "address"), "a")
    verdict = Ok(documents=(DocumentReference(**address, digest="a" * 64),))
    form = JsonForm(completion(verdict=Ok()), "verdict")
    assert form.fill(json_records.text(vars(verdict))) == json_records.render(completion(verdict=verdict))


def test_a_gap_that_is_no_field() -> None:
    with pytest.raises(RecordError, match="verdikt"):
        JsonForm(completion(verdict=Ok()), "verdikt")


def test_gaps_that_are_named_in_another_order_than_they_are_filled() -> None:
    with pytest.raises(RecordError, match="alphabetical"):
        JsonForm(completion(verdict=Ok()), "verdict", "task_id")


def test_a_text_that_no_file_can_hold() -> None:
    with pytest.raises(RecordError, match="lone surrogate"):
        JsonForm(completion(verdict=Ok()), "task_id").fill(json_records.text("\ud800"))
