"""`cocli documents work`: nodes of a graph run as workers; events are written and sent where it is configured."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from cocli.app.documents.documents import Upload, opened_documents, upload
from cocli.app.documents.events import node_addresses, relaying
from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags
from tests.kit import servers

FACTORY = "nodes_factory:sizes"
FOLDER = str(Path(__file__).parent)


@pytest.fixture
def carried(plumbers: Any, home: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A campaign whose queues carry messages between nodes, with a file to save."""
    monkeypatch.syspath_prepend(FOLDER)
    monkeypatch.setenv("PYTHONPATH", FOLDER)
    plumbers("campaign", "edit", "plumbers", "--set", "documents.events=queue")
    (home / "page.html").write_bytes(b"12345")
    return plumbers


def save(cocli: Any, home: Path, doc: str, *words: str) -> Any:
    return cocli("documents", "save", str(home / "page.html"), "--doc", doc, "-c", "plumbers", *words)


def work(cocli: Any, *words: str) -> Any:
    return cocli("documents", "work", *words, "--graph", FACTORY, "-c", "plumbers", "--until-empty", "--json")


def outbox(home: Path) -> list[tuple[str, bool]]:
    (catalog,) = home.rglob("catalog.sqlite3")
    with closing(sqlite3.connect(catalog)) as database:
        return [
            (destination, published is not None)
            for destination, published in database.execute("SELECT destination, published_at FROM outbox")
        ]


def test_a_document_goes_from_node_to_node(carried: Any, home: Path) -> None:
    for doc in ("a", "b"):
        assert save(carried, home, doc, "--send-to", "parse").code == 0
    assert save(carried, home, "c").code == 0
    assert outbox(home) == [("pipestream.main.parse", False)] * 2
    done = work(carried, "parse", "double")
    assert (done.code, done.err) == (0, "")
    assert done.json == {
        "cluster": "main",
        "nodes": [
            {"node": "parse", "messages": {"done": 2}, "endings": {"sent": 2}},
            {"node": "double", "messages": {"done": 2}, "endings": {"finished": 2}},
        ],
    }
    assert outbox(home) == [("pipestream.main.parse", True)] * 2 + [("pipestream.main.double", True)] * 2
    state = carried("documents", "get", "a", "--node", "double", "-c", "plumbers", "--json").json
    assert state["data"]["double"] == {"bytes": 10}
    status = carried("queue", "status", "plumbers", "--queue", "double--main", "--json").json["queues"][0]
    assert (status["pending"], status["completed"]) == (0, 2)
    again = work(carried, "parse", "double").json["nodes"]
    assert [(node["node"], node["messages"]) for node in again] == [("parse", {}), ("double", {})]


def test_one_node_at_a_time_on_other_machines(carried: Any, home: Path) -> None:
    save(carried, home, "a", "--send-to", "parse")
    assert work(carried, "parse").json["nodes"][0]["endings"] == {"sent": 1}
    assert work(carried, "double").json["nodes"][0]["endings"] == {"finished": 1}


def test_a_worker_ends_what_it_has_in_hand(carried: Any, home: Path, tmp_path: Path) -> None:
    save(carried, home, "a", "--send-to", "parse")
    save(carried, home, "b", "--send-to", "parse")
    mark = tmp_path / "mark"
    command = [sys.executable, "-m", "cocli", "documents", "work", "parse", "--graph", FACTORY, "-c", "plumbers"]
    environ = {**os.environ, "COCLI_TEST_MARK": str(mark)}
    process = subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 60
    while not mark.exists() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "done 1" in out
    assert work(carried, "parse", "double").json["nodes"][0]["messages"] == {"done": 1}
    ends = [carried("documents", "get", doc, "--node", "double", "-c", "plumbers").code for doc in ("a", "b")]
    assert ends == [0, 0]


