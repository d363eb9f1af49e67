"""The tokens of a script: enough of JavaScript's grammar to tell strings, regular expressions and comments apart.

Linear: every character is looked at once. A string that never ends ends the reading of the script.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cocli.pipeline.websites.page.encodings import unescaped_literal
from cocli.pipeline.websites.page.wordlist import words

MAX_TOKENS = 40_000
_LONGEST_REGEX = 2_000

_TOKEN = re.compile(
    r"""(?P<space>\s++|//[^\n]*+|<!--|-->)
    |(?P<string>"(?>[^"\\\n]++|\\.)*+"|'(?>[^'\\\n]++|\\.)*+')
    |(?P<template>`(?>[^`\\]++|\\.)*+`)
    |(?P<number>0[xX][0-9a-fA-F]++|[0-9]++(?>\.[0-9]++)?+)
    |(?P<name>[A-Za-z_$\u00c0-\uffff][\w$]*+)
    |(?P<mark>\+=|=>|[=!]==?+|[-+*/%&|^~!?:;,.<>=(){}\[\]])""",
    re.VERBOSE | re.DOTALL,
)
_REGEX = re.compile(r"/(?![*/])(?>[^/\\\n\[]++|\\.|\[(?>[^\]\\\n]++|\\.)*+\])++/([a-z]*+)")
_VALUE_ENDS = frozenset(("string", "template", "number", "name"))
_BEFORE_REGEX = words("return typeof case in of delete void")


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    text: str
    """For strings and templates the text that they stand for."""
    start: int


def tokens(script: str) -> list[Token]:
    found: list[Token] = []
    at = 0
    while at < len(script) and len(found) < MAX_TOKENS:
        if script.startswith("/*", at):
            end = script.find("*/", at + 2)
            if end < 0:
                break  # a comment that never ends is the rest of the script
            at = end + 2
            continue
        if script[at] == "/" and _regex_may_begin(found):
            regex = _REGEX.match(script, at, at + _LONGEST_REGEX)
            if regex:
                found.append(Token("regex", regex[0], at))
                at = regex.end()
                continue
        match = _TOKEN.match(script, at)
        if match is None:
            if script[at] in "\"'`":
                break
            at += 1
            continue
        kind = match.lastgroup or ""
        if kind in ("string", "template"):
            found.append(Token(kind, unescaped_literal(match[0][1:-1]), at))
        elif kind != "space":
            found.append(Token(kind, match[0], at))
        at = match.end()
    return found


def _regex_may_begin(found: list[Token]) -> bool:
    if not found:
        return True
    last = found[-1]
    if last.kind == "mark":
        return last.text not in (")", "]", "}")
    if last.kind == "name":
        return last.text in _BEFORE_REGEX
    return last.kind not in _VALUE_ENDS
