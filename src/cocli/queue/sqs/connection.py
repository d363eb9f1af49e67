"""One queue of Amazon SQS, or of a server that speaks its protocol: the requests, and our own errors for theirs.

boto3 is loaded with the first connection, because it takes longer to load than most commands take to run.

A name that ends in `.fifo` is that of a FIFO queue, as SQS has it: its messages come one by one, in the order in which
they were sent, and one that is sent twice within five minutes comes once.
"""

from __future__ import annotations

import re
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from cocli.errors import Denied, MissingExtra, QueueError, QueueUnusable, Unavailable
from cocli.keys.resources import FIFO
from cocli.store.clock_skew import clock_skew, says_skewed, seconds_ahead
from cocli.store.credentials import find_credentials

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from botocore.exceptions import ClientError
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.literals import QueueAttributeNameType
    from mypy_boto3_sqs.type_defs import MessageTypeDef, SendMessageBatchRequestEntryTypeDef

LONGEST_VISIBILITY = 43_200
"""Seconds: SQS gives a message back 12 hours after it was received, whatever was renewed meanwhile."""
LONGEST_POLL = 20
BATCH = 10
_NAME = re.compile(r"(?=.{1,80}\Z)[A-Za-z0-9_-]+(?:\.fifo)?\Z")
_CONNECT_SECONDS = 5
_ANSWER_SECONDS = 15
_TRIES = 4
_CONNECTIONS = 32
_CHECK = "Check endpoint, region and profile under [aws] in the campaign's config.toml."

_MISSING = frozenset({"QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue"})
_EXPIRED = frozenset(
    {
        "ReceiptHandleIsInvalid",
        "InvalidReceiptHandle",
        "MessageNotInflight",
        "AWS.SimpleQueueService.MessageNotInflight",
    }
)
_BUSY = frozenset({"RequestThrottled", "Throttling", "ThrottlingException", "OverLimit", "KmsThrottled"})
_DENYING = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "ExpiredToken",
        "ExpiredTokenException",
        "InvalidClientTokenId",
        "InvalidSecurity",
        "KmsAccessDenied",
        "SignatureDoesNotMatch",
        "UnrecognizedClientException",
    }
)


class ReceiptExpired(Exception):
    """The receipt of a message is worth nothing any more: the message is visible again, received again or deleted."""


@dataclass(frozen=True, slots=True)
class SqsMessage:
    """A message in our hands. `receives` is how often SQS gave it to anybody, this time included."""

    message_id: str
    receipt: str
    body: str
    receives: int


@dataclass(frozen=True, slots=True)
class RefusedMessage:
    """A message of a batch that was not taken. `ours` tells whether sending it again is of no use."""

    position: int
    ours: bool
    reason: str


