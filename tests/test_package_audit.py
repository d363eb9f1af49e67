"""`make audit`: what is read from an index's pages, and what is told of it. Nobody is asked here."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path

from cocli.demo.ports import free_ports
from tests.kit.package_audit import (
    Locked,
    PackageFinding,
    ReleaseFile,
    findings,
    judged,
    locked_packages,
    release_files,
    told,
)

ROOT = Path(__file__).parents[1]
NOW = datetime(2026, 11, 17, tzinfo=UTC)
OLD, NEW = datetime(2021, 5, 16, tzinfo=UTC), datetime(2026, 9, 21, 10, 53, 58, tzinfo=UTC)

HTML = """<!DOCTYPE html><html><body><h1>Links for my-tool</h1>
<a href="../files/my_tool-1.0-py3-none-any.whl#sha256=00" data-upload-time="2021-05-16T00:00:00Z">1.0</a><br/>
<a href="https://index.example/my_tool-1.1.tar.gz" data-yanked="broken" data-upload-time="soon">1.1</a>
<a href="https://index.example/my_tool-1.2-py3-none-any.whl" data-upload-time="2026-09-21T10:53:58Z">1.2</a>
<a name="nothing">x</a></body></html>"""
JSON = json.dumps(
    {
        "files": [
            {"filename": "my_tool-1.0-py3-none-any.whl", "upload-time": "2021-05-16T00:00:00Z", "yanked": False},
            {"filename": "my_tool-1.1.tar.gz", "yanked": "broken"},
            {"filename": "my_tool-1.2-py3-none-any.whl", "upload-time": "2026-09-21T10:53:58Z"},
        ]
    }
)
FILES = [
    ReleaseFile("my_tool-1.0-py3-none-any.whl", OLD),
    ReleaseFile("my_tool-1.1.tar.gz", None, yanked=True),
    ReleaseFile("my_tool-1.2-py3-none-any.whl", NEW),
]


def test_both_forms_of_a_page_say_the_same() -> None:
    assert release_files("text/html; charset=UTF-8", HTML) == FILES
    assert release_files("application/vnd.pypi.simple.v1+json", JSON) == FILES


def test_names_and_versions_of_files() -> None:
    assert ReleaseFile("ruamel.yaml-0.18.1.tar.gz").version("ruamel-yaml") == "0.18.1"
    assert ReleaseFile("my_tool-1.2-py3-none-any.whl").version("my-tool") == "1.2"
    assert ReleaseFile("my_tool_extra-1.2.tar.gz").version("my-tool") is None
    assert ReleaseFile("my_tool-1.2.exe").version("my-tool") is None


def test_what_is_locked() -> None:
    text = (
        "a-b==1.0 ; python_version < '3.15' \\\n    --hash=sha256:00\nc.d==2.0.post1 \\\n    --hash=sha256:11\n# x==1\n"
    )
    assert locked_packages(text) == [Locked("a-b", "1.0"), Locked("c.d", "2.0.post1")]
    assert len(locked_packages((ROOT / "requirements" / "run.txt").read_text("utf-8"))) > 20


def test_what_is_abandoned_or_withdrawn_is_told() -> None:
    fresh = judged(Locked("my-tool", "1.0"), FILES)
    assert (fresh.latest, fresh.released_at, fresh.yanked) == ("1.2", NEW, False)
    withdrawn = judged(Locked("my-tool", "1.1"), FILES)
    old = judged(Locked("my-tool", "1.0"), FILES[:2])
    undated = judged(Locked("other", "1.0"), [ReleaseFile("other-1.0.tar.gz")])
    assert told([fresh, old], NOW, 24) == (
        [
            "2 packages asked for, 2 answered",
            "no release for 24 months: my-tool 1.0, the newest is 1.0 of 2021-05-16",
        ],
        0,
    )
    lines, code = told([withdrawn, undated, PackageFinding(Locked("x", "1"), problem="HTTPError")], NOW, 600)
    assert code == 1
    assert lines[1:] == [
        "withdrawn: my-tool 1.1, the newest is 1.2 of 2026-09-21",
        "not answered: x (HTTPError)",
        "no dates told: other",
    ]


def test_an_answer_that_is_no_page_hides_no_other_package() -> None:
    pages = {"a": ("application/vnd.pypi.simple.v1+json", "<html>"), "my-tool": ("text/html", HTML)}
    found = list(findings([Locked("a", "1"), Locked("my-tool", "1.0")], pages.__getitem__))
    assert [finding.problem for finding in found] == ["JSONDecodeError", None]


def test_without_a_network_it_says_so_and_asks_three_times_only(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    lock = tmp_path / "lock.txt"
    lock.write_text("".join(f"package-{number}==1.0\n" for number in range(50)), "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "tests.kit.package_audit", str(lock)],
        cwd=ROOT,
        env={"PATH": "/usr/bin", "HOME": str(tmp_path), "PIP_INDEX_URL": f"http://127.0.0.1:{port}/simple"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1
    assert done.stdout.startswith("The package index cannot be reached (ConnectionError): nothing was checked.")


def test_every_dependency_at_run_time_has_an_upper_bound() -> None:
    """A new major version is a decision: it comes with `make lock`, and not with somebody's `pip install`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needed = [
        *project["dependencies"],
        *(text for extra in project["optional-dependencies"].values() for text in extra),
    ]
    assert len(needed) > 20
    assert [text for text in needed if not re.search(r"<\d|~=", text.partition(";")[0])] == []


def test_everything_that_is_installed_has_its_hash() -> None:
    for file in ("run.txt", "dev.txt", "bench.txt"):
        text = (ROOT / "requirements" / file).read_text("utf-8")
        blocks = re.split(r"\n(?=[A-Za-z0-9])", text)
        assert [block.split()[0] for block in blocks if block.strip() and "--hash=sha256:" not in block] == []
