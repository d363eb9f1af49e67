"""Answers of SQS that no test server gives by itself: they are scripted here, and travel over HTTP all the same."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from tests.kit.servers import REGION

from cocli.errors import CocliError, ConfigError, Denied, QueueError, QueueUnusable, Unavailable
from cocli.queue.sqs.connection import ReceiptExpired, SqsConnection
from cocli.queue.sqs.messages import Outbox

Answer = tuple[int, dict[str, Any]]


class Scripted:
    """A server that answers by operation, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.answers: dict[str, Callable[[dict[str, Any]], Answer]] = {
            "GetQueueUrl": lambda _: (200, {"QueueUrl": f"{self.endpoint}/1/q"}),
            "GetQueueAttributes": lambda _: (200, {"Attributes": {"MaximumMessageSize": "262144"}}),
        }
        scripted = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                data = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                operation = self.headers["X-Amz-Target"].partition(".")[2]
                scripted.asked.append((operation, data))
                status, answer = scripted.answers[operation](data)
                body = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/x-amz-json-1.0")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                """A test's output is no place for it."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.endpoint = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def fail(self, operation: str, code: str, message: str = "", status: int = 400) -> None:
        self.answers[operation] = lambda _: (status, {"__type": f"com.amazonaws.sqs#{code}", "message": message})

    def sent(self) -> list[list[str]]:
        return [
            [entry["MessageBody"] for entry in data["Entries"]]
            for operation, data in self.asked
            if operation == "SendMessageBatch"
        ]

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def server() -> Iterator[Scripted]:
    scripted = Scripted()
    yield scripted
    scripted.close()


@pytest.fixture
def connection(server: Scripted) -> Iterator[SqsConnection]:
    connection = SqsConnection("cocli-q-c", region=REGION, endpoint=server.endpoint, tries=1)
    yield connection
    connection.close()


def refusing(*names: str, code: str = "InternalError", ours: bool = False) -> Callable[[dict[str, Any]], Answer]:
    """Takes every message once; those that are named only when they come the second time."""
    waiting = set(names)

    def answer(data: dict[str, Any]) -> Answer:
        taken, failed = [], []
        for entry in data["Entries"]:
            if entry["MessageBody"] in waiting:
                waiting.discard(entry["MessageBody"])
                failed.append({"Id": entry["Id"], "Code": code, "Message": "try again", "SenderFault": ours})
            else:
                taken.append({"Id": entry["Id"], "MessageId": "m", "MD5OfMessageBody": ""})
        return 200, {"Successful": taken, "Failed": failed}

    return answer


def test_what_a_batch_did_not_take_is_sent_again(server: Scripted, connection: SqsConnection) -> None:
    server.answers["SendMessageBatch"] = refusing("1", "3")
    waits: list[float] = []
    Outbox(connection, sleep=waits.append).send((str(n), f"{n}\n".encode()) for n in range(5))
    assert server.sent() == [["0", "1", "2", "3", "4"], ["1", "3"]]
    assert len(waits) == 1


def test_a_message_that_is_wrong_is_not_sent_again(server: Scripted, connection: SqsConnection) -> None:
    server.answers["SendMessageBatch"] = refusing("1", code="InvalidMessageContents", ours=True)
    with pytest.raises(QueueError, match="InvalidMessageContents: try again"):
        Outbox(connection).send((str(n), str(n).encode()) for n in range(3))
    assert len(server.sent()) == 1


def test_a_batch_that_is_never_taken_is_unavailable(server: Scripted, connection: SqsConnection) -> None:
    failed = {"Id": "0", "Code": "InternalError", "Message": "busy", "SenderFault": False}
    server.answers["SendMessageBatch"] = lambda _: (200, {"Successful": [], "Failed": [failed]})
    with pytest.raises(Unavailable, match="1 messages were not taken, tried 5 times; last: InternalError: busy"):
        Outbox(connection, sleep=lambda _: None).send([("a", b"a")])
    assert server.sent() == [["a"]] * 5


@pytest.mark.parametrize(
    ("code", "message", "status", "raised"),
    [
        ("AccessDenied", "not allowed", 403, Denied),
        ("InvalidClientTokenId", "no such key", 403, Denied),
        ("KmsAccessDenied", "no key", 400, Denied),
        ("RequestThrottled", "slow down", 400, Unavailable),
        ("InternalFailure", "oops", 500, Unavailable),
        ("QueueDoesNotExist", "gone", 400, QueueUnusable),
        ("ReceiptHandleIsInvalid", "old", 400, ReceiptExpired),
        ("MessageNotInflight", "visible", 400, ReceiptExpired),
        ("InvalidParameterValue", "Reason: The receipt handle has expired.", 400, ReceiptExpired),
        ("UnsupportedOperation", "never", 400, QueueError),
    ],
)
def test_every_answer_becomes_an_error_of_ours(
    server: Scripted, connection: SqsConnection, code: str, message: str, status: int, raised: type[Exception]
) -> None:
    server.fail("ChangeMessageVisibility", code, message, status)
    with pytest.raises(raised) as caught:
        connection.change_visibility("r", 30)
    assert type(caught.value) is raised
    if isinstance(caught.value, CocliError):
        assert server.endpoint in caught.value.message or "cocli-q-c" in caught.value.message


def test_deleting_what_is_gone_is_fine(server: Scripted, connection: SqsConnection) -> None:
    server.fail("DeleteMessage", "ReceiptHandleIsInvalid")
    connection.delete("r")


def test_a_server_that_speaks_something_else(server: Scripted, connection: SqsConnection) -> None:
    server.answers["GetQueueUrl"] = lambda _: (404, {"error": "this is a web shop"})
    with pytest.raises(CocliError):
        connection.open()


def test_a_queue_of_another_account(server: Scripted) -> None:
    connection = SqsConnection("cocli-q-c", region=REGION, endpoint=server.endpoint, account_id="123456789012")
    connection.open()
    connection.close()
    assert server.asked == [("GetQueueUrl", {"QueueName": "cocli-q-c", "QueueOwnerAWSAccountId": "123456789012"})]


def test_no_credentials(server: Scripted, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    with pytest.raises(ConfigError, match="AWS_EC2_METADATA_DISABLED forbids"):
        SqsConnection("cocli-q-c", region=REGION, endpoint=server.endpoint).open()