class SqsConnection:
    """Safe to share between threads. Nothing is sent before it is used."""

    def __init__(
        self,
        queue_name: str,
        *,
        region: str | None = None,
        endpoint: str | None = None,
        profile: str | None = None,
        account_id: str | None = None,
        tries: int = _TRIES,
    ) -> None:
        if not _NAME.match(queue_name):
            reason = f"{queue_name} is no name for a queue of SQS (80 letters, digits, dashes and underscores at most)"
            raise QueueUnusable(provider="sqs", reason=reason, hint="Shorten the name of the campaign or of the queue.")
        self.queue_name = queue_name
        self.fifo = queue_name.endswith(FIFO)
        self._endpoint = endpoint
        self._profile = profile
        self._account_id = account_id
        self._tries = tries
        credentials = find_credentials(profile)
        self._credentials = credentials.source
        self._region = region or credentials.region
        self._lock = threading.Lock()
        self._opened: tuple[SQSClient, str] | None = None

    # --- requests

    def open(self) -> None:
        """Make sure that the queue is there. `QueueUnusable` with what is missing, if it is not."""
        self._queue()

    def send(self, bodies: Sequence[str]) -> list[RefusedMessage]:
        """Send up to ten messages in one request: those that were not taken."""
        client, url = self._queue()
        with self._mapped():
            answer = client.send_message_batch(
                QueueUrl=url,
                Entries=[self._entry(position, body) for position, body in enumerate(bodies)],
            )
        return [
            RefusedMessage(int(entry["Id"]), entry["SenderFault"], f"{entry['Code']}: {entry.get('Message', '')}")
            for entry in answer.get("Failed", [])
        ]

    def _entry(self, position: int, body: str) -> SendMessageBatchRequestEntryTypeDef:
        entry: SendMessageBatchRequestEntryTypeDef = {"Id": str(position), "MessageBody": body}
        if self.fifo:
            entry["MessageGroupId"] = "all"
            # By its content, which has a nonce: a request that is repeated is one message, a task that came back two.
            entry["MessageDeduplicationId"] = sha256(body.encode()).hexdigest()
        return entry

    def receive(self, *, visibility: int, wait: int) -> SqsMessage | None:
        """One message, waiting for it as long as is asked for; nobody else sees it while its visibility runs."""
        return next(iter(self.receive_many(visibility=visibility, wait=wait, most=1)), None)

    def receive_many(self, *, visibility: int, wait: int, most: int = BATCH) -> list[SqsMessage]:
        """Up to ten messages in one request; fewer than there are, now and then."""
        client, url = self._queue()
        with self._mapped():
            answer = client.receive_message(
                QueueUrl=url,
                MaxNumberOfMessages=most,
                VisibilityTimeout=visibility,
                WaitTimeSeconds=wait,
                MessageSystemAttributeNames=["ApproximateReceiveCount"],
            )
        return [_message(found) for found in answer.get("Messages", [])]

    def change_visibility(self, receipt: str, seconds: int) -> None:
        """Count the visibility anew from now. `ReceiptExpired` if the message is not ours any more."""
        client, url = self._queue()
        with self._mapped():
            client.change_message_visibility(QueueUrl=url, ReceiptHandle=receipt, VisibilityTimeout=seconds)

    def delete(self, receipt: str) -> None:
        """Remove a message. One that is gone already is fine."""
        client, url = self._queue()
        try:
            with self._mapped():
                client.delete_message(QueueUrl=url, ReceiptHandle=receipt)
        except ReceiptExpired:
            pass  # somebody else has it now, and will find that it has ended

    def numbers(self, *names: QueueAttributeNameType) -> list[int]:
        """Attributes of the queue that are numbers; 0 for one that the server does not know."""
        client, url = self._queue()
        with self._mapped():
            found = client.get_queue_attributes(QueueUrl=url, AttributeNames=list(names)).get("Attributes", {})
        return [int(found.get(name, "0")) for name in names]

    def close(self) -> None:
        with self._lock:
            opened, self._opened = self._opened, None
        if opened:
            opened[0].close()

    # --- opening

    def _queue(self) -> tuple[SQSClient, str]:
        with self._lock:
            if self._opened is None:
                client = self._connect()
                self._opened = client, self._find(client)
            return self._opened

    def _connect(self) -> SQSClient:
        try:
            import boto3
            from botocore.config import Config
            from botocore.exceptions import BotoCoreError
        except ImportError as error:
            raise MissingExtra(feature="Queue provider sqs", package="boto3", extra="aws") from error
        if not self._region:
            hint = "Set region under [aws] in the campaign's config.toml, or AWS_REGION."
            raise QueueUnusable(provider="sqs", reason="no region is set (aws.region)", hint=hint)
        config = Config(
            connect_timeout=_CONNECT_SECONDS,
            read_timeout=LONGEST_POLL + _ANSWER_SECONDS,
            retries={"mode": "standard", "total_max_attempts": self._tries},
            max_pool_connections=_CONNECTIONS,
        )
        try:
            session = boto3.Session(profile_name=self._profile, region_name=self._region)
            return session.client("sqs", endpoint_url=self._endpoint, config=config)
        except (BotoCoreError, ValueError) as error:
            raise QueueUnusable(provider="sqs", reason=str(error), hint=_CHECK) from error

    def _find(self, client: SQSClient) -> str:
        owner: dict[str, Any] = {}
        if self._account_id:
            owner["QueueOwnerAWSAccountId"] = self._account_id
        with self._mapped():
            return client.get_queue_url(QueueName=self.queue_name, **owner)["QueueUrl"]

    # --- errors

    @property
    def _address(self) -> str:
        return f"{self._endpoint or f'https://sqs.{self._region}.amazonaws.com'} (SQS)"

    @contextmanager
    def _mapped(self) -> Iterator[None]:
        from botocore import exceptions as foreign

        try:
            yield
        except foreign.ClientError as error:
            raise self._translate(error) from error
        except (foreign.ConnectionError, foreign.HTTPClientError, foreign.IncompleteReadError) as error:
            reason = f"{error} (credentials: {self._credentials})"
            raise Unavailable(address=self._address, reason=reason, key=self.queue_name) from error
        except (
            foreign.NoCredentialsError,
            foreign.PartialCredentialsError,
            foreign.CredentialRetrievalError,
            foreign.SSOError,
            foreign.TokenRetrievalError,
        ) as error:
            raise self._denied(str(error)) from error
        except foreign.BotoCoreError as error:
            # What is left is a setting that makes no request possible, or a server that does not speak this protocol.
            raise QueueUnusable(provider="sqs", queue=self.queue_name, reason=str(error), hint=_CHECK) from error

    def _translate(self, error: ClientError) -> Exception:
        code = error.response.get("Error", {}).get("Code", "")
        said = error.response.get("Error", {}).get("Message", "")
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        reason = f"{said} ({code})"
        if code in _MISSING:
            return self._missing()
        if code in _EXPIRED or (code == "InvalidParameterValue" and "receipt handle" in said.lower()):
            return ReceiptExpired(said)
        if says_skewed(code, said):
            date = error.response.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("date", "")
            return clock_skew(self._address, self.queue_name, seconds_ahead(date))
        if code in _DENYING or status in (401, 403):
            return self._denied(reason)
        if code in _BUSY or status == 429 or status >= 500:
            return Unavailable(address=self._address, reason=reason, key=self.queue_name)
        return QueueError(queue=self.queue_name, reason=f"{self._address} answered: {reason}")

    def _missing(self) -> QueueUnusable:
        kind = "FifoQueue=true," if self.fifo else ""
        where = f" --region {self._region}"
        if self._endpoint:
            where += f" --endpoint-url {self._endpoint}"
        return QueueUnusable(
            provider="sqs",
            queue=self.queue_name,
            missing=True,
            reason=f"there is no queue {self.queue_name} at {self._address}",
            hint=f"Create it with: aws sqs create-queue --queue-name {self.queue_name}{where} "
            f"--attributes {kind}MessageRetentionPeriod=1209600",
        )

    def _denied(self, reason: str) -> Denied:
        return Denied(address=self._address, key=self.queue_name, credentials=self._credentials, reason=reason)


def _message(found: MessageTypeDef) -> SqsMessage:
    receives = int(found.get("Attributes", {}).get("ApproximateReceiveCount", "1"))
    return SqsMessage(found["MessageId"], found["ReceiptHandle"], found["Body"], max(receives, 1))
