"""Bad situations: full disks, closed streams, servers that hang, files that are no files. Clear words, nothing lost."""

from __future__ import annotations

import errno
import json
import os
import resource
import shlex
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from cocli.app.whole_file import whole_file
from cocli.cli.kit.errors import from_system
from cocli.errors import FileUnusable, UsageError
from cocli.exit_codes import ExitCode
from cocli.models.work import EnrichmentWork

COCLI = (sys.executable, "-m", "cocli")


# --- streams ---------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
@pytest.mark.parametrize("words", [("--help",), ("campaign", "list", "--json")])
def test_output_onto_a_full_disk_is_an_error_in_our_words(plumbers: Any, words: tuple[str, ...]) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*COCLI, *words], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == ExitCode.UNAVAILABLE
    assert "The output cannot be written: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


def test_closed_streams_are_no_mistake(plumbers: Any) -> None:
    script = '"$0" -m cocli store put k - <&- && "$0" -m cocli campaign list >&- && "$0" -m cocli store rm k -y 2>&-'
    done = subprocess.run(["bash", "-c", script, sys.executable], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "error" not in done.stderr


# --- files -----------------------------------------------------------------------------------------------------------


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe, read = tmp_path / "pipe", list[bytes]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    with whole_file(str(pipe)) as file:
        file.write(b"all of it")
    reader.join(30)
    assert read == [b"all of it"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
@pytest.mark.parametrize(
    "words",
    [
        ("export", "plumbers", "--out"),
        ("report", "plumbers", "--html"),
        ("campaign", "kml", "plumbers", "--out"),
        ("campaign", "coverage", "plumbers", "--geojson"),
        ("campaign", "coverage", "plumbers", "--kml"),
        ("campaign", "retry", "plumbers", "--without-email", "--csv"),
        ("index", "query", "from prospects", "-c", "plumbers", "--parquet"),
    ],
)
def test_every_output_is_written_to_a_device_and_never_replaces_it(
    plumbers: Any, write_prospects: Any, home: Path, words: tuple[str, ...]
) -> None:
    write_prospects("acme.example", lat=39.8, lon=-89.65)
    assert plumbers("campaign", "plan", "plumbers").code == 0
    assert plumbers("index", "compact", "-c", "plumbers").code == 0
    full = plumbers(*words, "/dev/full")
    assert full.code == 6, full.err
    assert "cannot be written: No space left on device" in full.err
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)
    (home / "target").write_bytes(b"old")
    (home / "link").symlink_to("target")
    assert plumbers(*words, str(home / "link")).code == 0
    assert (home / "link").is_symlink()
    assert (home / "target").read_bytes() not in (b"old", b"")
    assert plumbers(*words, "/dev/null").code == 0
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert not [path.name for path in home.iterdir() if "tmp-" in path.name]


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1"])
def test_stdout_by_its_name(plumbers: Any, write_prospects: Any, home: Path, name: str) -> None:
    write_prospects("acme.example")
    words = [*COCLI, "export", "plumbers", "--out", name, "--format", "csv", "-q"]
    piped = subprocess.run(words, capture_output=True, check=True)
    assert b"acme.example" in piped.stdout
    with open(home / "both.txt", "wb") as both:
        both.write(b"before\n")
        both.flush()
        subprocess.run(words, stdout=both, check=True)
    assert (home / "both.txt").read_bytes().startswith(b"before\n")
    assert b"acme.example" in (home / "both.txt").read_bytes()


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "old.csv").write_bytes(b"old")
    (tmp_path / "latest.csv").symlink_to("old.csv")
    with whole_file(str(tmp_path / "latest.csv")) as file:
        file.write(b"new")
    assert (tmp_path / "latest.csv").is_symlink()
    assert (tmp_path / "old.csv").read_bytes() == b"new"
    assert len(list(tmp_path.iterdir())) == 2


def test_what_cannot_be_written_leaves_the_earlier_file(tmp_path: Path) -> None:
    (tmp_path / "list.csv").write_bytes(b"old")
    with pytest.raises(FileUnusable, match="cannot be written: File too large"), _disk_with_room_for(3):
        _write(tmp_path / "list.csv", b"more than there is room for")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("list.csv", b"old")]
    with pytest.raises(UsageError, match="There is no folder") as refused, whole_file(f"{tmp_path}/new one/list.csv"):
        pass
    assert refused.value.hint == f"Create it with: mkdir -p '{tmp_path}/new one'"