def test_where_nobody_carries_messages_nothing_is_written_and_work_is_refused(plumbers: Any, home: Path) -> None:
    (home / "page.html").write_bytes(b"12345")
    assert save(plumbers, home, "a").code == 0
    assert outbox(home) == []
    sent = save(plumbers, home, "b", "--send-to", "parse")
    worked = plumbers("documents", "work", "page", "-c", "plumbers")
    for refused in (sent, worked):
        assert refused.code == 3
        assert "documents.events is none" in refused.err
        assert 'Set events under [documents] to "queue" or "kafka".' in refused.err
    assert plumbers("documents", "get", "b", "-c", "plumbers").code == 4


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("work", "nope", "-c", "plumbers"), 4, "nope"),
        (("work", "page", "page", "-c", "plumbers"), 2, "a node is named twice"),
        (("save", "page.html", "--send-to", "No Name", "-c", "plumbers"), 2, "is not the name of a node"),
    ],
)
def test_mistakes(
    carried: Any, home: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], code: int, said: str
) -> None:
    monkeypatch.chdir(home)
    result = carried("documents", *words)
    assert (result.code, said in result.err) == (code, True), result.err


def test_what_the_transport_needs_is_said(carried: Any, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COCLI_DOCUMENTS_EVENTS", "queue")
    without = carried("documents", "work", "page")
    assert (without.code, "queues belong to a campaign" in without.err) == (3, True)
    monkeypatch.setenv("COCLI_DOCUMENTS_EVENTS", "kafka")
    without = carried("documents", "work", "page", "-c", "plumbers")
    assert (without.code, "documents.kafka_servers is not set" in without.err) == (3, True)


def test_a_process_that_relays_sends_at_its_end_what_was_saved_last(carried: Any, home: Path) -> None:
    with open_workspace(os.environ, Flags()) as workspace, opened_documents(workspace, "plumbers") as documents:
        with relaying(documents):
            upload(documents, Upload(b"x", "a"), publish=node_addresses(documents, ["parse"]))
        assert outbox(home) == [("pipestream.main.parse", True)]


def test_workers_of_the_pipeline_relay_too(carried: Any, home: Path) -> None:
    save(carried, home, "a", "--send-to", "parse")
    worked = carried("worker", "enrichment", "-c", "plumbers", "--once")
    assert worked.code == 0, worked.err
    assert outbox(home) == [("pipestream.main.parse", True)]


def waited_for(holds: Any, what: str) -> None:
    until = time.monotonic() + 180
    while not holds():
        assert time.monotonic() < until, what
        time.sleep(0.5)


def test_a_supervisor_runs_the_nodes_and_an_edition_that_subscribes_gets_everything(carried: Any, home: Path) -> None:
    """What was there, what comes in, with a worker killed in between; then all of it once more."""
    save(carried, home, "before")
    datasource = carried("documents", "states", "before", "-c", "plumbers", "--json").json["states"][0]["datasource"]
    for node in ("intake", "parse", "double"):
        assert carried("campaign", "edit", "plumbers", "--set", f"workers.here.{node}=1").code == 0
    subscribed = carried("documents", "subscribe", datasource, "-c", "plumbers", "--json")
    assert (subscribed.code, subscribed.json["state"]) == (0, "catching up")
    command = [sys.executable, "-m", "cocli", "supervisor", "--host", "here", "--poll", "0.5", "--heartbeat", "1"]
    process = subprocess.Popen([*command, "--graph", FACTORY, "-c", "plumbers"], stderr=subprocess.PIPE, text=True)

    def ended() -> set[str]:
        rows = carried("documents", "ls", "-c", "plumbers", "--edition", "main", "--json").json["states"]
        return {row["doc"] for row in rows if row["address"] == "double"}

    try:
        waited_for(lambda: ended() == {"before"}, "what was there did not arrive")
        status = carried("cluster", "status", "-c", "plumbers", "--json").json
        (host,) = status["hosts"]
        assert host["workers"] == {"intake": 1, "parse": 1, "double": 1}
        assert {"intake--main", "parse--main", "double--main"} <= {queue["queue"] for queue in status["queues"]}
        victims = subprocess.run(
            ["pgrep", "-P", str(process.pid), "-f", "documents work parse"], capture_output=True, text=True, check=True
        )
        os.kill(int(victims.stdout.split()[0]), signal.SIGKILL)
        save(carried, home, "after")
        waited_for(lambda: ended() == {"before", "after"}, "what came in did not arrive")
        route = carried("documents", "subscriptions", "-c", "plumbers", "--json").json["subscriptions"][0]
        assert (route["state"], route["seeded"]) == ("live", 1)
        again = carried("documents", "recrawl", datasource, "-c", "plumbers", "--json").json["subscriptions"][0]
        assert (again["state"], again["recrawls"]) == ("catching up", 1)
        waited_for(lambda: done_by(carried, "intake--main") == 4, "not everything was sent once more")
    finally:
        process.terminate()
        _, said = process.communicate(timeout=60)
    assert "parse#1 was killed by signal 9" in said
    assert carried("documents", "events", "-c", "plumbers", "--json").json["destinations"] == []
    assert carried("documents", "unsubscribe", datasource, "-c", "plumbers").code == 0
    assert carried("documents", "unsubscribe", datasource, "-c", "plumbers").code != 0


def test_an_edition_stays_subscribed_when_the_catalogue_is_built_anew(carried: Any, home: Path) -> None:
    save(carried, home, "before")
    datasource = carried("documents", "states", "before", "-c", "plumbers", "--json").json["states"][0]["datasource"]
    carried("documents", "subscribe", datasource, "-c", "plumbers")
    carried("documents", "subscribe", datasource, "--edition", "other", "-c", "plumbers")
    assert carried("documents", "unsubscribe", datasource, "--edition", "other", "-c", "plumbers").code == 0
    for file in home.rglob("catalog.sqlite3*"):
        file.unlink()
    assert carried("documents", "fsck", "--rebuild", "--yes", "-c", "plumbers").code == 0
    (route,) = carried("documents", "subscriptions", "-c", "plumbers", "--json").json["subscriptions"]
    assert (route["datasource"], route["edition"], route["state"]) == (datasource, "main", "catching up")
    save(carried, home, "after")
    assert work(carried, "intake", "parse", "double").json["nodes"][2]["messages"] == {"done": 2}


def test_messages_travel_by_sqs(
    carried: Any, home: Path, ministack: servers.S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The queues of nodes are created by their owner, like all queues of SQS; one that is missing is named."""
    import boto3

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", servers.ACCESS_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", servers.SECRET_KEY)
    settings = {"queue.provider": "sqs", "queue.lease_seconds": "5", "aws.region": "us-east-1"}
    for name, value in (settings | {"aws.endpoint": ministack.endpoint}).items():
        done = carried("campaign", "edit", "plumbers", "--set", f"{name}={value}")
        assert done.code == 0, done.err
    sqs = boto3.client("sqs", region_name="us-east-1", endpoint_url=ministack.endpoint)
    sqs.create_queue(QueueName="cocli-parse--main-plumbers")
    assert save(carried, home, "a", "--send-to", "parse").code == 0
    missing = work(carried, "parse", "double")
    assert missing.code != 0
    assert "cocli-double--main-plumbers" in missing.err
    sqs.create_queue(QueueName="cocli-double--main-plumbers")
    save(carried, home, "b", "--send-to", "parse")
    until, ended = time.monotonic() + 120, set[str]()
    while ended != {"a", "b"}:
        assert time.monotonic() < until, ended
        done = work(carried, "parse", "double")
        assert done.code == 0, done.err
        rows = carried("documents", "ls", "-c", "plumbers", "--edition", "main", "--json").json["states"]
        ended = {row["doc"] for row in rows if row["address"] == "double"}
    state = carried("documents", "get", "b", "--node", "double", "-c", "plumbers", "--json").json
    assert state["data"]["double"] == {"bytes": 10}
    assert done_by(carried, "double--main") == 2


def done_by(cocli: Any, queue: str) -> int:
    status = cocli("queue", "status", "plumbers", "--queue", queue, "--json").json["queues"][0]
    return int(status["completed"])


def test_a_full_outbox_is_said_and_has_room_again_once_events_were_sent(carried: Any, home: Path) -> None:
    carried("campaign", "edit", "plumbers", "--set", "documents.max_waiting_events=2")
    for doc in ("a", "b"):
        assert save(carried, home, doc, "--send-to", "parse").code == 0
    refused = save(carried, home, "c", "--send-to", "parse")
    assert refused.code == 6
    assert "2 events of the account default wait to be sent, and 2 may." in refused.err
    shown = carried("documents", "events", "-c", "plumbers", "--json").json
    assert [(row["destination"], row["waiting"]) for row in shown["destinations"]] == [("pipestream.main.parse", 2)]
    work(carried, "parse", "double")
    assert save(carried, home, "c", "--send-to", "parse").code == 0
