"""A row, an event, a memo ⇄ the values of their columns."""

from __future__ import annotations

import json
from dataclasses import astuple
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from cocli.documents.catalog.base import Memo
from cocli.documents.catalog.statements import EVENT, MEMO, ROW
from cocli.documents.header import Operation
from cocli.documents.outbox import Event
from cocli.keys.paths import document_path
from cocli.models.document import DocumentReference, PipeDoc, Step
from cocli.models.record import render_utc

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    Write = Callable[[datetime], object]
    Read = Callable[[Any], datetime]

_TIMES = ("saved_at", "deleted_at", "purged_at", "expired_at")
_fields = attrgetter(*ROW)


def row_values(row: PipeDoc, write: Write) -> dict[str, object]:
    values: dict[str, object] = dict(zip(ROW, _fields(row), strict=True))
    values["cluster"] = row.cluster or ""
    values["path"] = path_of(row)
    values["steps"] = json.dumps([step.model_dump(mode="json") for step in row.steps]) if row.steps else "[]"
    for name in _TIMES:
        moment = getattr(row, name)
        values[name] = None if moment is None else write(moment)
    return values


def path_of(row: PipeDoc) -> str:
    """The key of its object, behind the prefix of the repository."""
    return document_path((row.account, row.connector, row.datasource, row.doc), row.cluster, row.uuid)


def read_row(columns: Sequence[Any], read: Read) -> PipeDoc:
    values = dict(zip(ROW, columns, strict=True))
    values["cluster"] = values["cluster"] or None
    steps = values["steps"]
    values["steps"] = (
        () if steps == "[]" else tuple(Step.model_validate_json(json.dumps(step)) for step in json.loads(steps))
    )
    for name in _TIMES:
        if values[name] is not None:
            values[name] = read(values[name])
    return PipeDoc.checked(values)


def event_values(event: Event, write: Write) -> dict[str, object]:
    to = event.reference
    values = (
        *(event.event_id, event.uuid, to.cluster or "", to.account, to.connector, to.datasource, to.doc, to.address),
        *(to.digest, event.version, str(event.operation), event.destination, write(event.at)),
    )
    return dict(zip(EVENT, values, strict=True))


def read_event(columns: Sequence[Any], read: Read) -> Event:
    values = dict(zip(EVENT, columns, strict=True))
    parts = ("account", "connector", "datasource", "doc", "address", "digest")
    reference = DocumentReference.checked(
        {name: values[name] for name in parts} | {"cluster": values["cluster"] or None}
    )
    return Event(
        values["event_id"],
        values["uuid"],
        Operation(values["operation"]),
        values["destination"],
        reference,
        values["version"],
        read(values["at"]),
    )


def memo_values(memo: Memo, write: Write) -> dict[str, object]:
    return dict(zip(MEMO, astuple(memo), strict=True)) | {"at": write(memo.at)}


def read_memo(columns: Sequence[Any], read: Read) -> Memo:
    values = dict(zip(MEMO, columns, strict=True))
    return Memo(**values | {"at": read(values["at"])})


def text_of(moment: datetime) -> str:
    """A time for a database that has none: texts of one length, which sort as the times do."""
    text = render_utc(moment)
    if "." in text:
        return text
    return f"{text[:-1]}.000000Z"