@contextmanager
def _disk_with_room_for(size: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def _write(path: Path, data: bytes) -> None:
    with whole_file(str(path)) as file:
        file.write(data)


def test_only_what_the_system_refuses_is_no_mistake_of_ours() -> None:
    full = from_system(OSError(errno.ENOSPC, "No space left on device", "/data/x"))
    assert full is not None
    assert full.message == "/data/x cannot be written: No space left on device"
    closed = from_system(PermissionError(errno.EACCES, "Permission denied", "/data/x"))
    assert closed is not None
    assert closed.message == "/data/x cannot be used: Permission denied"
    assert from_system(OSError(errno.EBADF, "Bad file descriptor")) is None
    assert from_system(ValueError("x")) is None


def test_a_query_without_room_for_its_cache_says_so(plumbers: Any, write_prospects: Any, home: Path) -> None:
    write_prospects("acme.example")
    assert plumbers("index", "compact", "-c", "plumbers").code == 0
    shutil.rmtree(home / ".cache")
    with _disk_with_room_for(100):
        result = plumbers("index", "query", "from prospects", "-c", "plumbers")
    assert result.code == ExitCode.UNAVAILABLE
    assert "The cache" in result.err
    assert "File too large" in result.err
    assert "COCLI_CACHE_HOME" in result.err


@pytest.mark.parametrize(
    "words",
    [
        ("init",),
        ("config", "set", "fetch.rate", "2"),
        ("campaign", "new", "roofers"),
        ("campaign", "edit", "plumbers", "--set", "fetch.rate=2"),
        ("campaign", "plan", "plumbers"),
        ("campaign", "publish", "plumbers", "--to", "published"),
        ("company", "new", "Acme"),
        ("person", "new", "Jo Doe"),
        ("import", "leads.csv", "-c", "plumbers"),
        ("run", "leads.csv"),
        ("queue", "put", "enrichment", "acme.example", "-c", "plumbers"),
        ("remote", "send", "pause", "-c", "plumbers"),
        ("index", "compact", "-c", "plumbers"),
        ("documents", "save", "leads.csv", "--doc", "a", "-c", "plumbers"),
        ("documents", "token", "-c", "plumbers"),
        ("source", "add", "shops.json"),
        ("report", "plumbers"),
        ("report", "plumbers", "--out", "made"),
        ("export", "plumbers"),
        ("export", "plumbers", "--out", "list.xlsx"),
        ("export", "plumbers", "--out", "list.parquet"),
        ("store", "put", "k", "leads.csv"),
        ("sync", "push", "--store", "bucket"),
    ],
    ids=" ".join,
)
def test_a_full_disk_is_the_same_exit_code_everywhere(
    plumbers: Any, write_prospects: Any, home: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    write_prospects("acme.example", lat=39.8, lon=-89.65)
    monkeypatch.chdir(home)
    (home / "leads.csv").write_text("name,website\nAcme & Sons,https://acme.example\n")
    place = {"type": "node", "id": 1, "lat": 47.05, "lon": 8.45, "tags": {"name": "Shop", "shop": "farm"}}
    (home / "shops.json").write_text(json.dumps([place]))
    (home / "bucket").mkdir()
    with _disk_with_room_for(5):
        full = plumbers(*words)
    assert full.code == ExitCode.UNAVAILABLE, full.err
    assert "mistake in cocli" not in full.err


# --- interruption ----------------------------------------------------------------------------------------------------


@pytest.mark.skipif(os.getuid() != 0 or not shutil.which("unshare"), reason="only root makes a process number 1")
def test_sigterm_ends_the_first_process_of_a_container(home: Path) -> None:
    first = ("unshare", "--pid", "--fork", "--kill-child", *COCLI, "store", "put", "waits/for/its/input", "-")
    with subprocess.Popen(first, stdin=subprocess.PIPE) as container:
        ends = time.monotonic() + 60
        while container.poll() is None and time.monotonic() < ends:
            subprocess.run(["pkill", "--signal", "TERM", "--parent", str(container.pid)])
            time.sleep(0.3)
        container.kill()
    assert container.returncode == ExitCode.TERMINATED


def test_ctrl_c_twice_ends_a_request_that_hangs(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"s3://bucket?endpoint=http://127.0.0.1:{server.getsockname()[1]}"
        keys = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
        process = subprocess.Popen([*COCLI, "campaign", "list", "--store", url], env={**os.environ, **keys})
        server.settimeout(60)
        asked, _ = server.accept()  # it waits for an answer now
        started = time.monotonic()
        while process.poll() is None and time.monotonic() - started < 40:
            process.send_signal(signal.SIGINT)
            time.sleep(0.6)
        asked.close()
        assert process.wait(60) == ExitCode.INTERRUPTED
        assert time.monotonic() - started < 40


# --- numbers and names that cannot be meant --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ("campaign", "queue-mission", "plumbers", "--limit", "1" + "0" * 40),
        ("campaign", "plan", "plumbers", "--queue", "--limit", "1" + "0" * 40),
        ("index", "gc", "-c", "plumbers", "--grace-hours", "inf"),
        ("index", "gc", "-c", "plumbers", "--grace-hours", "nan"),
        ("index", "gc", "-c", "plumbers", "--keep-days", "1e300"),
        ("documents", "replay", "-c", "plumbers", "--graph", "os:system"),
        ("documents", "replay", "-c", "plumbers", "--graph", "builtins:print"),
    ],
)
def test_what_cannot_be_meant_is_a_wrong_command_line(plumbers: Any, words: tuple[str, ...]) -> None:
    assert plumbers("campaign", "plan", "plumbers").code == 0
    refused = plumbers(*words)
    assert refused.code == ExitCode.USAGE, refused.err
    assert "mistake in cocli" not in refused.err


def test_the_example_of_put_makes_a_task_that_can_be_done(plumbers: Any) -> None:
    line = next(line for line in plumbers("queue", "put", "--help").out.splitlines() if "--payload '" in line)
    words = shlex.split(line)
    work = EnrichmentWork.model_validate(json.loads(words[words.index("--payload") + 1]))
    assert work.domain == words[words.index("enrichment") + 1]
    assert plumbers(*words[1:]).code == 0
