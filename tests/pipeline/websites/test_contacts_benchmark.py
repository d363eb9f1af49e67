"""`python -m benchmarks.contacts`: its arithmetic on a folder with known mistakes, and its figures on real pages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]


def scored(*words: str) -> dict[str, Any]:
    """Run the command with our own extractors; its last line."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.contacts", "--no-peers", *words],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def write(folder: Path, *rows: tuple[str, dict[str, Any]]) -> None:
    (folder / "pages").mkdir()
    lines = []
    for number, (html, labels) in enumerate(rows):
        (folder / "pages" / f"{number}.html").write_text(html, "utf-8")
        lines.append(json.dumps({"file": f"pages/{number}.html", **labels}))
    (folder / "truth.jsonl").write_text("\n".join(lines), "utf-8")


def test_precision_and_recall(tmp_path: Path) -> None:
    """Two right, one that the page does not have, one that the truth does not name, one that it forbids."""
    write(
        tmp_path,
        ("<p>a@hainwerk.de b@hainwerk.de</p>", {"emails": ["A@hainwerk.de"], "emails_optional": ["b@hainwerk.de"]}),
        ("<p>c.tann@hainwerk.de</p>", {"emails": ["c.tann@hainwerk.de", "missing@hainwerk.de"]}),
        ("<p>d.tann@hainwerk.de e.tann@hainwerk.de</p>", {"emails_reject": ["e.tann@hainwerk.de"]}),
        ("<p>f.tann@hainwerk.de</p>", {"emails_thirdparty": ["f.tann@hainwerk.de"], "country": "CH?"}),
    )  # fmt: skip
    result = scored(str(tmp_path))
    assert result["pages"] == 4
    assert result["cocli"]["emails"] == {"precision": 0.5, "recall": 0.6667, "f1": 0.5714, "junk": 1}
    assert result["cocli"]["phones"] == {"precision": 1.0, "recall": 1.0, "f1": 1.0, "junk": 0}


def test_forms_and_negatives(tmp_path: Path) -> None:
    write(
        tmp_path,
        ("<p>a@hainwerk.de</p>", {"form": "plain", "emails": ["a@hainwerk.de"]}),
        ("<p>nothing</p>", {"form": "magic", "emails": ["a@hainwerk.de"]}),
        ("<p>a@hainwerk.de</p>", {"form": "negative: known", "emails_reject": ["a@hainwerk.de"]}),
        ("<p>nothing</p>", {"form": "negative: other", "emails_reject": ["a@hainwerk.de"]}),
    )
    result = scored(str(tmp_path))["cocli"]
    assert result["forms_recovered"] == 0.5
    assert (result["negatives_reported"], result["negatives"]) == (1, 2)


def test_our_own_pages() -> None:
    result = scored()["cocli"]
    assert result["emails"]["f1"] >= 0.97
    assert result["emails"]["junk"] == 0
    assert result["forms_recovered"] >= 0.95
    assert result["negatives_reported"] == 0


def test_real_pages(captures: Path) -> None:
    result = scored(str(captures / "sites"))["cocli"]
    assert result["emails"]["f1"] >= 0.97
    assert result["emails"]["junk"] == 0
    assert result["phones"]["f1"] >= 0.9
    assert result["socials"]["f1"] >= 0.9


def test_peers_run_where_they_are_installed(tmp_path: Path) -> None:
    pytest.importorskip("scrapy", reason="the peers of the benchmarks are not installed: make bench installs them")
    pytest.importorskip("bs4", reason="the peers of the benchmarks are not installed: make bench installs them")
    write(tmp_path, ("<a href='mailto:a@hainwerk.de'>x</a><img src='b@2x.png'>", {"emails": ["a@hainwerk.de"]}))
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.contacts", str(tmp_path)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["raw regex"]["emails"]["precision"] == 0.5
    assert result["mailto + text"]["emails"]["f1"] == 1.0
    assert result["scrapy"]["emails"]["f1"] == 1.0
