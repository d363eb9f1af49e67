"""`python -m cocli.demo.town`, as a person starts it."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import ProxyHandler, Request, build_opener


def test_serve_prints_the_addresses_and_ends_on_a_signal() -> None:
    command = [sys.executable, "-m", "cocli.demo.town", "serve", "--seed", "1", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        lines = ""
        for line in process.stdout:
            lines += line
            if "Ctrl-C" in line:
                break
        opener = build_opener(ProxyHandler({}))
        maps = re.search(r"http://\S+/maps/search/\S+", lines)
        example = re.search(r"curl -H 'Host: (\S+)' (\S+)", lines)
        assert maps is not None
        assert example is not None
        with opener.open(maps[0]) as answer:
            assert b'role="feed"' in answer.read()
        with opener.open(Request(example[2], headers={"Host": example[1]})) as answer:
            assert b"Welcome to" in answer.read()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 0
    finally:
        process.kill()
        process.communicate()


def test_write_makes_the_files_of_a_town(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "cocli.demo.town", "write", str(tmp_path / "town"), "--seed", "5"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    assert "rows" in done.stdout
    assert {path.name for path in (tmp_path / "town").iterdir()} == {"places.parquet", "truth.json"}
