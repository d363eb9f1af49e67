"""CSV: for programs as it is, for spreadsheets made harmless, and in the shape that HubSpot reads."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, BinaryIO

from cocli.formats.spreadsheets import is_taken_for_number
from cocli.results.exports.cells import clean_text, harmless, readable_phone, web_address
from cocli.results.exports.columns import COLUMNS, PHONES, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from cocli.models.prospect import Prospect

_BOM = b"\xef\xbb\xbf"


def write_csv(prospects: Iterable[Prospect], out: BinaryIO, columns: Sequence[str]) -> None:
    """RFC 4180 in UTF-8, values as they are but for control characters: for programs, not for spreadsheets."""
    getters = [COLUMNS[name] for name in columns]
    with _writer(out) as write:
        write(list(columns))
        for prospect in prospects:
            write([_plain(get(prospect)) for get in getters])


def write_spreadsheet_csv(prospects: Iterable[Prospect], out: BinaryIO, columns: Sequence[str]) -> None:
    """For a spreadsheet: no formulas, one line per cell, phones and postcodes that stay, a mark that says UTF-8."""
    out.write(_BOM)
    with _writer(out) as write:
        write(list(columns))
        for prospect in prospects:
            write([_as_shown(name, COLUMNS[name](prospect)) for name in columns])


HUBSPOT: dict[str, Callable[[Prospect], Value]] = {
    "Company name": COLUMNS["name"],
    "Company domain name": COLUMNS["domain"],
    "Website URL": lambda prospect: web_address(prospect.website),
    "Phone number": lambda prospect: prospect.phone_e164 or prospect.phone,
    "Email": COLUMNS["email"],
    "Street address": COLUMNS["street"],
    "City": COLUMNS["city"],
    "State/Region": COLUMNS["region"],
    "Postal code": COLUMNS["postcode"],
    "Country/Region": COLUMNS["country"],
    "LinkedIn company page": lambda prospect: web_address(prospect.socials.get("linkedin")),
    "Facebook company page": lambda prospect: web_address(prospect.socials.get("facebook")),
    "Description": lambda prospect: ", ".join(prospect.categories) or None,
}
"""HubSpot's own names of the properties of a company, so that its import maps the columns by itself."""


def write_hubspot_csv(prospects: Iterable[Prospect], out: BinaryIO, _columns: Sequence[str] = ()) -> None:
    """Companies as HubSpot imports them. People open such files in a spreadsheet first, so they are harmless there."""
    with _writer(out) as write:
        write(list(HUBSPOT))
        for prospect in prospects:
            write([_harmless(get(prospect)) for get in HUBSPOT.values()])


def _plain(value: Value) -> Value:
    if isinstance(value, str):
        return clean_text(value)
    return value


def _harmless(value: Value) -> Value:
    return harmless(value) if isinstance(value, str) else value  # a number is a number: -89.65 stays one


def _as_shown(name: str, value: Value) -> Value:
    """As a spreadsheet shows it: texts that it would take for numbers or dates are marked as texts."""
    safe = _harmless(value)
    if not isinstance(safe, str):
        return safe
    if name in PHONES and safe.startswith("+"):
        return readable_phone(safe)
    if is_taken_for_number(safe):
        return f"'{safe}"
    return safe


class _writer:  # noqa: N801  a context manager, used as a function
    """Rows → lines of bytes, as they come."""

    def __init__(self, out: BinaryIO) -> None:
        self._text = io.TextIOWrapper(out, encoding="utf-8", newline="", write_through=False)

    def __enter__(self) -> Callable[[Sequence[Value]], object]:
        return csv.writer(self._text, lineterminator="\r\n").writerow

    def __exit__(self, *_: object) -> None:
        self._text.flush()
        self._text.detach()  # the file is the caller's to close
