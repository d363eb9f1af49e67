"""Bad situations: full disks, closed streams, servers that hang, files that are no files. Clear words, nothing lost."""

from __future__ import annotations

import errno
import os
import resource
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

COCLI = (sys.executable, "-m", "cocli")


# --- streams ---------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
@pytest.mark.parametrize("words", [("--help",), ("campaign", "list", "--json")])
def test_output_onto_a_full_disk_is_an_error_in_our_words(plumbers: Any, words: tuple[str, ...]) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*COCLI, *words], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == ExitCode.FAILURE
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
    assert result.code == ExitCode.FAILURE
    assert "The cache" in result.err
    assert "COCLI_CACHE_HOME" in result.err


# --- interruption ----------------------------------------------------------------------------------------------------


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
