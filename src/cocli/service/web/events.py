"""Events for browsers: one poller for all of them. It looks only at campaigns that somebody has open."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.responses import StreamingResponse

from cocli.errors import CocliError, Forbidden, ServiceUnavailable, UsageError
from cocli.models.record import render_utc
from cocli.service.statuses import told

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from starlette.responses import Response

    from cocli.service.web.files import WebFiles
    from cocli.service.web.routes import WebCall

FILES = ("dashboard.json", "queues.json", "machines.json", "config.json")
MOST_LISTENERS = 400
_POLL_SECONDS = 2.0
_TOLD_SECONDS = 10.0
_COMMENT_SECONDS = 15.0
_WAITING = 32
"""Events for one listener that does not read; then the oldest is dropped."""


@dataclass(slots=True, eq=False)
class _Listener:
    campaign: str
    loop: asyncio.AbstractEventLoop
    queue: asyncio.Queue[str] = field(default_factory=lambda: asyncio.Queue(_WAITING))

    def tell(self, event: str) -> None:
        """From the poller's thread."""
        with suppress(RuntimeError):  # the loop is closed: so is the listener
            self.loop.call_soon_threadsafe(self._put, event)

    def _put(self, event: str) -> None:
        if self.queue.full():
            self.queue.get_nowait()
        self.queue.put_nowait(event)


@dataclass(slots=True)
class _Known:
    """What was told of a campaign."""

    etags: dict[str, str] = field(default_factory=dict)
    commands: dict[str, str] = field(default_factory=dict)
    told_at: float = 0.0
    problem_since: str | None = None
    last: str = ""


class EventHub:
    """Polls, and tells the listeners what changed."""

    def __init__(self, files: WebFiles, now: Callable[[], Any], log: Callable[[str], None]) -> None:
        self._files = files
        self._now = now
        self._log = log
        self._listeners: set[_Listener] = set()
        self._known: dict[str, _Known] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._wake = threading.Event()
        self._number = 0
        self.polls = 0
        self._thread = threading.Thread(target=self._run, name="web-events", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends the poller and every stream."""
        self._stop.set()
        self._wake.set()
        self._thread.join(10)
        with self._lock:
            for listener in self._listeners:
                listener.tell("")

    async def stream(self, call: WebCall) -> Response:
        campaign = call.asked("campaign")
        if not campaign:
            raise UsageError(reason="Which campaign?", hint="Write: /events?campaign=NAME")
        if not call.principal.sees(campaign):
            raise Forbidden(who=call.principal.name, reason=f"the campaign {campaign} is not theirs to see")
        listener = _Listener(campaign, asyncio.get_running_loop())
        with self._lock:
            if len(self._listeners) >= MOST_LISTENERS:
                raise ServiceUnavailable(address="this address", reason="too many pages are open")
            self._listeners.add(listener)
            known = self._known.get(campaign)
        if known is not None and known.last:
            listener.tell(known.last)
        self._wake.set()
        return StreamingResponse(
            self._events(listener), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"}
        )

    async def _events(self, listener: _Listener) -> AsyncIterator[str]:
        try:
            yield "retry: 3000\n\n"
            while not self._stop.is_set():
                try:
                    event = await asyncio.wait_for(listener.queue.get(), _COMMENT_SECONDS)
                except TimeoutError:
                    yield ": still here\n\n"
                    continue
                if not event:
                    return
                yield event
        finally:
            with self._lock:
                self._listeners.discard(listener)

    # --- the poller

    def _run(self) -> None:
        while not self._stop.is_set():
            with self._lock:
                campaigns = {listener.campaign for listener in self._listeners}
                self._known = {name: known for name, known in self._known.items() if name in campaigns}
            for campaign in campaigns:
                self._look(campaign)
            self._wake.wait(_POLL_SECONDS if campaigns else None)
            self._wake.clear()

    def _look(self, campaign: str) -> None:
        known = self._known.setdefault(campaign, _Known())
        self.polls += 1
        try:
            files = {f"{campaign}/{name}": self._files.cache.get(f"{campaign}/{name}") for name in FILES}
        except CocliError as error:
            known.problem_since = known.problem_since or render_utc(self._clock())
            message = told(error)
            known.etags = {}
            self._tell(campaign, "problem", {**message, "since": known.problem_since})
            return
        except Exception as error:  # noqa: BLE001  the poller goes on: others are still looking
            self._log(f"the poller failed: {type(error).__name__}: {error}")
            return
        known.problem_since = None
        etags = {path: file.etag for path, file in files.items()}
        if etags != known.etags or time.monotonic() - known.told_at > _TOLD_SECONDS:
            known.etags, known.told_at = etags, time.monotonic()
            event = {"at": render_utc(self._clock()), "etags": etags, "stale": None}
            known.last = self._tell(campaign, "files", event)
        self._tell_commands(campaign, known, files[f"{campaign}/config.json"].data)

    def _tell_commands(self, campaign: str, known: _Known, data: bytes) -> None:
        commands = {row["id"]: row for row in json.loads(data)["commands"]}
        is_first = not known.commands
        for name, row in commands.items():
            if known.commands.get(name) != row["state"] and not is_first:
                self._tell(campaign, "command", row)
        known.commands = {name: row["state"] for name, row in commands.items()} or {"": ""}

    def _tell(self, campaign: str, kind: str, document: dict[str, Any]) -> str:
        self._number += 1
        event = f"event: {kind}\nid: {self._number}\ndata: {json.dumps(document)}\n\n"
        with self._lock:
            for listener in self._listeners:
                if listener.campaign == campaign:
                    listener.tell(event)
        return event

    def _clock(self) -> Any:
        try:
            return self._now()
        except CocliError:  # the store that is away has no clock either
            from datetime import UTC, datetime

            return datetime.now(UTC)
