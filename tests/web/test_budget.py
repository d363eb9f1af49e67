"""What the pages weigh, what they name, and that what others made is what they made."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import cocli.service.web
from cocli.app.web.shell import WebShell, without_comments

STATIC = Path(cocli.service.web.__path__[0]) / "static"
ASSETS = STATIC / "assets"
MOST_KB = 80


ENGINES = ("search/lines.js", "search/ranges.js")
"""A list is searched by one of them: which, its manifest says."""


OF_MAP = ("vendor/maplibre/", "vendor/pmtiles", "screens/map/", "screens/coverage.js")


def script_bytes() -> int:
    """All scripts that one visit of every screen can load, as they are sent, apart from the map.

    The map is its library, the modules that draw, and its screen Coverage.
    """
    shell = WebShell.installed()
    sizes = {path: len(shell.zipped(path).data) for path in shell.assets if path.endswith(".js")}
    of_map = [path for path in sizes if path.startswith(OF_MAP)]
    return sum(sizes.values()) - sum(sizes[path] for path in of_map) - min(sizes[path] for path in ENGINES)


def test_script_weighs_less_than_eighty_kilobytes() -> None:
    assert 20_000 < script_bytes() < MOST_KB * 1000


def test_only_the_map_loads_what_is_counted_as_the_maps() -> None:
    """Drawing is imported by the screens that draw, and by no module of the shell."""
    shell = imported(ASSETS / "main.js", set())
    assert not [path for path in shell if "map" in path.relative_to(ASSETS).parts]
    for path in ASSETS.rglob("*.js"):
        if "vendor" not in path.parts and "map" not in path.parts:
            assert "maplibre" not in path.read_text("utf-8"), path


def test_scripts_are_sent_without_comments_and_otherwise_as_they_are() -> None:
    """That all of them still run, the tests of the screens see."""
    assert without_comments(b"// why\n  let a = 1; // how\n\n  let b = 'x//y'; /* z */\n") == (
        b"let a = 1;\nlet b = 'x//y'; /* z */\n"
    )


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
