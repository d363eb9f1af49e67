"""A store in a bucket of Amazon S3, or of any server that speaks its protocol and honours conditional writes.

The conditional writes are the delicate part, because an answer can be lost after the server acted:

- Each carries a nonce of its writer in the object's metadata, and the client library is told not to repeat it.
- 412, and the 409 that the library reports as "already exists", do not yet mean that somebody else won: the object
  is looked at. With our nonce, an earlier attempt of ours went through; absent or unchanged, nothing was decided
  and the attempt is repeated; otherwise it is lost.
"""

from __future__ import annotations

import logging
import random
import secrets
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import obstore
from obstore.store import S3Store as Client

from cocli import logs
from cocli.errors import AlreadyExists, Conflict, ForeignServer, NotFound, StoreError, Unavailable
from cocli.keys.parts import check_key, check_prefix, is_key
from cocli.retries import Backoff, call_again
from cocli.store.base import ObjectInfo, StoredObject
from cocli.store.bulk import answer, delete_one, put_one
from cocli.store.conditions import check_put
from cocli.store.credentials import find_credentials
from cocli.store.s3_errors import FOREIGN_ERRORS, REFUSED, S3Errors
from cocli.store.s3_versions import BucketPlace, BucketVersions
from cocli.store.server_clock import ServerClock, elapsed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    import httpx2

    from cocli.store.base import Put
    from cocli.store.bulk import Item, Result
    from cocli.store.credentials import StoreAccess

T = TypeVar("T")
_LOG = logs.get_logger(__name__)

_WRITER = "cocli-writer"  # the metadata under which a conditional write carries its nonce
_DEFAULT_REGION = "us-east-1"
_CONCURRENCY = 64
_DELETE_BATCH = 1000
_LIST_PAGE = 1000
_TRIES = 6
_NOWHERE = "nowhere-"
_PROOF_SECONDS = 60.0
_FIRST_WAIT = 0.1
_BACKOFF = Backoff(first=_FIRST_WAIT * 1.5)
_SIGNED_FOR = timedelta(minutes=1)
_DATE_TIMEOUT = 10.0  # a header is a small answer
_PATIENT = {
    "max_retries": _TRIES - 1,
    "retry_timeout": timedelta(seconds=30),
    "backoff": {"init_backoff": timedelta(seconds=_FIRST_WAIT), "max_backoff": timedelta(seconds=5), "base": 2},
}
_ONCE = {"max_retries": 0, "retry_timeout": timedelta(seconds=30)}
CLIENT_TIMEOUTS = {"timeout": timedelta(seconds=60), "connect_timeout": timedelta(seconds=5)}


