"""What an S3 server or its client library says, in the store's own errors."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from obstore.exceptions import (
    AlreadyExistsError,
    BaseError,
    PermissionDeniedError,
    PreconditionError,
    UnauthenticatedError,
)

from cocli.errors import BucketMissing, Denied, NotFound, StoreError, StoreFull, Unavailable
from cocli.store.clock_skew import SKEW_CODES, skew_behind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

REFUSED = (AlreadyExistsError, PreconditionError)
"""A conditional write that did not go through: lost, or not decided."""
FOREIGN_ERRORS = (BaseError, FileNotFoundError, OSError, ValueError)
"""All that the client library raises: most of its own kind, some of Python's."""

_CODE = re.compile(r"<Code>(\w+)</Code>")
_STATUS = re.compile(r"status code: (\d{3})")
_PREAMBLE = re.compile(
    r"^Generic (?:S3|MicrosoftAzure) error: (?:Error performing list request: )?Error performing \w+ \S+ in \S+"
    r"(?:, after \d+ retries, max_retries: \d+, retry_timeout: \S+)?\s+- "
)
"""What the library says before it comes to the point."""
_LENDER = re.compile(r"External AWS credential provider: (?P<kind>\w+): (?P<said>[^\n]*)")
"""What a provider of credentials raised, in the library's words."""
_METADATA_HOST = "//169.254."
"""Asked for credentials where nothing else has any: it answers on machines of Amazon only."""
_NO_ANSWER = (
    (re.compile(r"failed to lookup address information"), "there is no such host, or no network"),
    (re.compile(r'\bmessage: "([^"]+)"'), ""),  # of the operating system: Connection refused, No route to host
    (re.compile(r"\bkind: Timeout\b"), "no answer in time"),
    (re.compile(r"\bIncompleteMessage\b"), "the connection was cut"),
)
"""Why there was no answer, where the library's page of debugging tells."""
_DENYING_CODES = frozenset(
    {
        "AuthenticationFailed",
        "AuthorizationFailure",
        "AuthorizationHeaderMalformed",
        "ExpiredToken",
        "InvalidToken",
        "SignatureDoesNotMatch",
        "AccessDenied",
    }
)
_NO_BUCKET = frozenset({"NoSuchBucket", "ContainerNotFound"})
_FULL_CODES = frozenset({"QuotaExceeded", "InsufficientStorage", "XMinioStorageFull", "ServiceQuotaExceededException"})


@dataclass(frozen=True, slots=True)
class S3Errors:
    """Translates for one store: its address, bucket and the source of its credentials appear in the messages."""

    address: str
    bucket: str
    credentials: str
    ask_time: Callable[[], datetime]
    """Asks the server what time it is."""

    @contextmanager
    def mapped(self, key: str) -> Iterator[None]:
        try:
            yield
        except StoreError:
            raise
        except FOREIGN_ERRORS as error:
            raise self.translate(error, key) from error

    def translate(self, error: Exception, key: str) -> StoreError:
        text = str(error)
        self.check_bucket(text)
        if isinstance(error, FileNotFoundError):
            return NotFound(key=key)
        if lender := _LENDER.search(text):
            return self._nothing_lent(lender, key)
        if isinstance(error, (PermissionDeniedError, UnauthenticatedError)):
            return self._denied(text, key)
        status = _STATUS.search(text)
        return self.from_status(int(status[1]) if status else 0, text, key)

    def from_status(self, status: int, text: str, key: str) -> StoreError:
        """An answer that is neither success nor "not found"; status 0 stands for no answer at all."""
        code = _error_code(text)
        if status in (401, 403) or code in _DENYING_CODES | SKEW_CODES:
            return self._denied(text, key)
        if status == 507 or code in _FULL_CODES:
            return StoreFull(address=self.address, reason=_brief(text), key=key)
        if status and 400 <= status < 500 and status not in (408, 409, 429):
            return StoreError(key=key, reason=f"{self.address}: {_brief(text)}")
        why = "" if status else _why_no_answer(text)
        reason = why or _brief(text) or "no answer"
        if status or _METADATA_HOST in text:  # not the network: the credentials may be at fault
            reason = f"{reason} (credentials: {self.credentials})"
        return Unavailable(address=self.address, reason=reason, key=key)

    def from_code(self, status: int, code: str, said: str, key: str) -> StoreError:
        """The same for a client library that has taken the answer apart."""
        text = f"{said}<?xml?><Code>{code}</Code>"
        self.check_bucket(text)
        return self.from_status(status, text, key)

    def check_bucket(self, text: str) -> None:
        if _error_code(text) in _NO_BUCKET:
            raise BucketMissing(bucket=self.bucket, address=self.address)

    def _nothing_lent(self, lender: re.Match[str], key: str) -> StoreError:
        """Whoever lends credentials to this container failed; the store itself was not asked."""
        if lender["kind"] == Unavailable.__name__:
            return Unavailable(address=self.address, reason=f"no credentials: {lender['said']}", key=key)
        return Denied(address=self.address, key=key, credentials=self.credentials, reason=lender["said"])

    def _denied(self, text: str, key: str) -> StoreError:
        if skew := skew_behind(_error_code(text), text, self.address, key, self.ask_time):
            return skew
        return Denied(address=self.address, key=key, credentials=self.credentials, reason=_brief(text))


def _error_code(text: str) -> str:
    match = _CODE.search(text)
    return match[1] if match else ""


def _brief(text: str) -> str:
    """The first line, with the server's own code; the library appends a page of debugging to it."""
    line = _PREAMBLE.sub("", text.split("\n", 1)[0].split("<?xml", 1)[0]).strip(" :")
    code = _error_code(text)
    return f"{line} ({code})" if code and code not in line else line


def _why_no_answer(text: str) -> str:
    for pattern, words in _NO_ANSWER:
        if match := pattern.search(text):
            return words or match[1]
    return ""
