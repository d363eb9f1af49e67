"""Loggers, the fields that their records carry, and what never gets into a record."""

from __future__ import annotations

import logging
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocli import logs
from cocli.logs import records

LOG = logs.get_logger("cocli.example")
HOSTILE = "Acme\x1b[2J\r\n2026-11-16T20:00:00.000Z ERROR cocli.store: forged\u2028\u202e"


class Kept(logging.Handler):
    """A handler as somebody else would write one: it knows nothing of ours."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)

    @property
    def last(self) -> dict[str, object]:
        return vars(self.records[-1])

    @property
    def text(self) -> str:
        return self.records[-1].getMessage()


@pytest.fixture
def kept() -> Iterator[Kept]:
    handler, package = Kept(), logging.getLogger("cocli")
    package.addHandler(handler)
    package.setLevel(logging.DEBUG)
    yield handler
    package.removeHandler(handler)
    package.setLevel(logging.NOTSET)


def test_records_carry_what_is_bound(kept: Kept) -> None:
    with logs.bound(campaign="plumbers", queue="details", host="pi-3"):
        with logs.bound(task="t1", queue=None):
            LOG.info("inside")
        inside = kept.last
        LOG.info("between")
    between = kept.last
    LOG.info("outside")
    assert [inside[name] for name in logs.FIELDS] == ["plumbers", "details", "t1", "pi-3"]
    assert [between[name] for name in logs.FIELDS] == ["plumbers", "details", None, "pi-3"]
    assert [kept.last[name] for name in logs.FIELDS] == [None, None, None, socket.gethostname()]


def test_what_a_record_says_itself_wins(kept: Kept) -> None:
    with logs.bound(campaign="plumbers", task="t1"):
        LOG.info("another", extra={"task": "t2", "attempt": 3})
    assert (kept.last["campaign"], kept.last["task"], kept.last["attempt"]) == ("plumbers", "t2", 3)


def test_a_thread_gets_what_is_bound_if_it_is_handed_over(kept: Kept) -> None:
    with logs.bound(campaign="plumbers"):
        for target in (LOG.info, logs.carried(LOG.info)):
            thread = threading.Thread(target=target, args=("from a thread",))
            thread.start()
            thread.join()
    assert [record.__dict__["campaign"] for record in kept.records] == [None, "plumbers"]


def test_a_logger_is_the_standard_one_and_names_its_caller(kept: Kept) -> None:
    assert logs.get_logger("cocli.example") is logging.getLogger("cocli.example")
    LOG.info("here")
    assert kept.last["funcName"] == "test_a_logger_is_the_standard_one_and_names_its_caller"


def test_secrets_are_masked_for_every_handler(kept: Kept) -> None:
    url = "s3://bucket/x?endpoint=http://me:hunter2@nas:8333&secret_key=hunter3"
    LOG.info("opened %s", url, extra={"address": url})
    assert "hunter" not in f"{kept.text} {kept.last}"
    assert "nas:8333" in kept.text
    LOG.info(f"opened {url}")  # noqa: G004  as nobody should write it
    assert "hunter" not in kept.text
    LOG.info("opened %(url)s", {"url": url})
    assert "hunter" not in kept.text
    LOG.info("%s", "x" * 990 + "http://me:hunter2" + "3" * 1000 + "@nas")
    assert "hunter" not in kept.text, "cut in the middle of a password"


def test_hostile_text_stays_one_harmless_line(kept: Kept) -> None:
    LOG.info("found %s", HOSTILE, extra={"title": HOSTILE})
    for text in (kept.text, str(kept.last["title"])):
        assert "Acme" in text
        assert text.isprintable()
    LOG.info("%s", "x" * 100_000)
    assert len(kept.text) == 1001


@given(st.text() | st.integers() | st.floats() | st.none() | st.binary() | st.lists(st.text()))
def test_any_value_can_be_logged(value: object) -> None:
    shown = records.harmless(value)
    assert shown is value or (
        isinstance(shown, str) and len(shown) < 10_000 and "\n" not in shown and "\x1b" not in shown
    )


def test_a_record_that_nobody_wants_is_not_put_together() -> None:
    class Costly:
        asked = 0

        def __str__(self) -> str:
            self.asked += 1
            return "x"

    completed: list[logging.LogRecord] = []

    def keep(record: logging.LogRecord) -> bool:
        completed.append(record)
        return True

    costly = Costly()
    logger = logs.get_logger("cocli.example.quiet")
    logger.addFilter(keep)
    for _ in range(100):
        logger.debug("%s", costly, extra={"field": costly})
    assert not costly.asked
    assert not completed


def test_a_program_that_uses_us_hears_nothing() -> None:
    code = "from cocli import logs; log = logs.get_logger('cocli.x'); log.error('oh'); log.warning('ah')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
