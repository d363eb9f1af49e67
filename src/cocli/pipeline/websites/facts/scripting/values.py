"""The values that a script's expressions can have here: texts, numbers, lists of them, and what is not known."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING
from urllib.parse import unquote

from cocli.pipeline.websites.page.encodings import from_base64, rot13

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.pipeline.websites.facts.scripting.tokens import Token

MAX_TEXT = 20_000
MAX_LIST = 5_000
UNKNOWN_MARK = "\uffff"
"""Stands in a text for a part that is not known, so that nothing is read across it."""


class Unknown:
    """A value that only running the script would tell."""


UNKNOWN = Unknown()
Value = str | int | float | list["Value"] | Unknown

_SAFE_PATTERN = re.compile(r"/((?:[^\\()*+?|{}\[\]^$.]|\\[^\w]|\\[sSdDwW]|\[[^\[\]\\]{0,40}\])*)/([a-z]*)\Z")


def added(left: Value, right: Value, operator: str) -> Value:
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return _computed(left, right, operator)
    if operator != "+":
        return UNKNOWN
    text = as_text(left) + as_text(right)
    if len(text) <= MAX_TEXT:
        return text
    return UNKNOWN


def _computed(left: float, right: float, operator: str) -> Value:
    if abs(left) > 1 << 31 or abs(right) > 1 << 31:
        return UNKNOWN
    if operator == "+":
        return left + right
    if operator == "-":
        return left - right
    if operator == "*":
        return left * right
    if operator == "^":
        return int(left) ^ int(right)
    return UNKNOWN


def as_text(value: Value) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float)):
        if value == value and abs(value) < 1 << 60:
            return str(int(value))
        return UNKNOWN_MARK
    if isinstance(value, list):
        return ",".join(map(as_text, value[:MAX_LIST]))[:MAX_TEXT]
    return UNKNOWN_MARK


def from_codes(values: Sequence[Value]) -> Value:
    if not all(isinstance(value, (int, float)) and 0 <= value < 0xD800 for value in values):
        return UNKNOWN
    return "".join(chr(int(value)) for value in values if isinstance(value, (int, float)))


def called(name: str, arguments: list[Value]) -> Value:
    """The value of a call of a function that every browser has."""
    first = arguments[0] if arguments else UNKNOWN
    if name == "fromCharCode":
        return from_codes(first if len(arguments) == 1 and isinstance(first, list) else arguments)
    if not isinstance(first, str):
        return UNKNOWN
    if name in ("unescape", "decodeURIComponent", "decodeURI"):
        return unquote(re.sub(r"%u([0-9a-fA-F]{4})", lambda m: chr(int(m[1], 16)), first))
    if name == "atob":
        return from_base64(first) or UNKNOWN
    if name in (
        "String",
        "escape",
        "encodeURI",
        "encodeURIComponent",
        "toString",
        "eval",
        "write",
        "writeln",
        "$",
        "jQuery",
    ):
        return first
    if "rot13" in name.lower():
        return rot13(first)
    return UNKNOWN


def method(value: Value, name: str, arguments: list[Value], inner: Sequence[Token]) -> Value:
    """The value of a method call on a text or a list. `inner`: the tokens of the arguments, for small functions."""
    if isinstance(value, str):
        return _of_text(value, name, arguments, inner)
    if isinstance(value, list):
        return _of_list(value, name, arguments, inner)
    return UNKNOWN


def _of_text(text: str, name: str, arguments: list[Value], inner: Sequence[Token]) -> Value:
    first = arguments[0] if arguments else UNKNOWN
    if name == "split":
        separator = first if isinstance(first, str) else ""
        if separator == "":
            return list(text[:MAX_LIST])
        return list(text.split(separator)[:MAX_LIST])
    if name == "concat":
        return (text + "".join(map(as_text, arguments)))[:MAX_TEXT]
    if name == "replace" or name == "replaceAll":
        return _replaced(text, arguments, inner)
    if name in ("toLowerCase", "toString", "trim", "valueOf", "normalize"):
        return text
    if name == "toUpperCase":
        return text.upper()
    if name in ("slice", "substring", "substr", "charAt"):
        return _part(text, name, arguments)
    if "rot13" in name.lower():
        return rot13(text)
    return UNKNOWN


def _part(text: str, name: str, arguments: list[Value]) -> Value:
    numbers = [int(value) for value in arguments if isinstance(value, (int, float)) and abs(value) < 1 << 31]
    if len(numbers) != len(arguments) or not numbers:
        return UNKNOWN
    start = numbers[0]
    if name == "charAt":
        if start >= 0:
            return text[start : start + 1]
        return ""
    if len(numbers) == 1:
        return text[start:]
    if name == "substr":
        return text[start : start + numbers[1]]
    return text[start : numbers[1]]


def _replaced(text: str, arguments: list[Value], inner: Sequence[Token]) -> Value:
    numbers = {token.text for token in inner if token.kind == "number"}
    if {"13", "26"} <= numbers:
        return rot13(text)
    if len(arguments) < 2 or not isinstance(arguments[1], str):
        return UNKNOWN
    new = arguments[1]
    old = inner[0] if inner else None
    if old is not None and old.kind == "regex":
        safe = _SAFE_PATTERN.match(old.text)
        if not safe:
            return UNKNOWN
        flags = re.IGNORECASE if "i" in safe[2] else re.NOFLAG
        try:
            return _bounded(re.sub(safe[1], lambda _: new, text, count=0 if "g" in safe[2] else 1, flags=flags))
        except re.error:  # a regular expression of JavaScript that is none here, such as `[^]`
            return UNKNOWN
    return _bounded(text.replace(arguments[0], new)) if isinstance(arguments[0], str) and arguments[0] else UNKNOWN


def _bounded(text: str) -> Value:
    if len(text) <= MAX_TEXT:
        return text
    return UNKNOWN


def _of_list(values: list[Value], name: str, arguments: list[Value], inner: Sequence[Token]) -> Value:
    if name == "reverse":
        return values[::-1]
    if name == "join":
        separator = arguments[0] if arguments else ","
        return as_text(separator).join(map(as_text, values))[:MAX_TEXT]
    if name == "concat":
        extra = [item for value in arguments for item in (value if isinstance(value, list) else [value])]
        return (values + extra)[:MAX_LIST]
    if name == "map" and any(token.text == "fromCharCode" for token in inner):
        return _mapped_codes(values, inner)
    return UNKNOWN


def _mapped_codes(values: list[Value], inner: Sequence[Token]) -> Value:
    """`.map(c => String.fromCharCode(c - 3))`: each code, moved by the number that stands there."""
    at = next(index for index, token in enumerate(inner) if token.text == "fromCharCode")
    tail = list(inner[at:])
    operator, offset = "+", 0
    for mark, number in pairwise(tail):
        if mark.kind == "mark" and mark.text in "+-^" and number.kind == "number":
            operator, offset = mark.text, int(number.text) if number.text.isdigit() else 0
    moved = [added(value, offset, operator) if isinstance(value, (int, float)) else UNKNOWN for value in values]
    characters = [from_codes([value]) for value in moved]
    return list(characters)
