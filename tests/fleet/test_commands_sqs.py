"""Commands that travel by SQS, against a real server over HTTP: FIFO queues, results in a real store."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from tests.kit.servers import REGION, S3Server

from cocli.app.campaigns.campaign import edit_campaign, new_campaign
from cocli.app.machines.command_listing import list_commands, what_became_of
from cocli.app.machines.commands import send_command
from cocli.app.queues.queues import opened_queue
from cocli.app.workspace import Campaign, Workspace, open_workspace
from cocli.config.edit import parse_change
from cocli.config.resolve import Flags
from cocli.config.template import TemplatePlace
from cocli.errors import QueueUnusable, UsageError
from cocli.fleet.command_execution import CommandExecutor
from cocli.fleet.commands import ALL
from cocli.models.command import Acknowledgement, Command
from cocli.queue.base import NewTask
from cocli.queue.sqs.connection import SqsConnection
from cocli.queue.sqs.queue import SqsQueue
from cocli.store.memory import MemoryStore

PATIENCE = 60.0
"""Seconds, for a machine that is busy with other tests."""


class Site:
    """A campaign of its own whose commands SQS carries."""

    def __init__(self, workspace: Workspace, server: S3Server) -> None:
        self.workspace = workspace
        self.name = f"c{secrets.token_hex(5)}"
        new_campaign(workspace, self.name, ["plumber"], [TemplatePlace("Springfield", 39.85, -89.65, 0.5)])
        settings = ("queue.provider=sqs", f"aws.endpoint={server.endpoint}", f"aws.region={REGION}")
        edit_campaign(workspace, self.name, [parse_change(one) for one in settings])
        self.client = boto3.client("sqs", endpoint_url=server.endpoint, region_name=REGION)
        self.executors: list[CommandExecutor] = []

    def create(self, queue: str = "commands") -> str:
        name = f"cocli-{queue}-{self.name}.fifo"
        return str(self.client.create_queue(QueueName=name, Attributes={"FifoQueue": "true"})["QueueUrl"])

    @property
    def campaign(self) -> Campaign:
        return self.workspace.campaign(self.name)

    def executor(self, execute: Any, worker: str = "a", target: str = ALL) -> CommandExecutor:
        campaign = self.campaign
        made = CommandExecutor(
            campaign.settings.model, campaign.store, target, execute, worker=worker, say=lambda _: None
        )
        self.executors.append(made)
        return made

    def keys(self, state: str) -> list[str]:
        folder = f"campaigns/{self.name}/queues/commands/{state}/"
        return [info.key for info in self.campaign.store.list(folder)]

    def close(self) -> None:
        for one in self.executors:
            one.close()
        self.client.close()


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("COCLI_", "XDG_", "CAMPAIGN"))}
    return {**kept, "HOME": str(tmp_path), "COCLI_DATA_HOME": str(tmp_path / "data")}


@pytest.fixture
def site(environ: dict[str, str], ministack: S3Server) -> Iterator[Site]:
    with open_workspace(environ, Flags()) as workspace:
        made = Site(workspace, ministack)
        yield made
        made.close()


def acknowledged(one: Command) -> Acknowledgement:
    return Acknowledgement(
        command=one.verb, sent_by=one.sent_by, sent_at=one.sent_at, outcome="done", message="did it", host="h"
    )


def until(what: Any, seconds: float = PATIENCE) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, f"it did not happen in {seconds} s"
        time.sleep(0.05)


def test_two_supervisors_execute_each_once_and_in_order_though_a_message_is_none(site: Site) -> None:
    url, log = site.create(), list[str]()
    site.client.send_message(QueueUrl=url, MessageBody="{no task", MessageGroupId="all", MessageDeduplicationId="x")
    sent = [send_command(site.campaign, f"add-query {number}")[0] for number in range(6)]
    assert [row.text for row in reversed(list_commands(site.campaign))] == [one.text for one in sent]
    assert {row.state for row in list_commands(site.campaign)} == {"waiting"}

    def execute(one: Command) -> Acknowledgement:
        log.extend(one.arguments)
        time.sleep(0.02)
        return acknowledged(one)

    executors = [site.executor(execute, name) for name in "ab"]

    def obey(one: CommandExecutor) -> None:
        while len(log) < len(sent):
            one.step()

    threads = [threading.Thread(target=obey, args=(one,), daemon=True) for one in executors]
    for thread in threads:
        thread.start()
    until(lambda: len(site.keys("completed")) == len(sent))
    assert log == [str(number) for number in range(6)]
    assert {what_became_of(site.campaign, one).state for one in sent} == {"done"}
    until(lambda: not site.keys("pending"))
    assert ["/malformed/" in key for key in site.keys("sideline")] == [True]
    send_command(site.campaign, "pause")  # wakes up who still listens
    for thread in threads:
        thread.join(PATIENCE)


def test_one_that_died_after_the_deed_is_followed_by_one_that_acknowledges_it(site: Site) -> None:
    site.create()
    log = list[str]()

    class Death(BaseException):
        """Nothing of ours catches it."""

    def dying(one: Command) -> Acknowledgement:
        log.append(one.arguments[0])
        raise Death

    def execute(one: Command) -> Acknowledgement:
        log.append(one.arguments[0])
        return acknowledged(one)

    first, second = (send_command(site.campaign, f"add-query {number}")[0] for number in range(2))
    with pytest.raises(Death):
        site.executor(dying, "dying").step()
    other = site.executor(execute, "other")
    began = time.monotonic()
    until(lambda: other.step() == 1)
    assert other.step() == 1
    assert time.monotonic() - began < PATIENCE
    assert log == ["0", "0", "1"], "the second one had to wait for the first"
    assert [what_became_of(site.campaign, one).state for one in (first, second)] == ["done", "done"]
    assert len(site.keys("completed")) == 2


def test_a_refused_command_comes_back_when_it_is_recovered_at_once(site: Site) -> None:
    """SQS forgets a second message of the same id for five minutes: it must not take this one for that."""
    site.create()
    (sent,) = send_command(site.campaign, "add-query x")
    refusing = [True]

    def execute(one: Command) -> Acknowledgement:
        if refusing.pop() if refusing else False:
            raise UsageError(reason="not like this")
        return acknowledged(one)

    executor = site.executor(execute)
    assert executor.step() == 1
    row = what_became_of(site.campaign, sent)
    assert (row.state, row.text) == ("failed", "add-query x")
    assert "not like this" in str(row.message)
    with opened_queue(site.campaign, "commands") as queue:
        assert [one.outcome for one in queue.recover()] == ["recovered"]
    assert what_became_of(site.campaign, sent).state == "waiting"
    assert executor.step() == 1
    assert what_became_of(site.campaign, sent).state == "done"
    assert site.keys("pending") == site.keys("sideline") == []


def test_without_its_queue_nothing_is_sent_and_nothing_is_left(site: Site) -> None:
    with pytest.raises(QueueUnusable, match=f"there is no queue cocli-commands-{site.name}.fifo") as caught:
        send_command(site.campaign, "pause")
    assert "--attributes FifoQueue=true,MessageRetentionPeriod=1209600" in str(caught.value.hint)
    site.create("commands-h1")
    edit_campaign(site.workspace, site.name, [parse_change(f"workers.{host}.gm-list=1") for host in ("h1", "h2")])
    with pytest.raises(QueueUnusable, match=f"cocli-commands-h2-{site.name}.fifo"):
        send_command(site.campaign, "restart")
    assert list_commands(site.campaign) == [], "h1 was not told either"
    (sent,) = send_command(site.campaign, "restart", "h1")
    assert [(row.target, row.state) for row in list_commands(site.campaign)] == [("h1", "waiting")]
    assert site.executor(acknowledged, target="h1").step() == 1
    assert what_became_of(site.campaign, sent).state == "done"


def test_a_poll_longer_than_a_lease_and_a_request_that_is_repeated(site: Site, ministack: S3Server) -> None:
    site.create("q")
    connection = SqsConnection(f"cocli-q-{site.name}.fifo", region=REGION, endpoint=ministack.endpoint)
    queue = SqsQueue(MemoryStore(), site.name, "q", connection=connection, lease_seconds=1, poll_seconds=10)
    later = threading.Timer(2.0, lambda: queue.put(NewTask("late")))
    later.start()
    claim = queue.claim()
    later.join()
    assert claim is not None
    assert claim.written_at > claim.received_at, "it was made sure that nobody else has it"
    body = claim.message.body
    assert connection.send([body, body]) == []
    assert queue.stats().pending == 1, "SQS took it for the message that it knows"
    queue.close()


def test_a_supervisor_obeys_what_the_command_line_sends(site: Site, environ: dict[str, str]) -> None:
    """By real processes: the queue of the host is missing, which is said and hinders nothing."""
    site.create()
    site.client.create_queue(QueueName=f"cocli-gm-list-{site.name}")
    log = Path(environ["HOME"]) / "log"
    words = ["supervisor", "-c", site.name, "--host", "h1", "--heartbeat", "1"]
    with log.open("wb") as output:
        process = subprocess.Popen([sys.executable, "-m", "cocli", *words], env=environ, stderr=output, stdout=output)
    try:
        until(lambda: f"there is no queue cocli-commands-h1-{site.name}.fifo" in log.read_text())
        command = [sys.executable, "-m", "cocli", "command", "send", "add-query drain cleaner", "--wait", "60"]
        told = subprocess.run([*command, "-c", site.name, "--json"], env=environ, capture_output=True, text=True)
        assert told.returncode == 0, told.stderr + log.read_text()
        (one,) = json.loads(told.stdout)["commands"]
        assert (one["state"], one["host"]) == ("done", "h1")
        assert "drain cleaner" in site.campaign.settings.model().prospecting.queries
        asked = time.monotonic()
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0, log.read_text()
        assert time.monotonic() - asked < PATIENCE
        assert "1 commands" in log.read_text()
        assert log.read_text().count("there is no queue") == 1
    finally:
        process.kill()
        process.wait()
