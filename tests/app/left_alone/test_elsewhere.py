"""Tasks in SQS and a catalogue on PostgreSQL: who is forgotten is gone from both, and nobody else is touched."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import psycopg
import pytest
from mypy_boto3_sqs import SQSClient

from cocli.app.campaigns.campaign import edit_campaign
from cocli.app.documents.care import DocumentsCheck, fsck
from cocli.app.documents.documents import opened_documents
from cocli.app.left_alone.forget import forget, plan
from cocli.app.left_alone.proofs import read_proofs
from cocli.app.machines.commands import send_command
from cocli.app.queues.queues import STANDARD, opened_queue
from cocli.app.workspace import Workspace, open_workspace
from cocli.config.edit import parse_change
from cocli.config.resolve import Flags
from cocli.demo.town.campaign import TownHome
from cocli.documents.catalog.row_removal import TABLES
from cocli.models.completion import Ok
from cocli.queue.base import NewTask
from cocli.queue.providers import COMMANDS
from cocli.queue.sqs.queue import SqsQueue, queue_name
from tests.app.left_alone.conftest import BUSINESS, CAMPAIGN, DOMAIN
from tests.app.left_alone.test_forget import NOTES, left
from tests.kit.postgres import PostgresServer, postgres
from tests.kit.servers import REGION, S3Server

DOMAINS = [DOMAIN, "plumb.example", *(f"firm{number}.example" for number in range(12))]


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with postgres() as running:
        yield running


@pytest.fixture
def sqs(ministack: S3Server) -> Iterator[SQSClient]:
    client = boto3.client("sqs", endpoint_url=ministack.endpoint, region_name=REGION)
    urls = [client.create_queue(QueueName=queue_name(CAMPAIGN, name))["QueueUrl"] for name in STANDARD]
    yield client
    for url in urls:
        client.delete_queue(QueueUrl=url)
    client.close()


@pytest.fixture
def workspace(home: TownHome, ministack: S3Server, sqs: SQSClient, server: PostgresServer) -> Iterator[Workspace]:
    """The home, whose tasks wait in SQS and whose catalogue is on a server."""
    changes = [
        "queue.provider=sqs", f"aws.endpoint={ministack.endpoint}", f"aws.region={REGION}",
        f"documents.catalog={server.new_schema()}",
    ]  # fmt: skip
    with open_workspace(home.environ, Flags()) as opened:
        edit_campaign(opened, CAMPAIGN, [parse_change(change) for change in changes])
        with opened_queue(opened.campaign(CAMPAIGN), "enrichment") as queue:
            queue.put_many([NewTask(domain, {"domain": domain}) for domain in DOMAINS])
        with opened_documents(opened, CAMPAIGN) as documents:
            fsck(documents, DocumentsCheck(repair=True))
        yield opened


def _rows(url: str) -> str:
    with psycopg.connect(url) as connection:
        found = [connection.execute(f"SELECT * FROM {table}").fetchall() for table in TABLES]
    return str(found).lower()


def _files(url: str) -> bytes:
    """The bytes of all tables, as they lie on the server's disk."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CHECKPOINT")
        paths = [connection.execute("SELECT pg_relation_filepath(%s)", [table]).fetchone() for table in TABLES]
        read = [connection.execute("SELECT pg_read_binary_file(%s)", path).fetchone() for path in paths]
    return b"".join(bytes(row[0]) for row in read if row)


def _catalog(workspace: Workspace) -> str:
    with opened_documents(workspace, CAMPAIGN, learn=False) as documents:
        return documents.catalog_address


def test_they_are_gone_from_messages_and_rows(workspace: Workspace, home: TownHome, sqs: SQSClient) -> None:
    url = _catalog(workspace)
    before = _rows(url)
    assert DOMAIN in before
    planned = plan(workspace, DOMAIN, NOTES)
    assert any(f"about {len(DOMAINS)} tasks wait in SQS" in words for words in planned.sweep.beyond)
    assert planned.sweep.files["row of a database", "removed"] == 2, "here, and on the server"
    assert _rows(url) == before, "a plan changes nothing"
    done = forget(workspace, DOMAIN, NOTES)
    assert done.sweep.counts["message", "removed"] == 1
    assert (done.sweep.remaining, [proof.remaining for proof in read_proofs(workspace.store)]) == ([], [()])
    assert [needle for needle in BUSINESS if needle.lower() in _rows(url)] == []
    assert [needle for needle in BUSINESS if needle.lower().encode() in _files(url).lower()] == []
    assert "plumb.example" in _rows(url)
    assert left(home, DOMAIN) == []
    with opened_documents(workspace, CAMPAIGN) as documents:
        assert not fsck(documents, DocumentsCheck()).findings
    seen = dict[str, int]()
    with opened_queue(workspace.campaign(CAMPAIGN), "enrichment") as queue:
        while len(seen) < len(DOMAINS) - 1 and (claim := queue.claim()) is not None:
            seen[claim.task.task_id] = claim.attempt
            queue.ack(claim, Ok(result={}))
    assert seen == dict.fromkeys(DOMAINS[1:], 1), "all others are there, and nobody has tried them yet"


