"""Tasks as this program puts them, read at a tenth of the price: most were never recovered and are no batches.

Whatever looks different is read by `json_records.read`, which says what is wrong with it. The two agree on every text
that this one reads.
"""

from __future__ import annotations

from datetime import UTC, datetime

from cocli.formats import json_records
from cocli.formats.json_form import JsonForm
from cocli.models.task import Task

_ALL_FIELDS = set(Task.model_fields)


class TaskForm:
    """How the single tasks of one queue are written, all but id, payload, time and nonce."""

    def __init__(self, campaign: str, queue: str) -> None:
        never = datetime.min.replace(tzinfo=UTC)
        example = Task(task_id="…", queue=queue, campaign=campaign, created_at=never, nonce="0" * 24)
        self._match = (
            JsonForm(example, "created_at", "nonce", "payload", "task_id")
            .pattern(
                created_at=r'"([0-9]{4}(?:-[0-9]{2}){2}T[0-9]{2}(?::[0-9]{2}){2}(?:\.[0-9]{1,6})?Z)"',
                nonce=r'"([A-Za-z0-9_-]{8,64})"',
                payload=r"(\{.*\})",
                task_id=r'"([^"\\\x00-\x1f\x7f]{1,4096})"',
            )
            .fullmatch
        )
        self._same = {name: getattr(example, name) for name in Task.model_fields}

    def read(self, data: bytes, *, file: str) -> Task:
        """The task in a file; a FormatError where there is none."""
        return self._quickly(data) or json_records.read(Task, data, file=file)

    def _quickly(self, data: bytes) -> Task | None:
        found = self._match(data)
        if found is None:
            return None
        created_at, nonce, payload_text, task_id = found.groups()
        payload = json_records.plain_object(payload_text)
        if payload is None:
            payload = json_records.as_written(payload_text)
        if payload is None:
            return None
        try:
            values = self._same | {
                "task_id": task_id.decode(),
                "created_at": datetime.fromisoformat(created_at.decode()),
                "nonce": nonce.decode(),
                "payload": payload,
            }
        except ValueError:  # no UTF-8, or a thirteenth month
            return None
        return Task.of_checked(values, _ALL_FIELDS)
