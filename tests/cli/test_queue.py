"""`cocli queue`, as a person uses it: words in, an exit code and two streams out, on a real queue in a folder."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cocli.models.completion import Blocked, Empty, Failed, Ok
from cocli.models.task import TaskError
from cocli.queue.base import NewTask
from cocli.queue.leased.queue import LeasedQueue
from cocli.store import Store, open_store
from cocli.store.wrapper import WrappedStore

ESCAPE = "\x1b]0;owned\x07\u202e"


class _AnHourAgo(WrappedStore):
    def now(self) -> datetime:
        return super().now() - timedelta(hours=1)


@pytest.fixture
def store(home: Path) -> Store:
    return open_store(str(home / "data"))


@pytest.fixture
def queue(store: Store) -> LeasedQueue:
    """What a worker on this machine would use."""
    return LeasedQueue(store, "plumbers", "gm-list", worker="pi-1")


@pytest.fixture
def silent(store: Store) -> LeasedQueue:
    """A worker that claimed an hour ago and has fallen silent."""
    return LeasedQueue(_AnHourAgo(store), "plumbers", "gm-list", worker="pi-2")


@pytest.fixture
def q(plumbers: Any) -> Callable[..., Any]:
    """`cocli queue VERB …` for the campaign; with a JSON document where it is asked for."""

    def run(verb: str, *words: str, stdin: bytes = b"") -> Any:
        return plumbers("queue", verb, *words, "-c", "plumbers", stdin=stdin)

    return run


def put(queue: LeasedQueue, *ids: str) -> None:
    queue.put_many(NewTask(task_id, {"phrase": f"plumber {task_id}"}) for task_id in ids)


def everything(store: Store) -> dict[str, bytes]:
    """Tasks and what became of them, without what is kept about how many there are."""
    listed = store.list("campaigns/plumbers/queues/")
    return {info.key: store.get(info.key).data for info in listed if "/count/" not in info.key}


def rows(result: Any) -> dict[str, dict[str, Any]]:
    assert result.code == 0, result.err
    return {row["task_id"]: row for row in result.json["tasks"]}


def error_of(retryable: bool) -> Failed:
    return Failed(error=TaskError(code="timeout", message="no answer", retryable=retryable))


def worked(queue: LeasedQueue, silent: LeasedQueue) -> None:
    """One task of every kind."""
    put(queue, "done")
    queue.ack(queue.claim(), Ok(count=3))  # type: ignore[arg-type]
    put(queue, "empty")
    queue.ack(queue.claim(), Empty(evidence="end of list"))  # type: ignore[arg-type]
    put(queue, "blocked")
    queue.ack(queue.claim(), Blocked(reason="captcha"))  # type: ignore[arg-type]
    put(queue, "failed")
    queue.ack(queue.claim(), error_of(retryable=False))  # type: ignore[arg-type]
    put(queue, "delayed")
    queue.ack(queue.claim(), error_of(retryable=True))  # type: ignore[arg-type]
    put(queue, "expired")
    assert silent.claim()
    put(queue, "leased")
    while (claim := queue.claim()) and claim.task.task_id != "leased":
        queue.release(claim)
    put(queue, "waiting")
    queue.close()
    silent.close()


# --- status


def test_status_counts_every_queue(q: Any, plumbers: Any, queue: LeasedQueue, silent: LeasedQueue) -> None:
    put(queue, "a", "b", "c")
    queue.ack(queue.claim(), Ok())  # type: ignore[arg-type]
    queue.ack(queue.claim(), Blocked(reason="captcha"))  # type: ignore[arg-type]
    assert queue.claim()
    queue.close()
    LeasedQueue(queue._store, "plumbers", "odd-jobs").put(NewTask("x"))
    document = plumbers("queue", "status", "plumbers", "--json").json
    assert document["campaign"] == "plumbers"
    assert [queue["queue"] for queue in document["queues"]] == ["gm-list", "gm-details", "enrichment", "odd-jobs"]
    first = document["queues"][0]
    assert first["oldest"].endswith("Z")
    del first["oldest"]
    assert first == {
        "queue": "gm-list", "pending": 1, "leased": 1, "expired": 0, "completed": 1, "sidelined": {"blocked": 1},
        "completed_recently": 1, "recent_seconds": 900.0, "rate_per_minute": pytest.approx(1 / 15),
        "minutes_left": pytest.approx(15), "as_of": None, "problem": None,
    }  # fmt: skip
    text = q("status")
    assert "blocked 1" in text.out
    assert "15 min" in text.out
    assert "hint: cocli queue ls QUEUE --state sideline" in text.err
    one = q("status", "--queue", "odd-jobs", "--json").json["queues"]
    assert [(row["queue"], row["pending"]) for row in one] == [("odd-jobs", 1)]


def test_status_knows_queues_that_only_workers_are_configured_for(q: Any, plumbers: Any) -> None:
    plumbers("campaign", "edit", "plumbers", "--set", "workers.pi.crawl=2")
    assert "crawl" in [queue["queue"] for queue in q("status", "--json").json["queues"]]


def test_one_queue_that_cannot_be_counted_does_not_hide_the_others(q: Any, store: Store, queue: LeasedQueue) -> None:
    put(queue, "a")
    store.put("campaigns/plumbers/queues/enrichment/sideline/notes.txt", b"mine")
    result = q("status", "--json")
    assert result.code == 0
    queues = {queue["queue"]: queue for queue in result.json["queues"]}
    assert queues["gm-list"]["pending"] == 1
    if queues["enrichment"]["pending"] is None:
        assert "notes.txt" in queues["enrichment"]["problem"]


def test_watch_needs_a_terminal(q: Any) -> None:
    assert q("status", "--watch", "1").code == 2


def test_watch_shows_it_again_until_it_is_interrupted(
    plumbers: Any, queue: LeasedQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(queue, "a")
    monkeypatch.setenv("COLUMNS", "80")
    master, slave = pty.openpty()
    words = ["queue", "status", "plumbers", "--watch", "1"]
    process = subprocess.Popen([sys.executable, "-m", "cocli", *words], stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    screen = b""
    while screen.count(b"Again in 1 s") < 2:
        screen += os.read(master, 65536)
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == 130
    os.close(master)
    assert screen.count(b"gm-details") == 2


# --- ls


def test_ls_shows_who_has_what(q: Any, queue: LeasedQueue, silent: LeasedQueue) -> None:
    worked(queue, silent)
    pending = rows(q("ls", "gm-list", "--json"))
    assert {task_id: row["state"] for task_id, row in pending.items()} == {
        "delayed": "delayed", "expired": "expired", "leased": "leased", "waiting": "waiting",
    }  # fmt: skip
    assert pending["leased"]["worker"] == "pi-1"
    assert pending["expired"]["worker"] == "pi-2"
    assert pending["delayed"]["detail"] == "timeout: no answer"
    assert pending["waiting"]["payload"] == {"phrase": "plumber waiting"}
    assert set(rows(q("ls", "gm-list", "--state", "leased", "--json"))) == {"leased"}
    assert set(rows(q("ls", "gm-list", "--state", "expired", "--json"))) == {"expired"}
    completed = rows(q("ls", "gm-list", "--state", "completed", "--json"))
    assert {task_id: (row["verdict"], row["detail"]) for task_id, row in completed.items()} == {
        "done": ("ok", "3 records"), "empty": ("empty", "end of list"),
    }  # fmt: skip
    aside = rows(q("ls", "gm-list", "--state", "sideline", "--json"))
    assert {task_id: (row["category"], row["detail"]) for task_id, row in aside.items()} == {
        "blocked": ("blocked", "captcha"), "failed": ("failed", "timeout: no answer"),
    }  # fmt: skip
    assert set(rows(q("ls", "gm-list", "--category", "blocked", "--json"))) == {"blocked"}
    for state in ("pending", "leased", "expired", "completed", "sideline"):
        text = q("ls", "gm-list", "--state", state)
        assert (text.code, len(text.out.splitlines()) > 1) == (0, True)


def test_ls_stops_at_its_limit_and_says_so(q: Any, queue: LeasedQueue) -> None:
    put(queue, *(f"t{number}" for number in range(260)))
    short = q("ls", "gm-list", "--limit", "3", "--json").json
    assert (len(short["tasks"]), short["truncated"]) == (3, True)
    assert "there are more" in q("ls", "gm-list", "--limit", "3").err
    everything = q("ls", "gm-list", "--limit", "0", "--json").json
    assert (len(everything["tasks"]), everything["truncated"]) == (260, False)
    assert q("ls", "gm-list", "--limit", "260", "--json").json["truncated"] is False


def test_ls_of_nothing(q: Any) -> None:
    result = q("ls", "gm-details")
    assert (result.code, result.out) == (0, "")
    assert q("ls", "gm-details", "--json").json["tasks"] == []


def test_broken_files_are_shown_and_stop_nothing(q: Any, store: Store, queue: LeasedQueue) -> None:
    put(queue, "good", "bad-task", "bad-lease")
    store.put(queue._places.task("bad-task"), b'{"task_id": \x1b')
    store.put(queue._places.folder("bad-lease") + "lease.json", b"{}")
    store.put("campaigns/plumbers/queues/gm-list/completed/0/x.json", b"{")
    store.put("campaigns/plumbers/queues/gm-list/sideline/blocked/0/x/task.json", b"[]")
    pending = rows(q("ls", "gm-list", "--json"))
    assert {task_id: row["state"] for task_id, row in pending.items()} == {
        "good": "waiting", "bad-task": "malformed", "bad-lease": "malformed",
    }  # fmt: skip
    assert "not JSON" in pending["bad-task"]["detail"]
    for state in ("completed", "sideline"):
        (row,) = rows(q("ls", "gm-list", "--state", state, "--json")).values()
        assert row["state"] == "malformed"
    shown = q("show", "gm-list", "bad-task")
    assert shown.code == 0
    assert "not JSON" in shown.out
    assert q("show", "gm-list", "bad-lease", "--json").json["problem"]
    for verb in ("release", "sideline"):
        words = ("--reason", "x") if verb == "sideline" else ()
        refused = q(verb, "gm-list", "bad-lease", *words)
        assert refused.code == 8
        assert "malformed" in refused.err


def test_hostile_text_stays_on_its_line(q: Any, queue: LeasedQueue) -> None:
    queue.put(NewTask(f"id{ESCAPE}", {"name": ESCAPE, "lines": "a\nb"}))
    queue.put(NewTask("aside"))
    assert q("sideline", "gm-list", "aside", "--reason", ESCAPE).code == 0
    shown = [
        q("ls", "gm-list"),
        q("ls", "gm-list", "--json"),
        q("ls", "gm-list", "--state", "sideline"),
        q("show", "gm-list", f"id{ESCAPE}"),
        q("show", "gm-list", "aside"),
        q("release", "gm-list", f"id{ESCAPE}"),
        q("show", "gm-list", f"no{ESCAPE}"),
    ]
    for result in shown:
        assert not set("\x1b\x07\u202e") & set(result.out + result.err)


# --- show


def test_show_tells_all(q: Any, queue: LeasedQueue, silent: LeasedQueue) -> None:
    worked(queue, silent)
    waiting = q("show", "gm-list", "waiting", "--json").json
    assert set(waiting) == {
        "campaign", "queue", "task_id", "states", "task", "lease", "completion", "items", "sidelined", "problem",
    }  # fmt: skip
    assert (waiting["states"], waiting["task"]["payload"]) == (["pending"], {"phrase": "plumber waiting"})
    assert q("show", "gm-list", "leased", "--json").json["lease"]["worker"] == "pi-1"
    assert "its lease has expired" in q("show", "gm-list", "expired").out
    assert "waits after a failure" in q("show", "gm-list", "delayed").out
    assert "timeout: no answer" in q("show", "gm-list", "delayed").out
    done = q("show", "gm-list", "done")
    assert "completed" in done.out
    assert '"count": 3' in done.out
    blocked = q("show", "gm-list", "blocked")
    assert "captcha" in blocked.out
    assert "hint: cocli queue recover gm-list --id blocked -c plumbers" in blocked.err


def test_show_of_what_is_nowhere(q: Any) -> None:
    result = q("show", "gm-list", "nope")
    assert result.code == 4
    assert "hint: " in result.err
    assert q("show", "gm-list", "nope", "--json").error["code"] == "not_found"


# --- put


def test_put_says_what_became_of_it(q: Any, queue: LeasedQueue) -> None:
    assert q("put", "gm-list", "a", "--payload", '{"n": 1}').out == "queued\n"
    assert q("put", "gm-list", "a").out == "already_pending\n"
    claim = queue.claim()
    assert claim is not None
    assert claim.task.payload == {"n": 1}
    queue.ack(claim, Ok())
    queue.close()
    assert q("put", "gm-list", "a").out == "already_completed\n"
    put(queue, "b")
    q("sideline", "gm-list", "b", "--reason", "x")
    again = q("put", "gm-list", "b", "--json").json
    assert again["counts"] == {"queued": 0, "already_pending": 0, "already_completed": 0, "already_sidelined": 1}
    assert (again["task_id"], again["rejected"]) == ("b", [])


LINES = b"""\
{"task_id": "a", "payload": {"n": 1}}

