"""Files of tasks and of ids, line by line: a line that is wrong is named and left out, the others count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import Field, JsonValue, ValidationError
from pydantic_core import from_json

from cocli.errors import CocliError, UsageError
from cocli.keys.parts import encode_part
from cocli.models.record import RecordPart, explain
from cocli.models.task import TaskId  # noqa: TC001  pydantic needs it at run time
from cocli.queue.base import NewTask

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cocli.app.workspace import Progress


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that nothing was made of, and why."""

    line: int
    reason: str


class _TaskLine(RecordPart):
    """`{"task_id": "…", "payload": {…}}`"""

    task_id: TaskId
    payload: dict[str, JsonValue] = Field(default_factory=dict)


def new_task(task_id: str, payload: str | None) -> NewTask:
    """A task as typed on the command line."""
    try:
        return _checked({"task_id": task_id, "payload": {} if payload is None else _json(payload.encode())})
    except ValueError as error:
        raise UsageError(
            reason=f"The task is not valid: {error}",
            hint='The payload is a JSON object: --payload \'{"name": "value"}\'',
        ) from error


def tasks_in(lines: Iterable[bytes], bad: list[BadLine], progress: Progress) -> Iterator[NewTask]:
    """The tasks of a file of JSON lines. Wrong lines are added to `bad`; blank ones mean nothing."""
    for number, line in enumerate(lines, start=1):
        progress(number)
        if not line.strip():
            continue
        try:
            yield _checked(_json(line))
        except ValueError as error:
            bad.append(BadLine(number, str(error)))


def ids_in(lines: Iterable[bytes], bad: list[BadLine]) -> Iterator[str]:
    """The ids of a file: one per line, plain or as JSON lines with a task_id (what `queue ls --json` holds)."""
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text:
            continue
        try:
            values = _json(text) if text.startswith(b"{") else {"task_id": text.decode()}
            yield _checked({"task_id": values["task_id"]}).task_id
        except KeyError:
            bad.append(BadLine(number, "the object has no task_id"))
        except ValueError as error:
            bad.append(BadLine(number, str(error)))


def _json(data: bytes) -> dict[str, object]:
    try:
        values = from_json(data, allow_inf_nan=False)
    except ValueError as error:
        raise ValueError(f"not JSON: {error}".replace(" at line 1 column", " at column")) from error
    if not isinstance(values, dict):
        raise ValueError("expected a JSON object")  # noqa: TRY004  a wrong line, like all the others
    return values


def _checked(values: dict[str, object]) -> NewTask:
    """What a queue will take for certain: nothing of it can fail half-way through a file."""
    try:
        line = _TaskLine.model_validate(values)
        encode_part(line.task_id)
    except ValidationError as error:
        raise ValueError(explain(error)) from error
    except CocliError as error:
        raise ValueError(error.message) from error
    return NewTask(line.task_id, line.payload)
