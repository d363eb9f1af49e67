"""What the description of a placemark says: lines such as `Phone: 030 …`, links, addresses of mail, rows of a table."""

from __future__ import annotations

import re
from html import unescape

from cocli.pipeline.sources.imports import values
from cocli.pipeline.sources.imports.columns.kinds import Kind, kind_of
from cocli.pipeline.sources.imports.fields import readings, recognised
from cocli.pipeline.sources.imports.reading.texts import seen_text, words_in

_BREAK = re.compile(r"<br\s*/?>|</(?:p|div|li|tr|h\d|ul|table)>|\n", re.IGNORECASE)
_CELL_BREAK = re.compile(r"</t[dh]>\s*<t[dh][^>]{0,500}>|<t[dh][^>]{0,500}>", re.IGNORECASE)
_LINK = re.compile(r"<a\s[^>]{0,500}?href\s*=\s*[\"']?([^\"'\s>]{1,2000})[^>]{0,500}>(.{0,500}?)</a>", re.I | re.DOTALL)
_TAG = re.compile(r"<[^>]{0,500}>")
_LABELLED = re.compile(r"([^\W\d_][^:\t=]{1,30}?)\s*[:=\t]\s*(\S.*)")
_PHONE = re.compile(r"(?:\+\d|\(?0\d|\(\d{3}\)|\d{3}[-.]\d{3})[\d\s()./-]{5,20}\d")
_LONGEST = 50_000
_FIELDS = words_in(
    "phone email website address street city region postcode country category rating review_count facebook instagram "
    "linkedin hours business_status map_url contact"
)


def described(text: str) -> dict[str, str]:
    """Field → what a description says of it. Of a sentence nothing is taken but what can be nothing else."""
    found: dict[str, str] = {}
    markup = unescape(text[:_LONGEST]) if "&lt;" in text[:_LONGEST] else text[:_LONGEST]
    for href, shown in _LINK.findall(markup):
        _note_link(found, unescape(href), _plain(shown))
    # A link in a line stands for its address: `Website: <a href="…">click here</a>`.
    for line in _BREAK.split(_LINK.sub(lambda match: f" {_shown(match)} ", markup)):
        _note_line(found, _plain(_CELL_BREAK.sub("\t", line)))
    return found


def _shown(match: re.Match[str]) -> str:
    target, shown = unescape(match[1]), _plain(match[2])
    if target.startswith(("mailto:", "tel:")):
        return target.partition(":")[2].partition("?")[0]
    return target if " " not in target and "." in target else shown


def _plain(text: str) -> str:
    return seen_text(unescape(_TAG.sub("", text))).replace("\xa0", " ").strip(" \r\n\t")


def _note_link(found: dict[str, str], target: str, shown: str) -> None:
    if target.startswith("mailto:"):
        found.setdefault("email", target.removeprefix("mailto:").partition("?")[0])
    elif target.startswith("tel:"):
        found.setdefault("phone", target.removeprefix("tel:"))
    elif shown == target or "." in shown:
        _note_value(found, target)


def _note_line(found: dict[str, str], line: str) -> None:
    match = _LABELLED.fullmatch(line)
    if match and not line.startswith(("http:", "https:")):
        known = recognised()
        name = next((known[reading][0] for reading in readings(match[1]) if reading in known), None)
        if name in _FIELDS:
            found.setdefault(str(name), match[2].strip())
            return
    _note_value(found, line)


def _note_value(found: dict[str, str], text: str) -> None:
    """A line that is nothing but an address or a number; an address of mail also inside of one."""
    kind = kind_of(text) if text else Kind.TEXT
    if kind in (Kind.URL, Kind.SOCIAL) or (kind is Kind.DOMAIN and text.count(" ") == 0):
        found.setdefault("website", text)
    elif kind is Kind.MAP_LINK:
        found.setdefault("map_url", text)
    elif kind is Kind.PHONE:
        found.setdefault("phone", text)
    elif emails := values.emails_of(text):
        found.setdefault("email", "; ".join(emails))
    elif (numbers := _PHONE.findall(text)) and len(numbers) == 1 and len(text) <= 60:
        found.setdefault("phone", numbers[0])
