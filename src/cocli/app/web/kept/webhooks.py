"""Webhooks: whom to tell of which event, with which secret. Who sends them is the server."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import threading
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from cocli.app.machines.cluster import cluster_status
from cocli.app.web.campaigns import last_report
from cocli.app.whole_file import whole_file
from cocli.config.private import make_private
from cocli.errors import FileUnusable, NotFound, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cocli.app.workspace import Workspace

_MOST = 100
_MOST_WAITING = 100
_LONGEST_WAIT = 900.0
_GIVEN_UP = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class WebhookCall:
    """Something that a webhook has still to be told."""

    id: str
    """A receiver that gets it twice knows it by this."""
    event: str
    body: str
    since: float
    due: float
    tries: int = 0


@dataclass(frozen=True, slots=True)
class Webhook:
    """One address, and what it is told."""

    id: str
    url: str
    campaign: str
    events: list[str]
    secret: str
    made_by: str
    told: dict[str, bool] = field(default_factory=dict)
    """Event → whether it holds, as it was told last: it is told again once it has ended and come again."""
    waiting: list[WebhookCall] = field(default_factory=list)
    problem: str | None = None
    """Why it could not be told last."""

    def public(self) -> dict[str, Any]:
        """Without its secret."""
        known = asdict(self)
        del known["secret"]
        return known | {"waiting": len(self.waiting)}


class WebhookBook:
    """The webhooks in one file. Safe to share between threads."""

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, "webhooks.json")
        self._lock = threading.Lock()
        make_private(folder)

    def add(self, url: str, campaign: str, events: Sequence[str], made_by: str) -> Webhook:
        parts = urlsplit(url)
        if parts.username or parts.password:
            raise UsageError(
                reason="An address with a password in it is not kept", hint="The signature says who calls."
            )
        hook = Webhook(secrets.token_hex(8), url, campaign, list(events), secrets.token_urlsafe(32), made_by)
        with self._lock:
            known = self._read()
            if len(known) >= _MOST:
                raise UsageError(reason=f"There are {_MOST} webhooks already")
            self._write([*known, hook])
        return hook

    def all(self) -> list[Webhook]:
        with self._lock:
            return self._read()

    def remove(self, name: str) -> Webhook:
        with self._lock:
            known = self._read()
            found = next((hook for hook in known if hook.id == name), None)
            if found is None:
                raise NotFound(key=f"webhook {name}")
            self._write([hook for hook in known if hook.id != name])
        return found

    def note(self, name: str, event: str, *, holds: bool) -> bool:
        """Whether this is news: the event holds now, and did not when it was told last."""
        with self._lock:
            for hook in self._read():
                if hook.id == name and hook.told.get(event, False) != holds:
                    self._change(replace(hook, told={**hook.told, event: holds}))
                    return holds
        return False

    # --- what has still to be told

    def put(self, name: str, event: str, body: str, now: float) -> None:
        """It is kept until it was told, also by a server that is started later. Of too many the oldest is dropped."""
        call = WebhookCall(secrets.token_hex(8), event, body, now, now)
        with self._lock:
            for hook in self._read():
                if hook.id == name:
                    self._change(replace(hook, waiting=[*hook.waiting, call][-_MOST_WAITING:]))

    def due(self, now: float) -> list[tuple[Webhook, WebhookCall]]:
        """The first call of each webhook, where its time has come: they are told in their order."""
        with self._lock:
            firsts = [(hook, hook.waiting[0]) for hook in self._read() if hook.waiting]
        return [(hook, call) for hook, call in firsts if call.due <= now]

    def next_due(self) -> float | None:
        with self._lock:
            return min((hook.waiting[0].due for hook in self._read() if hook.waiting), default=None)

    def told(self, name: str, call: str) -> None:
        self._settle(name, call, lambda _: None, None)

    def failed(self, name: str, call: str, problem: str, now: float) -> None:
        """Later again, each time after a longer wait; after a day no more."""

        def later(known: WebhookCall) -> WebhookCall | None:
            if now - known.since > _GIVEN_UP:
                return None
            wait = min(2.0**known.tries, _LONGEST_WAIT)
            return replace(known, tries=known.tries + 1, due=now + wait)

        self._settle(name, call, later, problem)

    def _settle(
        self, name: str, call: str, change: Callable[[WebhookCall], WebhookCall | None], problem: str | None
    ) -> None:
        with self._lock:
            for hook in self._read():
                if hook.id != name:
                    continue
                changed = (change(known) if known.id == call else known for known in hook.waiting)
                kept = [known for known in changed if known is not None]
                self._change(replace(hook, waiting=kept, problem=problem))

    def _change(self, changed: Webhook) -> None:
        """The lock is held."""
        self._write([changed if hook.id == changed.id else hook for hook in self._read()])

    def _read(self) -> list[Webhook]:
        try:
            with open(self._path, "rb") as file:
                return [_webhook(values) for values in json.load(file)]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, TypeError) as error:
            raise FileUnusable(
                file=self._path, done="read", reason=str(error), hint="Remove it, and make them anew."
            ) from error

    def _write(self, hooks: list[Webhook]) -> None:
        with whole_file(self._path) as file:
            file.write(json.dumps([asdict(hook) for hook in hooks], indent=1).encode())
        os.chmod(self._path, 0o600)


def _webhook(values: dict[str, Any]) -> Webhook:
    waiting = [WebhookCall(**call) for call in values.pop("waiting", [])]
    return Webhook(**values, waiting=waiting)


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """What a receiver computes too: HMAC-SHA256 over `timestamp.body`."""
    made = hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256)
    return f"sha256={made.hexdigest()}"


def standing_events(workspace: Workspace, name: str) -> dict[str, tuple[bool, dict[str, Any]]]:
    """Which of the lasting events hold for a campaign now, and what is told of them."""
    campaign = workspace.campaign(name)
    goal, report = campaign.settings.model().prospecting.goal, last_report(campaign.store, name)
    found = report.figures.businesses if report else 0
    stalls = [problem for problem in cluster_status(campaign).problems if problem.kind == "stalled"]
    problems = [{"subject": problem.subject, "message": problem.message, "hint": problem.hint} for problem in stalls]
    return {
        "goal-met": (goal is not None and found >= goal, {"goal": goal, "businesses": found}),
        "stall": (bool(stalls), {"problems": problems}),
    }
