"""Files under the names that people give them: `Gespräch mit Müller.md` lies beside those that cocli names.

A key has letters, digits and a few signs; a name may have anything. In the folders where people write, a file whose
name is no part of a key is known by its encoded name, `Gespr%C3%A4ch%20mit%20M%C3%BCller.md`, and stays where it is and
what it is called. Names that differ in their Unicode form only (NFC, NFD) are one name. Another machine gets the file
under the encoded name.

Where two files of a folder would have one key, the one that is called by the key has it, else the first in order.
"""

from __future__ import annotations

import os
import re
import unicodedata
from typing import TYPE_CHECKING

from cocli.errors import InvalidKey
from cocli.keys.parts import LONGEST_PART, encode_part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

PEOPLES_FOLDERS = ("companies/", "people/")
"""Elsewhere only programs write, and a name that is no key is left alone."""
_PART = re.compile(rf"(?!\.\.?\Z)(?=.{{1,{LONGEST_PART}}}\Z)(?:[A-Za-z0-9._~@+=,-]|%[0-9A-F]{{2}})+\Z")
_is_part = _PART.match
_ENDING = re.compile(r"(?P<stem>.+)(?P<ending>\.[A-Za-z0-9]{1,7})\Z", re.DOTALL)
_ENCODED = re.compile(r"%|~[0-9a-f]{32}(?:\.|\Z)")
_PASSING = (".", "#", "~$")
"""How the files begin that editors keep beside the one that is open; and the store's own."""


def part_of(name: str, key_above: str) -> str | None:
    """The part of a key that a file or a folder is known by; None where it has none. `key_above` ends with a slash."""
    if _is_part(name):
        return name
    if not key_above.startswith(PEOPLES_FOLDERS) or name.startswith(_PASSING):
        return None
    text = unicodedata.normalize("NFC", name)
    match = _ENDING.match(text)
    stem, ending = (match["stem"], match["ending"]) if match else (text, "")
    try:
        return encode_part(stem) + ending
    except InvalidKey:  # bytes that are no text
        return None


def named_entries(
    entries: Iterable[os.DirEntry[str]], key_above: str, left_out: Callable[[str, bool], None] | None = None
) -> list[tuple[str, os.DirEntry[str]]]:
    """The entries of one folder with the parts that they are known by, each part once.

    `left_out` is told of the others: the name, and whether another file has its key.
    """
    found: dict[str, os.DirEntry[str]] = {}
    others = []
    for entry in entries:
        if _is_part(entry.name):
            found[entry.name] = entry
        else:
            others.append(entry)
    for entry in sorted(others, key=_preference):
        part = part_of(entry.name, key_above)
        if part is not None and part not in found:
            found[part] = entry
        elif left_out is not None:
            left_out(entry.name, part is not None)
    return list(found.items())


def place_of(root: str, key: str) -> str:
    """Where an object lies, relative to the root: under its key, or under the name that a person gave it."""
    if not (key.startswith(PEOPLES_FOLDERS) and _ENCODED.search(key)):
        return key
    place, known = "", ""
    for part in key.split("/"):
        name = part
        if _ENCODED.search(part) and not os.path.lexists(f"{root}/{place}{part}"):
            name = _name_in(f"{root}/{place}", part, known)
        place, known = f"{place}{name}/", f"{known}{part}/"
    return place[:-1]


def _name_in(folder: str, part: str, key_above: str) -> str:
    """The name of what a part stands for; the part itself where nothing is there."""
    try:
        with os.scandir(folder) as scan:
            entries = list(scan)
    except (FileNotFoundError, NotADirectoryError):
        return part
    return next((entry.name for known, entry in named_entries(entries, key_above) if known == part), part)


def _preference(entry: os.DirEntry[str]) -> tuple[bool, str]:
    """Names in the usual form first."""
    return not unicodedata.is_normalized("NFC", entry.name), entry.name
