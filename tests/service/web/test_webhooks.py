"""Webhooks: each event is told to a real receiver, signed, and again where it was not taken; private places never."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.kit.web import NAME, RunningWeb, running_web
from tests.kit.webhooks import receiver, wait_for

from cocli.app.campaigns.campaign import edit_campaign
from cocli.app.queues.queues import opened_queue
from cocli.app.web.kept.webhooks import WebhookBook, standing_events
from cocli.app.web.webhook_caller import WebhookCaller
from cocli.app.workspace import Workspace, open_workspace
from cocli.config.edit import parse_change
from cocli.config.resolve import Flags
from cocli.errors import UsageError
from cocli.queue.base import NewTask
from cocli.service.web.access import Role

HOUR = 3600.0


def hooked(caller: Any, address: str, *events: str) -> dict[str, Any]:
    answer = caller.post("/api/webhooks", json={"url": address, "campaign": NAME, "events": list(events)})
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def hook_of(caller: Any) -> dict[str, Any]:
    """The only one there is."""
    (hook,) = caller.get("/api/webhooks").json()["webhooks"]
    known: dict[str, Any] = hook
    return known


def looked_until(web: RunningWeb, holds: Any) -> None:
    """The server looks every 15 seconds; it is asked to look now."""

    def looked() -> Any:
        web.served.application.webhooks.look()
        return holds()

    wait_for(looked)


def removed(caller: Any, hook: dict[str, Any]) -> dict[str, Any]:
    gone: dict[str, Any] = caller.delete(f"/api/webhooks/{hook['webhook']['id']}").json()["webhook"]
    return gone


def assert_signed(secret: str, headers: dict[str, str], body: bytes) -> None:
    signed = headers["X-Cocli-Timestamp"].encode() + b"." + body
    expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    assert headers["X-Cocli-Signature"] == f"sha256={expected}"
    assert abs(time.time() - int(headers["X-Cocli-Timestamp"])) < 600


def waits_since_an_hour(workspace: Workspace, home: Path) -> None:
    with opened_queue(workspace.campaign(NAME), "gm-list") as queue:
        queue.put(NewTask("a", {"n": 1}))
    then = time.time() - HOUR
    for file in (home / "campaigns" / NAME / "queues").rglob("*"):
        os.utime(file, (then, then))


def test_a_stall_is_told_once_and_again_when_it_comes_back(tmp_path: Path) -> None:
    with (
        running_web(tmp_path, 1) as web,
        open_workspace(web.home.environ, Flags()) as workspace,
        web.caller(Role.ADMIN) as caller,
        receiver(503, 500) as (address, got),
    ):
        waits_since_an_hour(workspace, web.home.data)
        assert standing_events(workspace, NAME)["stall"][0]
        hook = hooked(caller, address, "stall")
        wait_for(lambda: len(got) >= 3)
        edit_campaign(workspace, NAME, [parse_change('queue.paused=["gm-list"]')])
        looked_until(web, lambda: hook_of(caller)["told"] == {"stall": False})
        assert len(got) == 3
        edit_campaign(workspace, NAME, [parse_change("queue.paused=[]")])
        looked_until(web, lambda: len(got) >= 4)
        wait_for(lambda: not hook_of(caller)["waiting"])
        gone = removed(caller, hook)
    assert [json.loads(body)["event"] for _, body in got[:3]] == ["stall"] * 3
    assert len({headers["X-Cocli-Delivery"] for headers, _ in got[:3]}) == 1
    for headers, body in got:
        assert_signed(hook["secret"], headers, body)
    said = json.loads(got[0][1])
    assert said["campaign"] == NAME
    assert said["problems"][0]["subject"] == "gm-list"
    assert "none was completed in 15 minutes" in said["problems"][0]["message"]
    assert (gone["waiting"], gone["problem"]) == (0, None)
    assert hook["secret"] not in str(gone)


def test_a_run_that_ended_is_told_with_its_state(web: RunningWeb) -> None:
    """It may begin and end between two looks."""
    with web.caller(Role.ADMIN) as caller, receiver(204) as (address, got):
        hook = hooked(caller, address, "run-ended")
        begun = caller.post("/api/runs", json={"campaign": NAME}).json()
        caller.post(f"/api/runs/{begun['run']}/stop", json={})
        wait_for(lambda: caller.get(f"/api/runs/{begun['run']}").json()["state"] != "running")
        looked_until(web, lambda: got)
        removed(caller, hook)
    ((headers, body),) = got
    assert_signed(hook["secret"], headers, body)
    said = json.loads(body)
    assert (said["event"], said["run"]["id"]) == ("run-ended", begun["run"])
    assert said["run"]["command"].startswith("cocli run")


def test_what_was_not_taken_waits_for_the_next_server(tmp_path: Path) -> None:
    with receiver(500) as (address, got):
        with running_web(tmp_path, 1) as web, web.caller(Role.ADMIN) as caller:
            with open_workspace(web.home.environ, Flags()) as workspace:
                waits_since_an_hour(workspace, web.home.data)
            hook = hooked(caller, "http://127.0.0.1:1/nobody-listens", "stall")
            wait_for(lambda: hook_of(caller)["problem"])
        (file,) = tmp_path.rglob("webhooks.json")
        file.write_text(file.read_text("utf-8").replace("http://127.0.0.1:1/nobody-listens", address), "utf-8")
        with running_web(tmp_path, filled=False) as web, web.caller(Role.ADMIN) as caller:
            wait_for(lambda: len(got) >= 2)
            wait_for(lambda: not hook_of(caller)["waiting"])
    assert_signed(hook["secret"], *got[-1])


def test_waits_grow_and_have_an_end(tmp_path: Path) -> None:
    book = WebhookBook(str(tmp_path))
    hook = book.add("https://example.com/", NAME, ["stall"], "ann")
    book.put(hook.id, "stall", "{}", 0.0)
    now, waits = 0.0, []
    while due := book.due(now):
        book.failed(hook.id, due[0][1].id, "answered 500", now)
        following = book.next_due()
        if following is None:
            break
        waits.append(following - now)
        now = following
    assert waits[:4] == [1.0, 2.0, 4.0, 8.0]
    assert max(waits) == 900.0
    assert 24 * HOUR < now < 25 * HOUR
    for number in range(150):
        book.put(hook.id, "stall", str(number), now)
    assert [call.body for call in book.all()[0].waiting] == [str(number) for number in range(50, 150)]


PRIVATE = (
    *("https://127.0.0.1/hook", "https://localhost/hook", "https://[::1]/hook", "https://10.1.2.3/hook"),
    *("https://169.254.169.254/latest/meta-data", "https://[::ffff:127.0.0.1]/", "https://192.168.0.1:8443/"),
    "https://100.64.0.1/",
)


@pytest.mark.parametrize("address", PRIVATE)
def test_private_addresses_are_refused_unless_they_are_named(address: str) -> None:
    with closing(WebhookCaller(())) as caller:
        with pytest.raises(UsageError, match="not called there") as refused:
            caller.check(address)
        assert "webhook_networks" in str(refused.value.hint)
        problem = caller.call(address, b"{}", {})
    assert problem is not None
    assert problem.startswith("not called")


def test_named_networks_are_called_and_no_others() -> None:
    with receiver(307) as (address, got), closing(WebhookCaller(["127.0.0.0/8"])) as caller:
        caller.check(address)
        assert caller.call(address, b"{}", {"X": "1"}) == "answered 307"
        assert caller.call(address, b"{}", {"X": "1"}) is None
        with pytest.raises(UsageError, match="not called there"):
            caller.check("https://10.1.2.3/")
        with pytest.raises(UsageError, match="by https"):
            caller.check("http://93.184.216.34/hook")
    assert len(got) == 2


def test_a_name_that_leads_elsewhere_the_next_time_wins_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is judged when it is connected to, not only when it was named."""
    import socket

    answers = [[(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", 443))]]
    monkeypatch.setattr(sys.modules["socket"], "getaddrinfo", lambda *_, **__: answers[0])
    with closing(WebhookCaller(())) as caller:
        caller.check("https://rebinding.example/hook")
        answers[0] = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 443))]
        assert "127.0.0.1" in str(caller.call("https://rebinding.example/hook", b"{}", {}))
