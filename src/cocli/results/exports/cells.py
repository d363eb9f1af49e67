"""Texts from the web, made harmless in files: no control characters anywhere, no formulas in spreadsheets."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from phonenumbers import PhoneNumber

# C0 but tab and line feed, DEL, C1, marks that reorder what is read, non-characters of XML, lone surrogates.
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff\ufeff\ud800-\udfff]"
)
_BREAKS = re.compile(r"[\t\n\x0b\x0c\r\x85\u2028\u2029]+")
_QUOTES = "\"'`´‘’“”«»\u200b\u200c\u200d\u2060\u00ad"
_FORMULA = frozenset("=+-@\u2212")
_AFTER_SEPARATOR = re.compile(rf";(?=[\s{_QUOTES}]*[=+\-@\u2212\uff1d\uff0b\uff0d\uff20])(?!\s*')")
_EMAIL = re.compile(r"[^\s@;,<>\"]+@[^\s@;,<>\"]+\.[^\s@;,<>\"]+")
E164 = re.compile(r"\+[1-9][0-9]{1,14}")


def clean_text(text: str) -> str:
    """The text without control characters; line feeds and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n").replace("\x85", "\n"))


def one_line(text: str) -> str:
    """The text without control characters, on one line."""
    if text.isascii() and text.isprintable():
        return text.strip()
    return _CONTROL.sub("", _BREAKS.sub(" ", text)).strip()


def harmless(text: str) -> str:
    """A text that no spreadsheet takes for a formula, whatever it thinks separates cells.

    A text that begins like a formula (also behind blanks and quotes, also in full-width characters) gets an apostrophe
    in front. So does what follows a semicolon, where it would begin a cell in countries that separate by it. An E.164
    number is a plus and digits: as a formula it is a number, and it stays as it is.
    """
    line = one_line(text)
    if E164.fullmatch(line):
        return line
    line = _AFTER_SEPARATOR.sub(";'", line)
    if _begins_like_formula(line):
        return f"'{line}"
    return line


def _begins_like_formula(line: str) -> bool:
    if line.startswith("'"):
        return False  # a spreadsheet takes it for text already
    for character in line:
        if character.isspace() or character in _QUOTES:
            continue
        return unicodedata.normalize("NFKC", character)[:1] in _FORMULA
    return False


def international_phone(e164: str) -> str:
    """`+498912345678` → `+49 89 12345678`, as people write it; as it is where it is of no country."""
    import phonenumbers  # tables of some megabytes: only where people read numbers

    try:
        number: PhoneNumber = phonenumbers.parse(e164)
    except phonenumbers.NumberParseException:  # E.164 in form, but of no country: its digits are shown as they are
        return e164
    return str(phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.INTERNATIONAL))


def readable_phone(e164: str) -> str:
    """`+498912345678` → `(+49) 89 12345678`: a spreadsheet shows a number that begins with a plus as 4.99E+11."""
    code, _, rest = international_phone(e164).partition(" ")
    if rest:
        return f"({code}) {rest}"
    return f"({code})"


def mail_address(text: str) -> str | None:
    """The link that writes to an address, where the text is one address and nothing else."""
    address = one_line(text)
    if _EMAIL.fullmatch(address):
        return f"mailto:{quote(address, safe='@')}"
    return None


def web_address(text: str | None) -> str | None:
    """An address that can be opened: http or https, without blanks. Others (`javascript:` …) are left out."""
    if not text:
        return None
    address = one_line(text).replace(" ", "%20")
    scheme, separator, _ = address.partition(":")
    if scheme.lower() in ("http", "https") and separator:
        return address
    if re.match(r"[A-Za-z0-9\u0080-\U0010ffff-]+(?:\.[A-Za-z0-9\u0080-\U0010ffff-]+)+(?:[/:?#]|\Z)", address):
        return f"http://{address}"
    return None
