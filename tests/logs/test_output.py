"""Records on stderr: levels and formats as the environment says, one line a record."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest

from cocli import logs
from cocli.errors import ConfigError
from cocli.logs.output import pass_on, turn_off, turn_on

STORE = logs.get_logger("cocli.store.example")
QUEUE = logs.get_logger("cocli.queue.example")
HOSTILE = "Acme\x1b[2J\n2026-11-16T20:00:00.000Z ERROR cocli.store: forged"


@pytest.fixture(autouse=True)
def _off_afterwards() -> Iterator[None]:
    yield
    turn_off()


def on(**environ: str) -> io.StringIO:
    stream = io.StringIO()
    turn_on(environ, stream)
    return stream


def test_nothing_is_written_unless_somebody_asks() -> None:
    stream = on(COCLI_LOG_FORMAT="json")
    STORE.error("oh")
    assert not stream.getvalue()
    assert not STORE.isEnabledFor(logging.INFO)


def test_text_is_for_people() -> None:
    stream = on(COCLI_LOG="debug")
    with logs.bound(campaign="plumbers", queue="details", host="pi-3"):
        QUEUE.debug("claim won", extra={"attempt": 2, "reason": "a b"})
    time, _, rest = stream.getvalue().partition(" ")
    assert time.endswith("Z")
    assert len(time) == len("2026-11-16T20:00:00.123Z")
    assert rest == (
        'DEBUG cocli.queue.example: claim won campaign=plumbers queue=details host=pi-3 attempt=2 reason="a b"\n'
    )


def test_json_is_for_programs() -> None:
    stream = on(COCLI_LOG="info", COCLI_LOG_FORMAT="json")
    QUEUE.debug("not wanted")
    with logs.bound(campaign="plumbers", task="t1"):
        QUEUE.info("done in %.1f s", 2.04, extra={"attempt": 2})
    (line,) = stream.getvalue().splitlines()
    read = json.loads(line)
    assert read.pop("time").endswith("Z")
    assert read.pop("host")
    expected = {"level": "info", "logger": "cocli.queue.example", "message": "done in 2.0 s", "attempt": 2}
    assert read == expected | {"campaign": "plumbers", "queue": None, "task": "t1"}


def test_a_room_has_a_level_of_its_own() -> None:
    stream = on(COCLI_LOG="warning, queue=DEBUG")
    for logger in (STORE, QUEUE):
        logger.debug("debug of %s", logger.name)
        logger.warning("warning of %s", logger.name)
    said = [line.split(": ")[1].split(" host=")[0] for line in stream.getvalue().splitlines()]
    assert said == [
        "warning of cocli.store.example",
        "debug of cocli.queue.example",
        "warning of cocli.queue.example",
    ]
    turn_off()
    assert not QUEUE.isEnabledFor(logging.DEBUG)


@pytest.mark.parametrize("environ", [{"COCLI_LOG": "loud"}, {"COCLI_LOG": "info", "COCLI_LOG_FORMAT": "xml"}])
def test_what_is_not_known_is_refused(environ: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match=r'"(loud|xml)" is not one of'):
        on(**environ)


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_record_is_one_line_whatever_it_holds(form: str) -> None:
    stream = on(COCLI_LOG="info", COCLI_LOG_FORMAT=form)
    STORE.info("%s", HOSTILE, extra={"title": HOSTILE})
    assert stream.getvalue().count("\n") == 1
    assert stream.getvalue().rstrip("\n").isprintable()


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_traceback_is_masked_too(form: str) -> None:
    stream = on(COCLI_LOG="info", COCLI_LOG_FORMAT=form)
    try:
        raise ValueError("http://me:hunter2@nas \x1b[2J")  # noqa: TRY301
    except ValueError:
        STORE.exception("it broke")
    assert "ValueError" in stream.getvalue()
    assert "hunter2" not in stream.getvalue()
    assert "\x1b" not in stream.getvalue()
    if form == "json":
        assert "Traceback" in json.loads(stream.getvalue())["traceback"]


@pytest.mark.parametrize("form", ["text", "json"])
def test_records_of_another_process_are_passed_on_as_they_are(form: str) -> None:
    theirs = on(COCLI_LOG="info", COCLI_LOG_FORMAT=form)
    STORE.info("of a worker")
    line = theirs.getvalue().rstrip("\n")
    ours = on(COCLI_LOG="info", COCLI_LOG_FORMAT=form)
    assert pass_on(line)
    assert not pass_on("error: a complaint")
    assert ours.getvalue() == f"{line}\n"
    turn_off()
    assert not pass_on(line), "then it is a complaint"
