"""A captured page as evidence: whatever it was made to do, it does nothing; and the values of a company are marked."""

from __future__ import annotations

import re

import pytest
from selectolax.lexbor import LexborHTMLParser

from cocli.app.web.captured_page import render_captured, spots_of

VALUES = {
    "phone_e164": "+12175550100",
    "name": "Acme & Sons",
    "primary_email": "info@acme.example",
    "website": "https://acme.example/",
}
SPOTS = spots_of(VALUES)
HOSTILE = """
<html><head><base href="https://evil.example/"><meta http-equiv="refresh" content="0;url=https://evil.example">
<link rel="stylesheet" href="https://evil.example/a.css"><link rel=preload as=script href=//evil.example/x.js>
<style>@import url(https://evil.example/b.css); body{background:url(//evil.example/c.png)}</style>
<script src="https://evil.example/d.js"></script></head>
<body background="https://evil.example/e.png" onload="fetch('https://evil.example/f')">
<img src="https://evil.example/g.png" srcset="https://evil.example/h.png 2x" onerror="alert(1)">
<svg><image href="https://evil.example/i.png"/><use xlink:href="https://evil.example/j.svg#x"/><script>alert(2)</script></svg>
<iframe src="https://evil.example/k"></iframe><object data="https://evil.example/l"></object>
<embed src="https://evil.example/m"><video poster="https://evil.example/n.png" src="https://evil.example/o"></video>
<form action="https://evil.example/p"><input name=x><button formaction="https://evil.example/q">Acme</button></form>
<a href="https://evil.example/r" ping="https://evil.example/s">a link</a>
<p style="background:u\\72l(https://evil.example/t)">x</p><p style="width:1px;background:url('https://evil.example/u')">y</p>
<mark id="value-phone_e164" class="value-phone_e164">forged</mark><table background="https://evil.example/v"></table>
<math href="https://evil.example/w"></math><noscript><img src="https://evil.example/x"></noscript>
<template><img src="https://evil.example/y"></template><p>Call (217) 555-0100 today.</p>
</body></html>
"""


def test_nothing_of_a_hostile_page_asks_anybody() -> None:
    shown = render_captured(HOSTILE.encode(), SPOTS).decode()
    tree = LexborHTMLParser(shown)
    for node in tree.css("*"):
        names = set(node.attributes)
        assert not names & {"href", "src", "srcset", "action", "formaction", "poster", "background", "ping", "data"}
        assert not [name for name in names if name.startswith("on") or ":" in name]
        assert "url" not in (node.attributes.get("style") or "").lower()
    assert not tree.css("script, iframe, object, embed, form, input, link, base, template, noscript, meta[http-equiv]")
    assert "@import" not in shown
    visible = re.sub(r"<details>.*?</details>", "", shown, flags=re.DOTALL)
    assert "evil.example" not in visible


def test_a_page_cannot_forge_a_mark() -> None:
    tree = LexborHTMLParser(render_captured(HOSTILE.encode(), SPOTS).decode())
    found = tree.css("#value-phone_e164")
    assert [node.text() for node in found] == ["(217) 555-0100"]


@pytest.mark.parametrize(
    ("page", "field", "text"),
    [
        ("<p>Call 217-555-0100</p>", "phone_e164", "217-555-0100"),
        ("<p>+1 217 555 01 00</p>", "phone_e164", "+1 217 555 01 00"),
        ("<h1>ACME &amp; SONS</h1>", "name", "ACME & SONS"),
        ("<p>info@acme.example</p>", "primary_email", "info@acme.example"),
        ("<p>Acme   &amp;\n Sons</p>", "name", "Acme   &\n Sons"),
    ],
)
def test_values_are_marked_as_people_write_them(page: str, field: str, text: str) -> None:
    tree = LexborHTMLParser(render_captured(page.encode(), SPOTS).decode())
    node = tree.css_first(f"#value-{field}")
    assert node is not None
    assert node.text() == text


def test_a_value_in_a_link_is_shown_above_the_page() -> None:
    shown = render_captured(b'<a href="mailto:info@acme.example">write</a>', SPOTS).decode()
    assert '<mark class="value-primary_email">mailto:info@acme.example</mark>' in shown


@pytest.mark.parametrize("data", [b"", b"\xff\xfe\x00", b"<", b"<p>" * 50_000, b"<style>" + b"x" * 1000, b"\x00" * 100])
def test_whatever_was_captured_is_shown(data: bytes) -> None:
    assert render_captured(data, SPOTS).startswith(b"<!doctype html>")
