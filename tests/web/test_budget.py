"""What the pages weigh, what they name, and that what others made is what they made."""

from __future__ import annotations

import gzip
import hashlib
import re
from pathlib import Path

import cocli.service.web
from cocli.app.web.shell import WebShell

STATIC = Path(cocli.service.web.__path__[0]) / "static"
ASSETS = STATIC / "assets"
MOST_KB = 80


def scripts() -> list[bytes]:
    """Everything that a browser may load, as it is sent, apart from what only the map needs."""
    of_map = {"maplibre", "pmtiles", "map", "coverage.js"}
    sent = WebShell.installed().assets
    return [data for path, data in sent.items() if path.endswith(".js") and not of_map & set(path.split("/"))]


def test_script_weighs_less_than_eighty_kilobytes() -> None:
    weight = sum(len(gzip.compress(data, 9)) for data in scripts())
    assert 20_000 < weight < MOST_KB * 1000


def test_comments_are_not_sent_and_nothing_else_is_left_out() -> None:
    for path, data in WebShell.installed().assets.items():
        source = (ASSETS / path).read_bytes().splitlines()
        kept = data.splitlines()
        left_out = [line for line in source if line not in set(kept)]
        assert all(line.lstrip().startswith(b"//") for line in left_out), path
        assert len(source) - len(kept) == 0 or "vendor" not in path


def test_the_page_names_every_module_of_the_shell() -> None:
    """A browser asks for all of them at once, and not for one after it has read another."""
    named = re.findall(
        r'<link rel="modulepreload" href="{{assets}}/([^"]+)">', (STATIC / "index.html").read_text("utf-8")
    )
    assert sorted(named) == sorted(str(path.relative_to(ASSETS)) for path in imported(ASSETS / "main.js", set()))


def imported(path: Path, known: set[Path]) -> set[Path]:
    """The modules that a module imports, and those that they import."""
    for name in re.findall(r'(?:from|import)\s*"(\.[^"]+)"', path.read_text("utf-8")):
        found = (path.parent / name).resolve()
        if found not in known:
            known.add(found)
            imported(found, known)
    return known


def test_vendored_files_are_as_they_were_published() -> None:
    table = (ASSETS / "vendor/VENDORED.md").read_text("utf-8")
    rows = re.findall(r"^\| `([^`]+)` \|.*\| `([0-9a-f]{64})` \|$", table, re.MULTILINE)
    there = {str(path.relative_to(ASSETS / "vendor")) for path in (ASSETS / "vendor").rglob("*.js")}
    assert {name for name, _ in rows} == there
    for name, digest in rows:
        assert hashlib.sha256((ASSETS / "vendor" / name).read_bytes()).hexdigest() == digest, name
    for licence in re.findall(r", ([\w./-]+LICENSE\.txt)", table):
        assert (ASSETS / "vendor" / licence).stat().st_size > 500


def test_our_own_files_load_nothing_from_elsewhere_and_write_no_html() -> None:
    own = [
        path
        for path in [*ASSETS.rglob("*.js"), *STATIC.rglob("*.html"), *STATIC.rglob("*.css")]
        if "vendor" not in path.parts
    ]
    assert len(own) > 30
    forbidden = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|dangerouslySet|srcdoc|\beval\(|new Function"
    )
    for path in own:
        text = path.read_text("utf-8")
        assert not forbidden.search(text), path
        addresses = re.findall(r"https?://[^\s\"'`)]+", text)
        assert [address for address in addresses if "w3.org" not in address] == [], path
        if path.suffix == ".html":
            assert not re.search(r"<script(?![^>]*src=)|<style|\son\w+=|\sstyle=", text), path
