"""Lists of websites: a domain or an address a line, and nothing else. What a line is called until its site is read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cocli.errors import FormatError, IdentityError
from cocli.keys.identities import registrable_domain
from cocli.pipeline.sources.imports.decoding import decode
from cocli.pipeline.sources.imports.fields import readings, recognised
from cocli.pipeline.sources.imports.rows import ImportRow, ImportTable, RefusedRow
from cocli.pipeline.websites.hosts.shared import own_domain

if TYPE_CHECKING:
    from collections.abc import Iterator

COLUMN = "website"
_LOOKED_AT = 64 * 1024
_SHOWN = 200
_LINES = re.compile(r"\r\n|\n|\r")
_DELIMITERS = re.compile(r"[,;\t|\x1f\"]")
_COMMENT = "#"


def read_domains(data: bytes, *, file: str) -> ImportTable:
    """One row per line. Lines that begin with # are remarks; what is no website is refused."""
    decoded = decode(data)
    table = ImportTable("domains", decoded.encoding, columns=[COLUMN])
    for number, line in _lines(decoded.text):
        if not line or line.startswith(_COMMENT):
            table.blank += 1
        elif is_site(line):
            table.rows.append(ImportRow(number, {COLUMN: line}))
        else:
            table.refused.append(RefusedRow(number, "it is no domain and no address of a website", line[:_SHOWN]))
    if not table.rows:
        raise FormatError(file=file, line=1, reason="no line of it is a domain or an address of a website")
    return table


def is_site_list(data: bytes) -> bool:
    """Whether its first line is a website, and no line of its beginning has anything beside one."""
    text = decode(data[:_LOOKED_AT]).text
    lines = [line for _, line in _lines(text) if line and not line.startswith(_COMMENT)]
    if not lines or not is_site(lines[0]):
        return False
    known = recognised()
    is_header = any(name in known for name in readings(lines[0]))
    return not is_header and not any(_DELIMITERS.search(line) for line in lines)


def is_site(text: str) -> bool:
    """Whether a text is a domain or an address of a website, and nothing else."""
    if not text or "@" in text or "." not in text or any(character.isspace() for character in text):
        return False
    try:
        registrable_domain(text)
    except IdentityError:
        return False
    return True


def site_name(website: str | None) -> str | None:
    """What a business is called of which only the website is known: its domain; on a host of many, its page there."""
    text = (website or "").strip()
    if not is_site(text):
        return None
    address = text.partition("://")[2] or text
    return own_domain(text) or address.partition("?")[0].partition("#")[0].rstrip("/")


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(_LINES.split(text), 1):
        yield number, line.replace("\ufeff", "").strip()
