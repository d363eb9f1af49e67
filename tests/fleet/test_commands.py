"""Commands from afar: their grammar, that each is executed once and in order, and what each does to a campaign."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocli.app.campaigns.campaign import new_campaign
from cocli.app.machines.command_effects import EFFECTS, Execution
from cocli.app.machines.command_listing import find_command, list_commands
from cocli.app.machines.commands import send_command
from cocli.app.workspace import Workspace, open_workspace
from cocli.config.resolve import Flags
from cocli.config.template import TemplatePlace
from cocli.errors import NotFound, Unavailable, UsageError
from cocli.fleet.command_execution import CommandExecutor, command_task, open_command_queue
from cocli.fleet.commands import ALL, GRAMMAR, WORKED, CommandRequest, command_queue, exclusion_of, parse_request
from cocli.fleet.supervisor import Supervisor, Wanted
from cocli.models.campaign import CampaignConfig
from cocli.models.command import Acknowledgement, Command
from cocli.models.completion import Ok
from cocli.queue.base import Category, NewTask
from cocli.queue.leased.queue import LeasedQueue
from cocli.store.memory import MemoryStore

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
C = CampaignConfig.model_validate({"campaign": {"name": "c"}})


# --- the grammar


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("add-query emergency  plumber", CommandRequest("add-query", ("emergency plumber",))),
        ('remove-query "emergency plumber"', CommandRequest("remove-query", ("emergency plumber",))),
        ("add-exclude Acme.com", CommandRequest("add-exclude", ("domain:acme.com",))),
        ("add-exclude Acme Plumbing", CommandRequest("add-exclude", ("name:Acme Plumbing",))),
        ("remove-exclude name:acme.com", CommandRequest("remove-exclude", ("name:acme.com",))),
        (
            "add-exclude ChIJyUzh2kXqwoARUtNFG8VjnYQ",
            CommandRequest("add-exclude", ("place:ChIJyUzh2kXqwoARUtNFG8VjnYQ",)),
        ),
        ("scale gm-list=3 enrichment=0", CommandRequest("scale", ("gm-list=3", "enrichment=0"))),
        ("pause", CommandRequest("pause")),
        ("resume gm-list gm-list", CommandRequest("resume", ("gm-list",))),
        ("recover enrichment blocked", CommandRequest("recover", ("enrichment", "blocked"))),
        ("refresh-report", CommandRequest("refresh-report")),
        ("restart", CommandRequest("restart")),
    ],
)
def test_what_a_person_types(text: str, asked: CommandRequest) -> None:
    assert parse_request(text) == asked
    assert parse_request(str(asked)) == asked


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "There is no command"),
        ("add-qery x", "Did you mean: add-query"),
        ("add-query", "add-query says nothing"),
        ('add-query "x', "open quote"),
        ("add-query a\x07b", "control characters"),
        ("scale", "does not say what to"),
        ("scale gm-list", "is not QUEUE=COUNT"),
        ("scale gm-lst=3", "Did you mean: gm-list"),
        ("scale gm-list=-1", "is not QUEUE=COUNT"),
        ("scale gm-list=1001", "more than 1000"),
        ("pause gm-lists", "Did you mean: gm-list"),
        ("recover", "needs a queue"),
        ("recover gm-list Blocked!", "not a category"),
        ("refresh-report now", "takes no arguments"),
        ("add-exclude place:abc", "not a place id"),
        ("add-exclude domain:a b", "not a domain"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_would_be_right(text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_request(text)
    assert said in f"{caught.value.message} {caught.value.hint}"


@given(st.text(max_size=60))
def test_no_text_breaks_the_grammar(text: str) -> None:
    try:
        asked = parse_request(text)
    except UsageError:
        return
    assert parse_request(str(asked)) == asked
    assert asked.verb in GRAMMAR


@given(st.text(min_size=1, max_size=40).filter(lambda text: text.isprintable() and text.strip()))
def test_a_quoted_phrase_arrives_as_it_is(phrase: str) -> None:
    words = " ".join(phrase.split())
    assert parse_request(str(CommandRequest("add-query", (words,)))) == CommandRequest("add-query", (words,))


@given(st.text(min_size=1, max_size=80), st.text(min_size=1, max_size=80))
def test_two_hosts_never_share_a_queue(one: str, other: str) -> None:
    assert (command_queue(one) == command_queue(other)) == (one == other)
    assert command_queue(one) != command_queue(ALL) or one == ALL


def test_what_is_excluded_is_told_by_its_looks() -> None:
    assert exclusion_of("shop.acme.co.uk") == ("domains", "shop.acme.co.uk")
    assert exclusion_of("St. Mary's") == ("names", "St. Mary's")
    assert exclusion_of("name: Acme") == ("names", "Acme")


# --- executing: once, in order


def command(verb: str, *arguments: str, at: datetime = NOON) -> Command:
    return Command.model_validate(
        {"verb": verb, "arguments": arguments, "campaign": "c", "sent_by": "me@here", "sent_at": at}
    )


def acknowledged(one: Command) -> Acknowledgement:
    return Acknowledgement(
        command=one.verb, sent_by=one.sent_by, sent_at=one.sent_at, outcome="done", message="did it", host="h"
    )


def an_executor(
    store: MemoryStore, execute: Callable[[Command], Acknowledgement], worker: str = "a", target: str = ALL
) -> CommandExecutor:
    return CommandExecutor(lambda: C, store, target, execute, worker=worker, say=lambda _: None)


def send(store: MemoryStore, *commands: Command, target: str = ALL) -> None:
    queue = open_command_queue(C, store, target)
    for number, one in enumerate(commands):
        queue.put(command_task(one, f"{number:06x}"))
    queue.close()


def test_two_supervisors_execute_each_command_once_and_in_order() -> None:
    store, log, lock = MemoryStore(), [], threading.Lock()

    def execute(one: Command) -> Acknowledgement:
        with lock:
            log.append(one.arguments[0])
        return acknowledged(one)

    times = [NOON + timedelta(seconds=number) for number in range(30)]
    send(store, *(command("add-query", str(number), at=at) for number, at in enumerate(times)))
    executors = [an_executor(store, execute, name) for name in "ab"]
    until = time.monotonic() + 20
    while len(log) < 30 and time.monotonic() < until:
        threads = [threading.Thread(target=one.step) for one in executors]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert log == [str(number) for number in range(30)]
    for one in executors:
        one.close()
    stats = open_command_queue(C, store, ALL).stats()
    assert (stats.completed, stats.pending) == (30, 0)


def test_a_command_for_a_host_is_executed_there_only() -> None:
    store, log = MemoryStore(), []

    def execute(one: Command) -> Acknowledgement:
        log.append(one)
        return acknowledged(one)

    send(store, command("restart"), target="b")
    assert an_executor(store, execute, "a", "a").step() == 0
    assert an_executor(store, execute, "b", "b").step() == 1
    assert len(log) == 1


def test_a_refused_command_is_set_aside_and_does_not_hold_up_the_next() -> None:
    store = MemoryStore()

    def execute(one: Command) -> Acknowledgement:
        if one.verb == "pause":
            raise UsageError(reason="no")
        return acknowledged(one)

    send(store, command("pause"), command("resume", at=NOON + timedelta(seconds=1)))
    executor = an_executor(store, execute)
    executor.step()
    executor.step()
    executor.close()
    stats = open_command_queue(C, store, ALL).stats()
    assert (stats.completed, dict(stats.sidelined)) == (1, {"failed": 1})


def test_a_store_that_is_away_delays_a_command_and_those_behind_it() -> None:
    store, log = MemoryStore(), []

    def execute(one: Command) -> Acknowledgement:
        log.append(one.verb)
        raise Unavailable(address="x", reason="away")

    send(store, command("pause"), command("resume", at=NOON + timedelta(seconds=1)))
    executor = an_executor(store, execute)
    executor.step()
    executor.step()
    assert log == ["pause"], "order is kept while the first one waits for its next attempt"


def test_something_else_in_the_queue_is_set_aside() -> None:
    store = MemoryStore()
    queue = open_command_queue(C, store, ALL)
    queue.put(NewTask("x", {"verb": "explode"}))
    executor = an_executor(store, acknowledged)
    executor.step()
    assert dict(queue.stats().sidelined) == {"failed": 1}


# --- what they do


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    environ = {**os.environ, "HOME": str(tmp_path), "COCLI_DATA_HOME": str(tmp_path / "data")}
    environ = {name: value for name, value in environ.items() if not name.startswith(("XDG_", "CAMPAIGN"))}
    with open_workspace(environ, Flags()) as opened:
        new_campaign(opened, "plumbers", ["plumber"], [TemplatePlace("Springfield", 39.8, -89.65, 1.0)])
        yield opened


@pytest.fixture
def tell(workspace: Workspace) -> Callable[..., list[Acknowledgement]]:
    """Send a command and have it executed, twice: the second time there must be nothing left to do."""

    def run(text: str, host: str | None = None) -> list[Acknowledgement]:
        (sent,) = send_command(workspace.campaign("plumbers"), text, host)
        execution = Execution(workspace, "plumbers", "pi1", _idle_supervisor())
        campaign = workspace.campaign("plumbers")
        queue = open_command_queue(campaign.settings.model(), campaign.store, sent.target)
        claim = queue.claim()
        assert claim is not None
        meant = Command.model_validate(dict(claim.task.payload))
        acknowledgements = [execution(meant), execution(meant)]
        queue.ack(claim, Ok())  # else it comes again where the test takes longer than its lease
        return acknowledgements

    return run


def _idle_supervisor() -> Supervisor:
    return Supervisor(Wanted, lambda *_: None, rng=random.Random(1))  # type: ignore[arg-type]


def config(workspace: Workspace) -> Any:
    return workspace.campaign("plumbers").settings.model()


def text_of(workspace: Workspace) -> str:
    return workspace.campaign("plumbers").file.text


@pytest.mark.parametrize(
    ("text", "read", "value"),
    [
        ("add-query drain cleaner", lambda c: c.prospecting.queries, ("plumber", "drain cleaner")),
        ("remove-query plumber", lambda c: c.prospecting.queries, ()),
        (
            "add-location Shelbyville,39.4,-88.8,2",
            lambda c: [one.name for one in c.prospecting.locations],
            ["Springfield", "Shelbyville"],
        ),
        ("remove-location Springfield", lambda c: c.prospecting.locations, ()),
        ("add-exclude acme.com", lambda c: c.exclude.domains, ("acme.com",)),
        ("add-exclude Acme Inc", lambda c: c.exclude.names, ("Acme Inc",)),
        ("pause", lambda c: c.queue.paused, WORKED),
        ("pause gm-list", lambda c: c.queue.paused, ("gm-list",)),
    ],
)
def test_edits_keep_comments_and_are_made_once(
    workspace: Workspace, tell: Any, text: str, read: Callable[[Any], Any], value: Any
) -> None:
    comments = [line for line in text_of(workspace).splitlines() if line.startswith("#")]
    first, second = tell(text)
    assert read(config(workspace)) == value
    assert (first.outcome, second.outcome) == ("done", "already")
    assert first.host == "pi1"
    after = text_of(workspace).splitlines()
    opened = {line for line in comments if line.startswith("# [") and line[2:] in after}
    kept = [line for line in comments if line not in opened]  # the heading of a section is no comment any more
    assert [line for line in after if line.startswith("#")] == kept


def test_adding_and_removing_leaves_nothing_behind(workspace: Workspace, tell: Any) -> None:
    before = config(workspace)
    for pair in (
        ("add-query x", "remove-query x"),
        ("add-exclude x.com", "remove-exclude x.com"),
        ("add-location A,1,2,3", "remove-location A"),
        ("pause gm-list", "resume gm-list"),
    ):
        for text in pair:
            tell(text)
    assert config(workspace) == before


def test_scaling(workspace: Workspace, tell: Any) -> None:
    with pytest.raises(UsageError, match="which host"):
        send_command(workspace.campaign("plumbers"), "scale gm-list=2")
    tell("scale gm-list=2 enrichment=1", "pi1")
    tell("scale gm-list=1", "pi2")
    assert config(workspace).workers == {"pi1": {"gm-list": 2, "enrichment": 1}, "pi2": {"gm-list": 1}}
    _, second = tell("scale enrichment=5")
    assert config(workspace).workers["pi2"] == {"gm-list": 1, "enrichment": 5}
    assert config(workspace).workers["pi1"]["enrichment"] == 5
    assert second.outcome == "already"
    with pytest.raises(UsageError, match="does not concern a host"):
        send_command(workspace.campaign("plumbers"), "pause", "pi1")


def test_a_new_query_is_planned_and_queued_at_once(workspace: Workspace, tell: Any) -> None:
    first, second = tell("add-query drain cleaner")
    assert first.message.endswith("4 tasks queued"), "two tiles, two queries"
    assert second.message.endswith(" 0 tasks queued")
    campaign = workspace.campaign("plumbers")
    assert LeasedQueue(campaign.store, "plumbers", "gm-list").stats().pending == 4


def test_a_location_of_the_same_name_elsewhere_is_refused(workspace: Workspace, tell: Any) -> None:
    with pytest.raises(UsageError, match="already, elsewhere"):
        tell("add-location Springfield,10,10")


def test_recovering(workspace: Workspace, tell: Any) -> None:
    campaign = workspace.campaign("plumbers")
    queue = LeasedQueue(campaign.store, "plumbers", "enrichment")
    queue.put(NewTask("acme.com"))
    claim = queue.claim()
    assert claim is not None
    queue.sideline(claim, Category.BLOCKED, "x")
    first, second = tell("recover enrichment blocked")
    assert first.message == "1 tasks of enrichment brought back"
    assert second.outcome == "already"


def test_commands_are_listed_with_what_became_of_them(workspace: Workspace) -> None:
    campaign = workspace.campaign("plumbers")
    send_command(campaign, "add-query x")
    send_command(campaign, "remove-location Nowhere")
    executor = CommandExecutor(
        campaign.settings.model,
        campaign.store,
        ALL,
        Execution(workspace, "plumbers", "pi1", _idle_supervisor()),
        worker="pi1",
        say=lambda _: None,
    )
    assert {row.state for row in list_commands(campaign)} == {"waiting"}
    assert executor.step() == 2
    executor.close()
    newest, oldest = list_commands(campaign)
    assert (oldest.text, oldest.state, oldest.host) == ("add-query x", "done", "pi1")
    assert (newest.text, newest.state) == ("remove-location Nowhere", "already")
    assert find_command(campaign, newest.id) == newest
    with pytest.raises(NotFound):
        find_command(campaign, "20260101")


def test_every_verb_is_written_does_something_and_is_named_by_the_help() -> None:
    assert set(EFFECTS) == set(GRAMMAR)
    assert all(grammar.usage.startswith(verb) for verb, grammar in GRAMMAR.items())
    page = (Path(__file__).parents[2] / "docs" / "reference" / "cli.md").read_text("utf-8")
    section = " ".join(page.split("## cocli remote send", 1)[1].split("\n## ", 1)[0].split()).replace("- ", "-")
    assert not [verb for verb in GRAMMAR if verb not in section]
