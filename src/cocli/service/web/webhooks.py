"""Webhooks: their routes, the thread that looks for events, and the signed calls."""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING, Any

import httpx2

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
    from cocli.app.web.kept.webhooks import Webhook, WebhookBook
    from cocli.app.workspace import Workspace
    from cocli.service.web.routes import WebCall

_LOOK_SECONDS = 15.0
_TIMEOUT_SECONDS = 10.0
_TRIES = 3
_OVER = ("met", "unfinished", "stopped", "failed")


class WebhookRoutes:
    """Who is told, and the one that tells."""

    def __init__(
        self,
        book: WebhookBook,
        workspace: Workspace,
        runs: RunBook,
        clock: Callable[[], datetime],
        log: Callable[[str], None],
    ) -> None:
        self._book = book
        self._workspace = workspace
        self._runs = runs
        self._clock = clock
        self._log = log
        self._over: dict[str, str] = {}
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
        self._thread.join(_TIMEOUT_SECONDS + 5)

    # --- looking

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._look_at_runs()
                self._look_at_campaigns()
            except Exception as error:  # noqa: BLE001  the thread goes on: the next look may do better
                self._log(f"webhooks: {type(error).__name__}: {error}")
            self._wake.wait(_LOOK_SECONDS)
            self._wake.clear()

    def _look_at_runs(self) -> None:
        for run in self._runs.all():
            before = self._over.get(run["id"])
            self._over[run["id"]] = run["state"]
            if before != "running" or run["state"] not in _OVER:
                continue
            told = {name: run[name] for name in ("id", "state", "command", "file")}
            for hook in self._book.all():
                if hook.campaign == run["campaign"] and "run-ended" in hook.events:
                    self._tell(hook, "run-ended", {"run": told})

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
                        self._tell(hook, event, said)

    # --- telling

    def _tell(self, hook: Webhook, event: str, said: dict[str, Any]) -> None:
        at = render_utc(self._clock())
        body = json.dumps({"event": event, "campaign": hook.campaign, "at": at, **said}, sort_keys=True).encode()
        for number in range(_TRIES):
            stamp = str(int(time.time()))
            headers = {
                "Content-Type": "application/json",
                "X-Cocli-Event": event,
                "X-Cocli-Timestamp": stamp,
                "X-Cocli-Signature": signature(hook.secret, stamp, body),
            }
            try:
                answer_ = httpx2.post(
                    hook.url, content=body, headers=headers, timeout=_TIMEOUT_SECONDS, follow_redirects=False
                )
                if answer_.is_success:
                    return
                problem = f"answered {answer_.status_code}"
            except httpx2.HTTPError as error:
                problem = type(error).__name__
            if self._stop.wait(2.0**number):
                break
        self._log(f"webhook {hook.id} was not told of {event}: {problem}")
