"""Strings that scripts put together, read without running them."""

from __future__ import annotations

import pytest

from cocli.pipeline.websites.facts.scripting.evaluate import strings_of
from cocli.pipeline.websites.facts.scripting.tokens import tokens


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("var a = 'in' + \"fo\";", "info"),
        ("var u='in', v='fo'; w = u + v;", "info"),
        ("a='in'; a+='fo';", "info"),
        ("a='in'; a = a + 'fo';", "info"),
        ("x = ['o','f','n','i'].reverse().join('')", "info"),
        ("x = 'ofni'.split('').reverse().join('')", "info"),
        ("x = String.fromCharCode(105, 0x6e, 100+2, 112-1)", "info"),
        ("x = String.fromCharCode.apply(null, [105,110,102,111])", "info"),
        ("x = [106,111,103,112].map(c => String.fromCharCode(c - 1)).join('')", "info"),
        ("x = atob('aW5mbw==')", "info"),
        ("x = window.atob('aW5mbw==')", "info"),
        ("x = unescape('%69n%u0066o')", "info"),
        ("x = decodeURIComponent('%69nfo')", "info"),
        ("x = 'i-n-f-o'.replace(/-/g, '')", "info"),
        ("x = 'xinfoy'.substr(1, 4)", "info"),
        ("x = 'xinfoy'.slice(1, 5)", "info"),
        ("const a='in'; f(`${a}fo`)", "info"),
        ("x = '\\x69\\u006e\\146\\u{6f}'", "info"),
        ("(function(){ var a = 'in'; g.h(a + 'fo'); })()", "info"),
        ("(() => { return 'in' + 'fo' })()", "info"),
        ("o = {k: 'in' + 'fo', l: 1}", "info"),
        ("p.q = 'in'; p.r = 'fo'; p.s = p.q + p.r", "info"),
        ("el.innerHTML = /* c */ 'in' // d\n + 'fo'", "info"),
        ("x = rot13('vasb')", "info"),
        ("if (a / b > 1) c = 'in' + 'fo'", "info"),
        ("x = s.replace(/[\"']/g, ''); y = 'in' + 'fo'", "info"),
    ],
)
def test_put_together(script: str, expected: str) -> None:
    assert expected in [output.text for output in strings_of(script)]


def test_a_step_on_the_way_is_not_a_result() -> None:
    assert [output.text for output in strings_of("a = 'info@x.co'; a += '.uk'")] == ["info@x.co.uk"]


def test_nothing_is_read_across_the_unknown() -> None:
    assert all("infofirm" not in output.text for output in strings_of("a = 'info' + secret() + 'firm'"))


def test_tokens_of_an_unfinished_string_end_there() -> None:
    assert [token.text for token in tokens("a = 'x'; b = \"never")] == ["a", "=", "x", ";", "b", "="]


@pytest.mark.parametrize(
    "script", ["(" * 50_000, "[" * 50_000, "a+" * 30_000, "a(" * 30_000, "{(" * 20_000, "'" * 99_999, "`${" * 9_999]
)
def test_deep_and_long_scripts(script: str) -> None:
    strings_of(script)


@pytest.mark.parametrize(
    "script",
    [
        "x = 'a@b.de'.replace(/a[^]/, 'b')",
        "x = [105].map(c => String.fromCharCode(c-08)).join('') + '@'",
        "x = 'in\\ud800fo' + '@b.de'",
        "x = '@'; /* a comment that never ends /* /* x = '@'",
        "x = '@'; y = /[a/ /[b/ /[",
    ],
)
def test_ordinary_and_broken_scripts_are_read_without_an_error(script: str) -> None:
    list(strings_of(script))


def test_a_comment_that_never_ends_is_the_rest_of_the_script() -> None:
    assert [token.text for token in tokens("a /* b */ c /* d c")] == ["a", "c"]