@pytest.fixture
def commands(sqs: SQSClient) -> Iterator[str]:
    """The queue of commands for whichever supervisor comes first."""
    name = f"{queue_name(CAMPAIGN, COMMANDS)}.fifo"
    url = sqs.create_queue(QueueName=name, Attributes={"FifoQueue": "true"})["QueueUrl"]
    yield url
    sqs.delete_queue(QueueUrl=url)


def _waiting(sqs: SQSClient, url: str) -> list[str]:
    found = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=0).get("Messages", [])
    return [str(message["Body"]) for message in found]


def test_a_command_that_names_them_goes_and_the_others_stay(
    workspace: Workspace, home: TownHome, sqs: SQSClient, commands: str
) -> None:
    campaign = workspace.campaign(CAMPAIGN)
    send_command(campaign, f"add-exclude {DOMAIN}")
    assert DOMAIN in str(_waiting(sqs, commands))
    assert any("about 1 commands wait" in words for words in plan(workspace, DOMAIN, NOTES).sweep.beyond)
    shutil.rmtree(Path(home.environ["COCLI_DATA_HOME"]) / "campaigns" / CAMPAIGN / "queues" / COMMANDS)
    assert forget(workspace, DOMAIN, NOTES).sweep.remaining == [], "also where the store has no trace of the queue"
    assert (_waiting(sqs, commands), left(home, DOMAIN)) == ([], [])
    send_command(campaign, "add-exclude plumb.example")
    assert forget(workspace, DOMAIN, NOTES).sweep.remaining == []
    assert "plumb.example" in str(_waiting(sqs, commands))


def test_commands_behind_others_are_told(workspace: Workspace, sqs: SQSClient, commands: str) -> None:
    """SQS shows ten of them; the eleventh comes when they are executed."""
    campaign = workspace.campaign(CAMPAIGN)
    for number in range(10):
        send_command(campaign, f"add-exclude firm{number}.example")
    send_command(campaign, f"add-exclude {DOMAIN}")
    done = forget(workspace, DOMAIN, NOTES)
    assert [(rest.kind, rest.reason, rest.number) for rest in done.sweep.remaining] == [("message", "behind", 1)]
    assert [proof.finished_at for proof in read_proofs(workspace.store)] == [None]


def test_what_a_worker_has_in_hand_is_told_and_goes_with_the_next_run(
    workspace: Workspace, home: TownHome, sqs: SQSClient
) -> None:
    with opened_queue(workspace.campaign(CAMPAIGN), "enrichment") as queue:
        assert isinstance(queue, SqsQueue)
        claims: list[Any] = []
        while not (claims and claims[-1].task.task_id == DOMAIN):
            claims.append(queue.claim())
        done = forget(workspace, DOMAIN, NOTES)
        assert [(rest.kind, rest.reason, rest.number) for rest in done.sweep.remaining] == [
            ("message", "in_hand", len(claims))
        ]
        assert [proof.finished_at for proof in read_proofs(workspace.store)] == [None]
        for claim in claims:
            queue.release(claim)
    again = forget(workspace, DOMAIN, NOTES)
    assert (again.resumed, again.sweep.remaining, again.sweep.counts["message", "removed"]) == (True, [], 1)
    assert left(home, DOMAIN) == []


def test_a_catalogue_that_cannot_be_reached_is_told(workspace: Workspace) -> None:
    edit_campaign(workspace, CAMPAIGN, [parse_change("documents.catalog=postgresql://postgres@127.0.0.1:9/none")])
    planned = plan(workspace, DOMAIN, NOTES)
    assert [(rest.kind, rest.reason) for rest in planned.sweep.remaining] == [
        ("row of a database", "catalog_unavailable")
    ]


def test_every_table_of_a_catalogue_is_looked_through(workspace: Workspace) -> None:
    with psycopg.connect(_catalog(workspace)) as connection:
        found = connection.execute(
            "SELECT table_name FROM information_schema.tables "
            "WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'"
        ).fetchall()
    assert {name for (name,) in found} - {"migrations", "schema_migrations"} == set(TABLES)