class S3Store:
    """A bucket, or the part of it below a prefix. Open one in each process: the client does not survive a fork."""

    _writer = _WRITER
    _no_such_key = "NoSuchKey"
    _versions: BucketVersions | None = None

    def __init__(
        self,
        bucket: str,
        *,
        prefix: str = "",
        endpoint: str | None = None,
        region: str | None = None,
        profile: str | None = None,
    ) -> None:
        credentials = find_credentials(profile)
        region = region or credentials.region or _DEFAULT_REGION
        self._endpoint = (endpoint or f"https://s3.{region}.amazonaws.com").rstrip("/")
        where = f"s3://{bucket}/{prefix}".rstrip("/")
        make = partial(self._client, bucket, prefix=prefix, endpoint=endpoint, region=region, **credentials.settings)
        self._open(f"{where} ({self._endpoint})" if endpoint else where, bucket, credentials.access, make)
        place = BucketPlace(bucket, prefix, region, endpoint, profile, credentials)
        self._versions = BucketVersions(place, self._errors)

    def _open(self, address: str, bucket: str, access: StoreAccess, make: Callable[..., Client]) -> None:
        self._address = address
        self._access = access
        self._errors = S3Errors(address, bucket, access.credentials, ask_time=self.now)
        self._patient = make(retry=_PATIENT)
        self._once = make(retry=_ONCE)
        self._clock = ServerClock(self._ask_time)
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._http: httpx2.Client | None = None
        self._proved_at: float | None = None
        self._random = random.Random(secrets.randbits(64))  # noqa: S311 - spreads waits, hides nothing
        _LOG.debug("store opened: %s, credentials from %s", address, access.credentials)

    @property
    def address(self) -> str:
        return self._address

    @property
    def access(self) -> StoreAccess:
        """Whose credentials it is opened with."""
        return self._access

    @property
    def object_versions(self) -> BucketVersions | None:
        """What the bucket keeps of objects that were replaced or deleted."""
        return self._versions

    # --- single objects

    def get(self, key: str) -> StoredObject:
        check_key(key)
        result = self._look(key)
        with self._errors.mapped(key):
            meta = result.meta
            return StoredObject(key, bytes(result.bytes()), str(meta["e_tag"]), meta["last_modified"])

    def head(self, key: str) -> ObjectInfo:
        check_key(key)
        try:
            with self._errors.mapped(key):
                meta = obstore.head(self._patient, key)
        except NotFound:
            meta = self._look(key).meta  # an answer to HEAD cannot say that the whole bucket is gone
        return ObjectInfo(key, meta["size"], meta["last_modified"], meta["e_tag"])

    def put(self, key: str, data: bytes, *, if_absent: bool = False, if_match: str | None = None) -> str:
        check_put(key, if_absent=if_absent, if_match=if_match)
        if if_absent or if_match is not None:
            return self._put_conditionally(key, data, if_match)
        with self._errors.mapped(key):
            return str(obstore.put(self._patient, key, data)["e_tag"])

    def delete(self, key: str, *, if_match: str | None = None) -> None:
        check_key(key)
        if if_match is not None:
            self._delete_conditionally(key, if_match)
            return
        with self._errors.mapped(key):
            obstore.delete(self._patient, key)

    def list(self, prefix: str = "", *, start_after: str | None = None) -> Iterator[ObjectInfo]:
        check_prefix(prefix)
        is_empty = True
        with self._errors.mapped(prefix):
            for page in obstore.list(
                self._patient, prefix.rstrip("/") or None, offset=start_after, chunk_size=_LIST_PAGE
            ):
                is_empty = is_empty and not page
                for meta in page:
                    if is_key(meta["path"]):  # what other programs put into the bucket is not ours to show
                        yield ObjectInfo(meta["path"], meta["size"], meta["last_modified"], meta["e_tag"])

        if is_empty:
            self._check_server()

    def now(self) -> datetime:
        return self._clock.now()

    def close(self) -> None:
        with self._lock:
            if self._pool:
                self._pool.shutdown()
            if self._http:
                self._http.close()
            self._pool = self._http = None
        if self._versions:
            self._versions.close()

    # --- many objects

    def get_many(self, keys: Iterable[str]) -> Sequence[StoredObject | StoreError]:
        return self._side_by_side(self.get, keys)

    def put_many(self, puts: Iterable[Put]) -> Sequence[str | StoreError]:
        return self._side_by_side(partial(put_one, self), puts)

    def _side_by_side(self, action: Callable[[Item], Result], items: Iterable[Item]) -> Sequence[Result | StoreError]:
        wanted = list(items)
        if len(wanted) == 1:
            return [answer(action, wanted[0])]
        return list(self._executor().map(logs.carried(partial(answer, action)), wanted))

    def delete_many(
        self,
        keys: Iterable[str],
        *,
        if_match: Mapping[str, str] | None = None,
        durable: bool = True,  # noqa: ARG002 - S3 answers when it is done
    ) -> Sequence[StoreError | None]:
        every = list(keys)
        refused = {key: error for key in every if (error := answer(check_key, key)) is not None}
        etags = if_match or {}
        good = [key for key in every if key not in refused and key not in etags]
        batches = [good[start : start + _DELETE_BATCH] for start in range(0, len(good), _DELETE_BATCH)]
        answers = dict(refused)
        single = [key for key in every if key in etags and key not in refused]
        alone = self._side_by_side(partial(delete_one, self, etags), single)
        answers |= {key: failed for key, failed in zip(single, alone, strict=True) if failed is not None}
        for batch, failed in zip(batches, self._side_by_side(self._delete_batch, batches), strict=True):
            if failed is not None:
                answers |= dict.fromkeys(batch, failed)
        return [answers.get(key) for key in every]

    def _delete_batch(self, keys: Sequence[str]) -> None:
        with self._errors.mapped(keys[0]):
            obstore.delete(self._patient, keys)

    # --- for browsers

    def put_typed(self, key: str, data: bytes, content_type: str, headers: Mapping[str, str] | None = None) -> str:
        check_key(key)
        attributes: Any = {"Cache-Control": "no-cache", **(headers or {}), "Content-Type": content_type}
        with self._errors.mapped(key):  # in one piece: then the etag of many servers is the MD5 of the content
            return str(obstore.put(self._patient, key, data, attributes=attributes, use_multipart=False)["e_tag"])

    def signed_link(self, key: str, valid: timedelta) -> str:
        check_key(key)
        with self._errors.mapped(key):
            return str(obstore.sign(self._patient, "GET", key, valid))

    def public_link(self, key: str) -> str:
        return self.signed_link(key, _SIGNED_FOR).partition("?")[0]

    def public_status(self, key: str) -> int:
        return self._send("HEAD", self.public_link(key), {}, header="date", timeout=_DATE_TIMEOUT)[0]

    # --- conditional writes

    def _put_conditionally(self, key: str, data: bytes, if_match: str | None) -> str:
        nonce = secrets.token_hex(12)
        return self._again(lambda: self._put_once(key, data, if_match, nonce), f"a write of {key}")

    def _put_once(self, key: str, data: bytes, if_match: str | None, nonce: str) -> str:
        mode: Any = "create" if if_match is None else {"e_tag": if_match}
        try:
            result = obstore.put(
                self._once, key, data, attributes={self._writer: nonce}, mode=mode, use_multipart=False
            )
        except REFUSED as error:
            won = self._settle(key, nonce, if_match)
            if won is not None:
                return won
            contested = Unavailable(address=self._address, reason=f"{key} was written to by several clients at once")
            raise _MayPass(contested, "nobody had won yet", logging.DEBUG) from error
        except FOREIGN_ERRORS as error:
            failure = self._errors.translate(error, key)
            if isinstance(failure, NotFound):
                raise Conflict(key=key) from error
            raise _again_or_never(failure) from error
        return str(result["e_tag"])

    def _settle(self, key: str, nonce: str, if_match: str | None) -> str | None:
        """After a refusal: our etag if we had won already, an error if we lost, None if nothing was decided."""
        try:
            there = self._look(key)
        except NotFound:
            if if_match is None:
                return None
            raise Conflict(key=key) from None
        attributes: Any = there.attributes
        if attributes.get(self._writer) == nonce:
            _LOG.debug("refused, but an earlier attempt had written %s already", key)
            return str(there.meta["e_tag"])
        if if_match is None:
            raise AlreadyExists(key=key)
        if there.meta["e_tag"] == if_match:
            return None
        raise Conflict(key=key)

    def _delete_conditionally(self, key: str, if_match: str) -> None:
        """The client library has no conditional delete: the request is signed by it and sent with the condition."""
        self._again(lambda: self._delete_once(key, if_match), f"the deletion of {key}")

    def _delete_once(self, key: str, if_match: str) -> None:
        with self._errors.mapped(key):
            url = obstore.sign(self._once, "DELETE", key, _SIGNED_FOR)
        status, reason = self._send("DELETE", url, {"If-Match": if_match})
        if status in (200, 204):
            return
        if status not in (404, 412):
            raise _again_or_never(self._errors.from_status(status, reason, key))
        self._errors.check_bucket(reason)
        if self._exists(key):
            raise Conflict(key=key)
        # Otherwise it is gone already, perhaps by an earlier attempt of ours whose answer was lost.

    def _again(self, action: Callable[[], T], what: str) -> T:
        """An action that may pass is tried again. What it asks on its way has its own patience, and is not."""

        def wait(failures: int, error: Exception) -> float:
            level = error.level if isinstance(error, _MayPass) else logging.WARNING
            _LOG.log(level, "%s is tried again: %s", what, error)
            return _BACKOFF.seconds(failures, self._random)

        try:
            return call_again(action, retryable=_may_pass, attempts=_TRIES, wait=wait)
        except _MayPass as last:
            raise last.failure from last.__cause__

    def _look(self, key: str) -> obstore.GetResult:
        with self._errors.mapped(key):
            return obstore.get(self._patient, key)

    def _exists(self, key: str) -> bool:
        try:
            self._look(key)
        except NotFound:
            return False
        return True

    # --- is it S3?

    def _check_server(self) -> None:
        """The client library takes any page that comes with status 200 for a listing without objects.

        So whoever says that there is nothing is asked for an object that cannot be there. S3 answers `NoSuchKey`; the
        log-in page of a network, and a server for something else, answer otherwise. One question a while is enough.
        """
        if self._proved_at is not None and elapsed() - self._proved_at < _PROOF_SECONDS:
            return
        try:
            obstore.get(self._patient, f"{_NOWHERE}{secrets.token_hex(12)}")
        except FileNotFoundError as error:
            if self._no_such_key not in str(error):
                self._errors.check_bucket(str(error))
                reason = f"it does not say {self._no_such_key}"
                raise ForeignServer(address=self._address, reason=reason) from error
        except FOREIGN_ERRORS as error:
            raise self._errors.translate(error, _NOWHERE) from error
        else:
            raise ForeignServer(address=self._address, reason="it has an object of every name")
        self._proved_at = elapsed()

    # --- plumbing

    def _client(self, bucket: str, *, retry: Any, prefix: str, endpoint: str | None, **settings: Any) -> Client:
        options: Any = dict(CLIENT_TIMEOUTS, allow_http=bool(endpoint and endpoint.startswith("http://")))
        if endpoint:
            settings["endpoint"] = self._endpoint
        return Client(bucket, prefix=prefix or None, client_options=options, retry_config=retry, **settings)

    def _executor(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(_CONCURRENCY, thread_name_prefix="cocli-s3")
            return self._pool

    def _ask_time(self) -> str:
        return self._again(self._ask_time_once, "the question for the server's time")

    def _ask_time_once(self) -> str:
        # Any answer carries the server's date, a refusal as well: so nothing has to be signed.
        status, text = self._send("HEAD", f"{self._endpoint}/", {}, header="date", timeout=_DATE_TIMEOUT)
        if text and status:
            return text
        raise _MayPass(Unavailable(address=self._address, reason=text or "it does not tell the time"))

    def _send(
        self, method: str, url: str, headers: dict[str, str], *, header: str = "", timeout: float = 60
    ) -> tuple[int, str]:
        """The status and the body (or one header); status 0 stands for no answer, and the text says why."""
        import httpx2

        with self._lock:
            if self._http is None:
                # The library would log the whole signed address, and whoever reads the log could use it.
                logging.getLogger("httpx2").setLevel(logging.WARNING)
                # Without TLS there is no certificate to check, and it takes a while to read those that are trusted.
                self._http = httpx2.Client(verify=self._endpoint.startswith("https://"))
        try:
            response = self._http.request(method, url, headers=headers, timeout=httpx2.Timeout(timeout, connect=5))
        except httpx2.HTTPError as error:
            return 0, str(error) or type(error).__name__
        said = response.headers.get(header, "") if header else response.text
        return response.status_code, said


class _MayPass(Exception):
    """An attempt failed, and the next one may not. A race that nobody won yet is everyday life: it is no warning."""

    def __init__(self, failure: StoreError, said: str | None = None, level: int = logging.WARNING) -> None:
        super().__init__(said or failure.message)
        self.failure = failure
        self.level = level


def _may_pass(error: Exception) -> bool:
    return isinstance(error, _MayPass)


def _again_or_never(failure: StoreError) -> Exception:
    return _MayPass(failure) if failure.retryable else failure
