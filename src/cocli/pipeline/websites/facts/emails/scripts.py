"""Addresses that scripts put together, and those in the state that a page hands to its scripts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape
from typing import TYPE_CHECKING

from cocli.pipeline.websites.facts.emails.address import read_address
from cocli.pipeline.websites.facts.emails.candidate import EmailCandidate
from cocli.pipeline.websites.facts.emails.cloaks import script_cloaks
from cocli.pipeline.websites.facts.emails.embedded import embedded
from cocli.pipeline.websites.facts.emails.links import is_mailto, recipients
from cocli.pipeline.websites.facts.scripting.evaluate import ScriptOutput, strings_of
from cocli.pipeline.websites.page.encodings import caesar_mailto, from_base64, rot13
from cocli.pipeline.websites.page.page import read_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.pipeline.websites.page.page import Page, Script

MAX_EVALUATED = 150_000
MAX_EVALS = 8
_CLUES = (
    *("@", "\\u0040", "\\x40", "\\100", "%40", "&#64", "&#064", "&#x40", "[at]", "(at)"),
    *("fromcharcode", "atob", "uncrypt", "decryptx", "bwfpbhrv", ",mi="),
)
"""A script without any of these, in lower case, makes no address. (`bwfpbhrv`: `mailto:` in base64.)"""
_HANDLERS = ("onclick", "onmouseover", "onmousedown", "onload", "onfocus", "ontouchstart", "onmouseenter")
_TAGS = re.compile(r"<[^<>]{0,500}>")
_ROTATES = re.compile(r"\b13\b")


def in_scripts(page: Page) -> Iterator[EmailCandidate]:
    unreadable = _unreadable_data(page)
    scripts = [script for script in page.scripts if script.text]
    mute = not _has_clue("\n".join(script.text for script in scripts if "json" not in script.kind))
    for script in scripts:
        if mute and "json" not in script.kind and len(script.text) <= MAX_EVALUATED:
            continue  # mostly no script has a clue, which is seen faster in all of them together
        if "ld+json" not in script.kind or script in unreadable:
            for address, method, context in _of_script(script.kind, script.text):
                yield EmailCandidate(address, method, "script", script.position, script.position, context)
    handled = [(e, e.get(name)) for name in _HANDLERS for e in page.by_attribute.get(name, ())]
    linked = [(e, e.get("href")[11:]) for e in page.links if e.get("href")[:11].lower() == "javascript:"]
    for element, code in (*handled, *linked):
        for address, method, _ in _of_code(code[:MAX_EVALUATED]):
            yield EmailCandidate(address, method, "script", element.start, element.end)


def _unreadable_data(page: Page) -> list[Script]:
    """JSON-LD that is no JSON, such as a name with quotation marks in it. It has its addresses all the same."""
    blocks = [script for script in page.scripts if "ld+json" in script.kind]
    if len(blocks) == len(page.json_ld):
        return []
    return [script for script in blocks if "@" in script.text and read_json(script.text) is None]


def _of_script(kind: str, text: str) -> Iterator[tuple[str, str, str]]:
    if "json" in kind or (len(text) > MAX_EVALUATED):
        yield from ((address, "state-json", context) for address, context in embedded(text))
    elif not kind or "javascript" in kind or "ecmascript" in kind or kind == "module":
        yield from _of_code(text)
    elif kind in ("text/template", "text/html", "text/x-template") or "template" in kind:
        return  # a template is filled in by a script: what stands in it is an example


def _of_code(code: str) -> Iterator[tuple[str, str, str]]:
    if not _has_clue(code):
        return
    yield from ((address, method, "") for address, method in script_cloaks(code))
    yield from _evaluated(code, MAX_EVALS)


def _has_clue(code: str) -> bool:
    lowered = code.lower()
    return any(clue in lowered for clue in _CLUES)


@dataclass(frozen=True, slots=True)
class _Skills:
    """What a script shows that it knows how to do."""

    evaluates: bool
    reverses: bool
    rotates: bool


def _evaluated(code: str, evals: int) -> Iterator[tuple[str, str, str]]:
    """Addresses in the strings of a script, and in those strings that are scripts themselves, up to a few of them."""
    skills = _Skills("eval" in code, "reverse" in code, _ROTATES.search(code) is not None)
    for output in strings_of(code):
        for address, method in _of_string(output, skills):
            yield address, method, " ".join(code[max(0, output.start - 40) : output.start + 120].split())
        if evals and skills.evaluates and output.called_by == "" and _is_code(output.text):
            evals -= 1
            yield from _evaluated(output.text, evals // 2)


def _is_code(text: str) -> bool:
    return "(" in text or "=" in text


def _of_string(output: ScriptOutput, skills: _Skills) -> Iterator[tuple[str, str]]:
    text = unescape(output.text) if "&" in output.text else output.text
    method = "script" if output.pieces > 1 else "state-json"
    if is_mailto(text):
        yield from ((address, "script") for address in recipients(text))
    elif "@" in text or "\\u0040" in text or "%40" in text:
        found = list(embedded(text)) or (list(embedded(_TAGS.sub("", text))) if "<" in text else [])
        yield from ((address, method) for address, _ in found)
        if not found and len(text) <= 320:
            yield from _disguised(text, output.called_by, skills)
    elif len(text) <= 400:
        yield from _encoded(text)


def _disguised(text: str, called_by: str, skills: _Skills) -> Iterator[tuple[str, str]]:
    """A sign, but no domain after it: backwards or ROT13, where the script shows that it knows how to undo it."""
    if skills.reverses:
        address = read_address(text[::-1].removeprefix("mailto:"))
        if address:
            yield str(address), "reversed"
            return
    if skills.rotates or "rot" in called_by.lower():
        address = read_address(rot13(text).removeprefix("mailto:"))
        if address:
            yield str(address), "rot13"


def _encoded(text: str) -> Iterator[tuple[str, str]]:
    moved = caesar_mailto(text)
    if moved:
        yield from ((address, "caesar") for address in recipients(moved))
        return
    decoded = from_base64(text) if len(text) >= 12 else None
    if decoded and "@" in decoded:
        plain = recipients(decoded) if is_mailto(decoded) else [decoded]
        yield from ((address, "base64") for address in plain if read_address(address))
