"""`[web] basemap`: what a page names, and the one host that its policy lets through."""

from __future__ import annotations

from pathlib import Path

import pytest

from cocli.app.web.basemap.map_source import MapSource, map_source
from cocli.app.web.shell import SHELL_POLICY, WebShell
from cocli.errors import ConfigError
from tests.kit.map_tiles import pmtiles, red_picture


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("https://tiles.example.com/{z}/{x}/{y}.png", "https://tiles.example.com"),
        ("https://Tiles.Example.com:8443/a/{z}/{x}/{y}?key=1", "https://tiles.example.com:8443"),
        ("http://127.0.0.1:9000/{z}/{x}/{y}", "http://127.0.0.1:9000"),
        ("http://[::1]:9000/{z}/{x}/{y}", "http://[::1]:9000"),
        ("https://maps.example.com/area.pmtiles", "https://maps.example.com"),
    ],
)
def test_an_address_gives_its_origin_and_nothing_more(text: str, origin: str) -> None:
    assert map_source(text) == MapSource(text, origin)


@pytest.mark.parametrize(
    "text",
    [
        "https://tiles.example.com/",
        "https://a.example; script-src */{z}/{x}/{y}",
        "https://a.example,https://b.example/{z}/{x}/{y}",
        "https://*.example.com/{z}/{x}/{y}",
        "https://{s}.tiles.example.com/{z}/{x}/{y}",
        "https://user:secret@tiles.example.com/{z}/{x}/{y}",
        "javascript://tiles/{z}/{x}/{y}",
        "data:image/png,{z}{x}{y}",
        "{z}/{x}/{y}.png",
        "/etc/passwd",
        "missing.pmtiles",
    ],
)
def test_what_nobody_could_draw_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="cannot be drawn"):
        map_source(text)


def test_a_file_of_this_machine(tmp_path: Path) -> None:
    file = tmp_path / "area.pmtiles"
    file.write_bytes(pmtiles(red_picture()))
    assert map_source(str(file)) == MapSource("data/basemap.pmtiles", file=str(file))
    file.write_bytes(b"something else")
    with pytest.raises(ConfigError, match="no PMTiles file"):
        map_source(str(file))
    assert map_source(None) is None


def test_the_policy_lets_one_host_through_on_one_page() -> None:
    host = "https://tiles.example.com"
    shell = WebShell.installed(host)
    pages = {page.path: page.headers["Content-Security-Policy"] for page in (shell.index(), shell.map_page())}
    assert pages["index.html"] == SHELL_POLICY
    rules = [rule.strip() for rule in pages["map.html"].split(";")]
    widened = {rule.partition(" ")[0] for rule in rules if host in rule}
    assert widened == {"connect-src", "img-src"}
    assert pages["map.html"].replace(f" {host}", "") == SHELL_POLICY
    assert WebShell.installed().map_policy == SHELL_POLICY
