"""Webhooks: their routes, the thread that looks for events, and the signed calls."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

from cocli.app.web.kept.webhooks import signature, standing_events
from cocli.errors import CocliError
from cocli.models.record import render_utc
from cocli.service.web.access import Role
from cocli.service.web.routes import WebRoute, answer
from cocli.service.web.wishes import WebhookWish

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from starlette.responses import Response

    from cocli.app.web.kept.runs import RunBook
    from cocli.app.web.kept.webhooks import Webhook, WebhookBook, WebhookCall
    from cocli.app.web.webhook_caller import WebhookCaller
    from cocli.app.workspace import Workspace
    from cocli.service.web.routes import WebCall

_LOOK_SECONDS = 15.0
_LEAST_SECONDS = 0.2
_CLOSE_SECONDS = 15.0
_OVER = ("met", "unfinished", "stopped", "failed")


class WebhookRoutes:
    """Who is told, and the one that tells."""

    def __init__(
        self,
        book: WebhookBook,
        workspace: Workspace,
        runs: RunBook,
        caller: WebhookCaller,
        clock: Callable[[], datetime],
        log: Callable[[str], None],
    ) -> None:
        self._book = book
        self._workspace = workspace
        self._runs = runs
        self._clock = clock
        self._log = log
        self._caller = caller
        self._states: dict[str, str] | None = None
        """Run → how it was at the last look."""
        self._stop = threading.Event()
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._run, name="web-webhooks", daemon=True)
        self._thread.start()

    def routes(self) -> Sequence[WebRoute]:
        return (
            WebRoute("GET", "/api/webhooks", Role.ADMIN, self.all, "The webhooks"),
            WebRoute("POST", "/api/webhooks", Role.ADMIN, self.add, "Tell an address of events", takes=WebhookWish),
            WebRoute("DELETE", "/api/webhooks/{id}", Role.ADMIN, self.remove, "Tell it no more"),
        )

    def all(self, _call: WebCall) -> Response:
        return answer({"webhooks": [hook.public() for hook in self._book.all()]})

    def add(self, call: WebCall) -> Response:
        wish = call.body(WebhookWish)
        self._workspace.campaign(wish.campaign)
        self._caller.check(wish.url)
        hook = self._book.add(wish.url, wish.campaign, wish.events, call.principal.name)
        self._wake.set()
        undo = {"method": "DELETE", "path": f"/api/webhooks/{hook.id}", "body": None}
        return answer({"webhook": hook.public(), "secret": hook.secret, "command": None, "undo": undo}, 201)

    def remove(self, call: WebCall) -> Response:
        return answer({"webhook": self._book.remove(call.params["id"]).public(), "command": None, "undo": None})

    def look(self) -> None:
        """Look now, not in some seconds."""
        self._wake.set()

    def close(self) -> None:
        self._stop.set()
        self._wake.set()
        self._thread.join(_CLOSE_SECONDS)
        self._caller.close()

    # --- looking

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._look_at_runs()
                self._look_at_campaigns()
                self._tell()
            except Exception as error:  # noqa: BLE001  the thread goes on: the next look may do better
                self._log(f"webhooks: {type(error).__name__}: {error}")
            self._wake.wait(self._seconds_to_wait())
            self._wake.clear()

    def _seconds_to_wait(self) -> float:
        due = self._book.next_due()
        if due is None:
            return _LOOK_SECONDS
        return min(_LOOK_SECONDS, max(_LEAST_SECONDS, due - self._now()))

    def _now(self) -> float:
        return self._clock().timestamp()

    def _look_at_runs(self) -> None:
        """A run may begin and end between two looks; those that were over at the first look are no news."""
        before, runs = self._states, self._runs.all()
        self._states = {run["id"]: run["state"] for run in runs}
        for run in runs:
            is_news = before is not None and before.get(run["id"], "running") == "running"
            if not is_news or run["state"] not in _OVER:
                continue
            told = {name: run[name] for name in ("id", "state", "command", "file")}
            for hook in self._book.all():
                if hook.campaign == run["campaign"] and "run-ended" in hook.events:
                    self._put(hook, "run-ended", {"run": told})

    def _look_at_campaigns(self) -> None:
        hooks = self._book.all()
        for name in {hook.campaign for hook in hooks}:
            try:
                events = standing_events(self._workspace, name)
            except CocliError as error:  # the store may be away: the next look may find it
                self._log(f"webhooks of {name}: {error.message}")
                continue
            for hook in (hook for hook in hooks if hook.campaign == name):
                for event, (holds, said) in events.items():
                    if event in hook.events and self._book.note(hook.id, event, holds=holds):
                        self._put(hook, event, said)

    # --- telling

    def _put(self, hook: Webhook, event: str, said: dict[str, Any]) -> None:
        at = render_utc(self._clock())
        body = json.dumps({"event": event, "campaign": hook.campaign, "at": at, **said}, sort_keys=True)
        self._book.put(hook.id, event, body, self._now())

    def _tell(self) -> None:
        """Everybody whose time has come. Who does not take it is told again later, and nobody waits for them."""
        while due := self._book.due(self._now()):
            for hook, call in due:
                if self._stop.is_set():
                    return
                problem = self._call(hook, call)
                if problem is None:
                    self._book.told(hook.id, call.id)
                else:
                    self._log(f"webhook {hook.id} was not told of {call.event}: {problem}")
                    self._book.failed(hook.id, call.id, problem, self._now())

    def _call(self, hook: Webhook, call: WebhookCall) -> str | None:
        body, stamp = call.body.encode(), str(int(self._now()))
        headers = {
            "Content-Type": "application/json",
            "X-Cocli-Event": call.event,
            "X-Cocli-Delivery": call.id,
            "X-Cocli-Timestamp": stamp,
            "X-Cocli-Signature": signature(hook.secret, stamp, body),
        }
        return self._caller.call(hook.url, body, headers)