nonsense
{"task_id": ""}
{"payload": {}}
{"task_id": "b", "payload": [1]}
{"task_id": "c", "extra": 1}
{"task_id": "d", "payload": {"n": NaN}}
{"task_id": "\\ud800"}
{"task_id": 5}
[]
{"task_id": "e"}
\xff
{"task_id": "a"}
"""


@pytest.mark.parametrize("padding", [0, 50], ids=["few", "many"])
def test_wrong_lines_are_named_and_the_others_are_put(q: Any, store: Store, home: Path, padding: int) -> None:
    more = b"".join(b'{"task_id": "p%d"}\n' % number for number in range(padding))
    (home / "tasks.jsonl").write_bytes(LINES + more)
    dry = q("put", "gm-list", "--file", str(home / "tasks.jsonl"), "--dry-run", "--json")
    assert (dry.code, dry.json["counts"]) == (8, {"would_put": 3 + padding})
    assert everything(store) == {}
    result = q("put", "gm-list", "--file", str(home / "tasks.jsonl"), "--json")
    assert result.code == 8
    assert [bad["line"] for bad in result.json["rejected"]] == [3, 4, 5, 6, 7, 8, 9, 10, 11, 13]
    assert all(bad["reason"] for bad in result.json["rejected"])
    assert result.json["counts"]["queued"] == 2 + padding
    assert result.json["counts"]["already_pending"] == 1
    assert len(everything(store)) == 2 + padding


def test_put_from_stdin_in_words(q: Any) -> None:
    result = q("put", "gm-list", "--file", "-", stdin=b'{"task_id": "a"}\nnonsense\n')
    assert result.code == 8
    assert result.out == "queued 1\n"
    assert "line 2: not JSON" in result.err
    assert q("put", "gm-list", "--file", "-", "--quiet", stdin=b"[]\n").err == "line 1: expected a JSON object\n"
    assert q("put", "gm-list", "--file", "-", stdin=b"").code == 0


@pytest.mark.parametrize(
    "words",
    [
        ("gm-list",),
        ("gm-list", "a", "--file", "-"),
        ("gm-list", "--file", "-", "--payload", "{}"),
        ("gm-list", "a", "--payload", "[1]"),
        ("gm-list", "a", "--payload", "{"),
        ("gm-list", "", "--payload", "{}"),
        ("gm-list", "--file", "nowhere.jsonl"),
        ("gm-lists", "a"),
        ("Not A Queue", "a", "--create"),
    ],
)
def test_a_put_that_makes_no_sense(q: Any, store: Store, words: tuple[str, ...]) -> None:
    result = q("put", *words)
    assert (result.code, result.out) == (2, "")
    assert everything(store) == {}


def test_a_new_queue_is_made_on_purpose(q: Any) -> None:
    assert q("put", "crawl", "a").code == 2
    assert q("put", "crawl", "a", "--create").code == 0
    assert q("put", "crawl", "b").code == 0


# --- release, sideline


def test_release_frees_what_is_stuck(q: Any, queue: LeasedQueue, silent: LeasedQueue) -> None:
    put(queue, "a")
    assert q("release", "gm-list", "a").out == "already_free\n"
    lost = silent.claim()
    assert lost is not None
    result = q("release", "gm-list", "a", "--json").json
    assert (result["status"], result["worker"], result["token"], result["attempt"]) == ("released", "pi-2", 1, 1)
    assert q("release", "gm-list", "a").out == "already_free\n"
    claim = queue.claim()
    assert claim is not None
    assert (claim.token, claim.attempt) == (2, 2)


def test_release_of_a_busy_worker_needs_force(q: Any, store: Store, queue: LeasedQueue) -> None:
    put(queue, "a")
    assert queue.claim()
    before = everything(store)
    refused = q("release", "gm-list", "a")
    assert refused.code != 0
    assert "pi-1 works on a" in refused.err
    assert "--force" in refused.err
    assert everything(store) == before
    assert q("release", "gm-list", "a", "--force").out == "released\n"
    again = LeasedQueue(store, "plumbers", "gm-list").claim()
    assert again is not None
    assert (again.token, again.attempt) == (2, 1)


def test_force_ends_the_wait_after_a_failure(q: Any, queue: LeasedQueue) -> None:
    put(queue, "a")
    queue.ack(queue.claim(), error_of(retryable=True))  # type: ignore[arg-type]
    waits = q("release", "gm-list", "a")
    assert waits.out == "already_free\n"
    assert "waits until" in waits.err
    assert q("release", "gm-list", "a", "--force").out == "released\n"
    claim = queue.claim()
    assert claim is not None
    assert claim.attempt == 2


def test_sideline_and_back(q: Any, store: Store, queue: LeasedQueue) -> None:
    put(queue, "a")
    result = q("sideline", "gm-list", "a", "--reason", "closed for good")
    assert result.out == "sidelined\n"
    assert "hint: cocli queue recover gm-list --id a -c plumbers" in result.err
    assert [key.split("/")[4:6] for key in everything(store)] == [["sideline", "manual"]]
    assert q("sideline", "gm-list", "a", "--reason", "x", "--json").json["status"] == "already_sidelined"
    assert q("release", "gm-list", "a").out == "already_sidelined\n"
    assert "closed for good" in q("show", "gm-list", "a").out
    assert q("recover", "gm-list", "--id", "a").code == 0
    assert q("show", "gm-list", "a", "--json").json["states"] == ["pending"]


def test_sideline_of_what_a_worker_holds_needs_force(q: Any, store: Store, queue: LeasedQueue) -> None:
    put(queue, "a")
    assert queue.claim()
    before = everything(store)
    assert q("sideline", "gm-list", "a", "--reason", "x").code != 0
    assert everything(store) == before
    forced = q("sideline", "gm-list", "a", "--reason", "x", "--force", "--json").json
    assert (forced["status"], forced["worker"]) == ("sidelined", "pi-1")


@pytest.mark.parametrize("words", [("release",), ("sideline", "--reason", "x")])
def test_what_is_nowhere_or_done_cannot_be_looked_after(q: Any, queue: LeasedQueue, words: tuple[str, ...]) -> None:
    verb, *rest = words
    assert q(verb, "gm-list", "nope", *rest).code == 4
    put(queue, "a")
    queue.ack(queue.claim(), Ok())  # type: ignore[arg-type]
    queue.close()
    assert q(verb, "gm-list", "a", *rest).out == "already_completed\n"


def test_a_reason_is_not_empty(q: Any) -> None:
    assert q("sideline", "gm-list", "a", "--reason", " ").code == 2
    assert q("sideline", "gm-list", "a").code == 2


# --- recover


@pytest.fixture
def aside(queue: LeasedQueue) -> LeasedQueue:
    """Five tasks set aside: b0, b1, b2 blocked, f0, f1 failed."""
    for name, verdict in (("b", Blocked(reason="captcha")), ("f", error_of(retryable=False))):
        put(queue, *(f"{name}{number}" for number in range(3 if name == "b" else 2)))
        while claim := queue.claim():
            queue.ack(claim, verdict)
    queue.close()
    return queue


@pytest.mark.parametrize(
    ("words", "stdin", "expected"),
    [
        (("--all",), b"", {"b0", "b1", "b2", "f0", "f1"}),
        (("--category", "blocked"), b"", {"b0", "b1", "b2"}),
        (("--id", "b0", "--id", "f1"), b"", {"b0", "f1"}),
        (("--category", "manual"), b"", set()),
        (("--file", "-"), b'b1\n\n{"task_id": "f0", "state": "sidelined"}\n', {"b1", "f0"}),
        (("--file", "-", "--id", "b2"), b"f0\n", {"b2", "f0"}),
    ],
)
def test_recover_by(
    q: Any, store: Store, aside: LeasedQueue, words: tuple[str, ...], stdin: bytes, expected: set[str]
) -> None:
    before = everything(store)
    dry = q("recover", "gm-list", *words, "--dry-run", "--json", stdin=stdin)
    assert {task["task_id"]: task["outcome"] for task in dry.json["tasks"]} == dict.fromkeys(expected, "would_recover")
    assert everything(store) == before
    result = q("recover", "gm-list", *words, "--json", stdin=stdin)
    assert result.code == 0, result.err
    assert {task["task_id"]: task["outcome"] for task in result.json["tasks"]} == dict.fromkeys(expected, "recovered")
    assert result.json["counts"] == ({"recovered": len(expected)} if expected else {})
    assert aside.stats().pending == len(expected)


def test_recover_tells_what_it_did(q: Any, aside: LeasedQueue) -> None:
    result = q("recover", "gm-list", "--id", "b0", "--id", "nope")
    assert result.code == 4
    assert "recovered" in result.out
    assert "not_found" in result.out
    assert "2 tasks: not_found 1, recovered 1." in result.err
    assert "hint: cocli queue status plumbers --queue gm-list" in result.err
    claim = aside.claim()
    assert claim is not None
    assert (claim.task.task_id, claim.attempt) == ("b0", 1)


@pytest.mark.parametrize("words", [(), ("--all", "--id", "b0"), ("--category", "bloked"), ("--file", "nowhere")])
def test_recover_wants_a_selection(q: Any, store: Store, aside: LeasedQueue, words: tuple[str, ...]) -> None:
    before = everything(store)
    result = q("recover", "gm-list", *words)
    assert result.code == 2
    assert everything(store) == before


def test_recover_with_a_wrong_line(q: Any, aside: LeasedQueue) -> None:
    result = q("recover", "gm-list", "--file", "-", "--json", stdin=b'b0\n{"id": 1}\n\xff\n')
    assert result.code == 8
    assert [bad["line"] for bad in result.json["rejected"]] == [2, 3]
    assert result.json["counts"] == {"recovered": 1}


# --- purge


def test_purge_counts_asks_and_removes(q: Any, store: Store, aside: LeasedQueue) -> None:
    put(aside, "done", "waiting")
    claim = aside.claim()
    aside.ack(claim, Ok())  # type: ignore[arg-type]
    aside.close()
    before = everything(store)
    dry = q("purge", "gm-list", "--state", "completed", "--dry-run", "--json").json
    assert (dry["status"], dry["objects"], dry["counts"]) == ("would_remove", 1, {"completed": 1})
    assert q("purge", "gm-list", "--state", "completed").code == 2  # nobody can be asked
    assert q("purge", "gm-list", "--state", "sideline", "--older-than", "1h", "--yes", "--json").json["objects"] == 0
    assert everything(store) == before
    assert q("purge", "gm-list", "--state", "sideline", "--category", "failed", "--yes").out == "removed failed 2\n"
    removed = q("purge", "gm-list", "--state", "sideline", "--older-than", "0s", "--yes", "--json").json
    assert (removed["status"], removed["counts"]) == ("removed", {"blocked": 3})
    assert q("purge", "gm-list", "--state", "completed", "--yes").code == 0
    assert len(everything(store)) == 1
    assert aside.stats().pending == 1
    assert q("purge", "gm-list", "--state", "completed").code == 0  # nothing to ask about


def test_purge_keeps_what_is_still_needed(q: Any, store: Store, queue: LeasedQueue) -> None:
    """A worker died after the completion and before the clean-up: without the completion the task would run again."""
    put(queue, "a")
    claim = queue.claim()
    assert claim is not None
    queue.ack(claim, Ok())  # the clean-up is still to come
    result = q("purge", "gm-list", "--state", "completed", "--yes", "--json").json
    assert (result["objects"], result["kept"]) == (0, 1)
    queue.close()
    assert q("purge", "gm-list", "--state", "completed", "--yes", "--json").json["objects"] == 1


def test_purge_leaves_strangers_alone(q: Any, store: Store) -> None:
    key = "campaigns/plumbers/queues/gm-list/completed/notes.txt"
    store.put(key, b"mine")
    result = q("purge", "gm-list", "--state", "completed", "--yes")
    assert "Left alone 1 file" in result.err
    assert set(everything(store)) == {key}


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--state", "pending"),
        ("--state", "completed", "--category", "blocked"),
        ("--state", "sideline", "--category", "bloked"),
        ("--state", "completed", "--older-than", "soon"),
        ("--state", "completed", "--older-than", "-1d"),
    ],
)
def test_a_purge_that_makes_no_sense(q: Any, words: tuple[str, ...]) -> None:
    assert q("purge", "gm-list", *words, "--yes").code == 2


def test_purge_asks_on_a_terminal(plumbers: Any, store: Store, queue: LeasedQueue, on_terminal: Any) -> None:
    put(queue, "a")
    queue.ack(queue.claim(), Ok())  # type: ignore[arg-type]
    queue.close()
    words = ("queue", "purge", "gm-list", "--state", "completed", "-c", "plumbers")
    assert on_terminal(*words, typed=[("[y/N]", "n\n")]).code == 1
    assert len(everything(store)) == 1
    assert on_terminal(*words, typed=[("[y/N]", "y\n")]).code == 0
    assert everything(store) == {}


# --- campaigns, queues, providers

EVERY = [
    ("ls", "gm-list"),
    ("show", "gm-list", "a"),
    ("put", "gm-list", "a"),
    ("release", "gm-list", "a"),
    ("recover", "gm-list", "--all"),
    ("sideline", "gm-list", "a", "--reason", "x"),
    ("purge", "gm-list", "--state", "completed", "--yes"),
]


@pytest.mark.parametrize("words", [("status",), *EVERY], ids=lambda words: words[0])
def test_an_unknown_campaign_lists_the_known_ones(plumbers: Any, words: tuple[str, ...]) -> None:
    unknown = plumbers("queue", *words, "-c", "plumber")
    assert unknown.code == 4
    assert "Known campaigns: plumbers." in unknown.err
    assert "Did you mean: plumbers" in unknown.err
    assert plumbers("campaign", "new", "roofers").code == 0
    none = plumbers("queue", *words)
    assert none.code == 2
    assert "Known campaigns: plumbers, roofers." in none.err
    assert "CAMPAIGN_NAME" in none.err


@pytest.mark.parametrize("words", EVERY, ids=lambda words: words[0])
def test_an_unknown_queue_lists_the_known_ones(q: Any, words: tuple[str, ...]) -> None:
    verb, _, *rest = words
    result = q(verb, "gm-detials", *rest)
    assert result.code == 2
    assert "Known queues: gm-list, gm-details, enrichment." in result.err
    assert "Did you mean: gm-details" in result.err
    assert q(verb, "gm-detials", *rest, "--json").error["code"] == "usage"


def test_the_campaign_may_come_from_the_environment(plumbers: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAMPAIGN_NAME", "plumbers")
    assert plumbers("queue", "put", "gm-list", "a").code == 0
    assert plumbers("queue", "status", "--json").json["queues"][0]["pending"] == 1


def test_a_provider_that_is_not_usable_is_never_replaced_by_another(q: Any, plumbers: Any, store: Store) -> None:
    listing, opening = ("ls", "release"), ("show", "put", "recover")
    for provider, verbs in (("sqs", listing), ("s3", opening)):  # SQS cannot list, and the store here is a folder
        plumbers("campaign", "edit", "plumbers", "--set", f"queue.provider={provider}")
        for verb, *words in EVERY[:5]:
            if verb not in verbs:
                continue
            result = q(verb, *words, "--json")
            assert result.code == 3
            assert result.error["code"] == "queue_unusable"
    status = q("status", "--json")
    assert status.code == 0
    assert all("s3 cannot be used" in queue["problem"] for queue in status.json["queues"])
    assert everything(store) == {}


@pytest.mark.parametrize("words", [("status",), *EVERY], ids=lambda words: words[0])
def test_json_is_one_ascii_document(q: Any, queue: LeasedQueue, words: tuple[str, ...]) -> None:
    queue.put(NewTask("a", {"name": "Zoë"}))
    verb, *rest = words
    result = q(verb, *rest, "--json")
    assert (result.code, result.err) == (0, "")
    assert result.out.isascii()
    assert json.loads(result.out)["campaign"] == "plumbers"


def test_an_id_that_is_too_long_for_a_key(q: Any, queue: LeasedQueue) -> None:
    long = "https://example.com/" + "x" * 500
    assert q("put", "gm-list", long).out == "queued\n"
    assert q("show", "gm-list", long, "--json").json["task_id"] == long
    assert set(rows(q("ls", "gm-list", "--json"))) == {long}
    assert q("sideline", "gm-list", long, "--reason", "x").out == "sidelined\n"
    assert set(rows(q("ls", "gm-list", "--state", "sideline", "--json"))) == {long}
    assert q("purge", "gm-list", "--state", "sideline", "--yes", "--json").json["objects"] == 1
