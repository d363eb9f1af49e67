"""What became of commands. All of it lies in the campaign's store, also where SQS carries them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cocli.app.machines.cluster import read_beats
from cocli.app.queues.listing import ListedState, list_tasks
from cocli.app.queues.queues import QueueOnStore, queue_names
from cocli.app.workspace import no_progress
from cocli.errors import FormatError, InvalidKey, NotFound
from cocli.fleet.commands import ALL, GRAMMAR, CommandRequest, command_queue
from cocli.formats import json_records
from cocli.keys.paths import CompletedKey
from cocli.models.completion import Completion, Ok
from cocli.queue.places import Places
from cocli.queue.providers import COMMANDS, is_of_commands
from cocli.store.base import StoredObject

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from cocli.app.machines.commands import Sent
    from cocli.app.queues.listing import TaskRow
    from cocli.app.workspace import Campaign

_LOT = 200


@dataclass(frozen=True, slots=True)
class CommandRow:
    """What became of a command: waiting, running, done, already or failed."""

    id: str
    target: str
    text: str
    state: str
    sent_by: str | None = None
    sent_at: str | None = None
    host: str | None = None
    message: str | None = None
    at: datetime | None = None

    @property
    def is_over(self) -> bool:
        return self.state in ("done", "already", "failed")


def list_commands(campaign: Campaign, limit: int = 50) -> list[CommandRow]:
    """The newest first; 0 is all."""
    found: dict[str, CommandRow] = {}
    for target, place in _places(campaign):
        for row in _rows(target, place, limit):
            if row.id not in found or row.is_over:  # one that ended may still lie among those that wait
                found[row.id] = row
    return sorted(found.values(), key=lambda listed: listed.id, reverse=True)[: limit or None]


def find_command(campaign: Campaign, command_id: str) -> CommandRow:
    """By its id, or by how that begins."""
    found = [row for row in list_commands(campaign, 0) if row.id.startswith(command_id)]
    if len(found) != 1:
        reason = "is not unique" if found else "is no command of this campaign"
        raise NotFound(key=f"command {command_id}", hint=f"It {reason}; see: cocli remote ls -c {campaign.name}")
    return found[0]


def what_became_of(campaign: Campaign, sent: Sent) -> CommandRow:
    """One command that was sent a moment ago, without a look at the others."""
    place = _place(campaign, command_queue(sent.target))
    try:
        return _finished(sent.target, place.store.get(place.places.completion(sent.id, batch=False)))
    except NotFound:
        pass  # not yet, or not with a result
    for state in (ListedState.SIDELINE, ListedState.PENDING):
        for row in list_tasks(place, state, None, _LOT, no_progress):
            if row.task_id == sent.id:
                return _unfinished(sent.target, row)
    return CommandRow(sent.id, sent.target, sent.text, "waiting")


# --- where they lie


def _place(campaign: Campaign, name: str) -> QueueOnStore:
    return QueueOnStore(campaign.store, Places(campaign.name, name), campaign.name, name)


def _places(campaign: Campaign) -> Iterator[tuple[str, QueueOnStore]]:
    """Everybody that commands were sent to, by the folders of their queues."""
    config, beats = campaign.settings.model(), read_beats(campaign.store).beats
    hosts = {*config.workers, *config.cluster.hosts, *(beat.heartbeat.hostname for beat in beats)}
    targets = {command_queue(host): host for host in (ALL, *hosts)}
    for name in queue_names(campaign):
        if is_of_commands(name):
            yield targets.get(name, name.removeprefix(f"{COMMANDS}-")), _place(campaign, name)


# --- rows


def _rows(target: str, place: QueueOnStore, limit: int) -> Iterator[CommandRow]:
    for state in (ListedState.PENDING, ListedState.SIDELINE):
        for row in list_tasks(place, state, None, _LOT, no_progress):
            yield _unfinished(target, row)
    keys = [(_id_of(info.key), info.key) for info in place.store.list(place.places.completed)]
    newest = [key for _, key in sorted(keys, reverse=True)][: limit or None]
    for start in range(0, len(newest), _LOT):
        for answer in place.store.get_many(newest[start : start + _LOT]):
            if isinstance(answer, StoredObject):
                yield _finished(target, answer)
            elif not isinstance(answer, NotFound):  # purged since it was listed
                raise answer


def _id_of(key: str) -> str:
    try:
        return str(CompletedKey.parse(key).task_id)
    except InvalidKey:
        return key


def _finished(target: str, stored: StoredObject) -> CommandRow:
    try:
        done = json_records.read(Completion, stored.data, file=stored.key)
    except FormatError as error:
        return CommandRow(_id_of(stored.key), target, "?", "failed", message=error.message, at=stored.modified)
    result: Mapping[str, Any] = done.verdict.result if isinstance(done.verdict, Ok) else {}
    return CommandRow(
        done.task_id,
        target,
        str(result.get("command") or "?"),
        str(result.get("outcome", "done")),
        _text(result.get("sent_by")),
        _text(result.get("sent_at")),
        _text(result.get("host")),
        _text(result.get("message")),
        done.finished_at,
    )


def _unfinished(target: str, row: TaskRow) -> CommandRow:
    """One that waits, is being executed, or was set aside."""
    payload = row.payload
    arguments = payload.get("arguments")
    words = tuple(str(word) for word in arguments) if isinstance(arguments, list) else ()
    text = str(CommandRequest(payload["verb"], words)) if payload.get("verb") in GRAMMAR else "?"  # type: ignore[arg-type]
    state = {"leased": "running", "sidelined": "failed"}.get(row.state, "waiting")
    sent = (_text(payload.get("sent_by")), _text(payload.get("sent_at")))
    return CommandRow(row.task_id, target, text, state, *sent, row.worker, row.detail, row.changed)


def _text(value: object) -> str | None:
    if value is None:
        return None
    return str(value)
