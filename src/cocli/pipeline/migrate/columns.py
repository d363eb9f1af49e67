"""What a column of an older file is called, what it may look like, and where it goes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class Shape(StrEnum):
    """What a value of a column looks like: what tells a row of this table from one that is shifted."""

    TEXT = "text"
    LINE = "line"
    ID = "place id"
    WHOLE = "whole number"
    NUMBER = "number"
    TIME = "time"
    URL = "address"
    PHONE = "phone number"
    HOST = "domain"
    EMAIL = "e-mail address"
    FLAG = "yes or no"

    def fits(self, value: str) -> bool:
        return self is Shape.TEXT or _PATTERNS[self].fullmatch(value) is not None


_PATTERNS = {
    Shape.LINE: re.compile(r"[^\n\r\x1e]*"),
    Shape.ID: re.compile(r"[CG]hI[A-Za-z0-9_-]{23,26}"),
    Shape.WHOLE: re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,12}(?:\.0+)?"),
    Shape.NUMBER: re.compile(r"-?[0-9]{1,12}(?:\.[0-9]{1,20})?(?:[eE]-?[0-9]{1,2})?"),
    Shape.TIME: re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.]{5,15}(?:Z|[+-][0-9:]{2,6})?)?"),
    Shape.URL: re.compile(r"(?:https?:/|/|[\w-]+\.)[^\n\r\x1e]*", re.IGNORECASE),
    Shape.PHONE: re.compile(r"(?=(?:[^0-9]*[0-9]){5})[0-9\s()+.,;:/*#–—·x-]*(?:ext[.\s]*[0-9]+)?", re.IGNORECASE),
    Shape.HOST: re.compile(r"[^\s@]+\.[^\s@]+"),
    Shape.EMAIL: re.compile(r"[^\s@]+@[^\s@]+"),
    Shape.FLAG: re.compile(r"true|false|yes|no|t|f|0|1", re.IGNORECASE),
}


@dataclass(frozen=True, slots=True)
class OldColumn:
    """One column. `goes_to` is empty where it is dropped, and `note` says why, or what is done to it."""

    name: str
    goes_to: str = ""
    note: str = ""
    shape: Shape = Shape.LINE


Table = tuple[OldColumn, ...]
"""The columns of a file without a header, in their order."""


def misfit(table: Table, cells: list[str]) -> str | None:
    """Why a row is none of this table; None if it is one."""
    if len(cells) != len(table):
        return f"{len(cells)} fields, not {len(table)}"
    for column, cell in zip(table, cells, strict=True):
        if cell and not column.shape.fits(cell):
            return f'{column.name}: "{_short(cell)}" is no {column.shape}'
    return None


def _short(cell: str) -> str:
    return cell[:60].replace("\n", " ") + ("…" if len(cell) > 60 else "")
