"""Counts on which websites extractors fail, for the alarm of `cocli cluster status`: per campaign and machine.

The processes of a machine share one object of the store. Nothing is written before the first failure; after that, what
was read is added now and then, so that failures are seen against all that was read.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import TYPE_CHECKING

from cocli import logs
from cocli.documents.reading.limits import TOO_COSTLY
from cocli.errors import AlreadyExists, Conflict, FormatError, NotFound, StoreError
from cocli.formats import json_records
from cocli.keys.paths import ExtractorQualityKey
from cocli.pipeline.websites.site.extractor_quality import SPAN, WINDOW, ExtractorQuality, FailureExample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from cocli.pipeline.websites.site.site import PageFailure, SiteReading
    from cocli.store.base import Store

_LOG = logs.get_logger(__name__)
_SOON_SECONDS = 10.0
"""Between two writes, however much fails."""
_TRIES = 20
_REASON_CHARS = 200


class FailureBook:
    """For one process. It may be called from any thread."""

    def __init__(
        self,
        store: Store,
        campaign: str,
        hostname: str,
        *,
        version: str,
        clock: Callable[[], datetime],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._key = str(ExtractorQualityKey(campaign, hostname))
        self._hostname = hostname
        self._version = version
        self._clock = clock
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._sites = 0
        self._failed: Counter[str] = Counter()
        self._examples: dict[str, FailureExample] = {}
        self._written_at: float | None = None
        self._failed_at: float | None = None
        """When something was last found to fail."""

    def add(self, reading: SiteReading) -> None:
        """Count a website that was read. Each extractor counts once, on however many of its pages it failed."""
        failures = {_name(failure): failure for failure in reading.failures}
        with self._lock:
            self._sites += 1 if reading.pages else 0
            self._failed.update(failures.keys())
            self._examples |= _examples(failures.items())
            if failures:
                self._failed_at = self._monotonic()
            if self._is_due():
                self._write()

    def flush(self) -> None:
        """Write down what was counted, where there is a failure to be seen against it."""
        with self._lock:
            if self._failed or (self._failed_at is not None and self._sites):
                self._write()

    def _is_due(self) -> bool:
        if self._failed_at is None:
            return False
        now = self._monotonic()
        if self._written_at is None or (self._failed and now - self._written_at >= _SOON_SECONDS):
            return True
        is_watched = now - self._failed_at < WINDOW.total_seconds()
        return is_watched and now - self._written_at >= SPAN.total_seconds()

    def _write(self) -> None:
        self._written_at = self._monotonic()
        try:
            record = self._added()
        except StoreError as error:  # it is added with the next website: counting costs none of them its records
            _LOG.warning("failures of extractors were not counted: %s", error.message)
            return
        self._sites = 0
        self._failed.clear()
        self._examples.clear()
        for alarm in record.alarms(record.updated_at):
            _LOG.error("an extractor fails too often: %s", alarm.message)

    def _added(self) -> ExtractorQuality:
        """Others of this machine do the same: the one who comes second looks again."""
        for _ in range(_TRIES):
            now = self._clock()
            known, etag = self._read(now)
            record = known.with_sites(self._sites, self._failed, self._examples, now)
            try:
                self._store.put(self._key, json_records.render(record), if_absent=etag is None, if_match=etag)
            except (Conflict, AlreadyExists):
                continue  # somebody else was faster: theirs counts as well
            return record
        raise Conflict(key=self._key, address=self._store.address, reason="others write it all the time")

    def _read(self, now: datetime) -> tuple[ExtractorQuality, str | None]:
        new = ExtractorQuality(hostname=self._hostname, version=self._version, updated_at=now)
        try:
            found = self._store.get(self._key)
        except NotFound:  # nothing failed here before
            return new, None
        try:
            known = json_records.read(ExtractorQuality, found.data, file=self._key)
        except FormatError:  # counts that nobody can read are begun anew
            return new, found.etag
        return known if known.version == self._version else new, found.etag


def _name(failure: PageFailure) -> str:
    return TOO_COSTLY if failure.reason.startswith(TOO_COSTLY) else failure.extractor


def _examples(failures: Iterable[tuple[str, PageFailure]]) -> dict[str, FailureExample]:
    return {
        name: FailureExample(document=failure.document, reason=failure.reason[:_REASON_CHARS])
        for name, failure in failures
    }
