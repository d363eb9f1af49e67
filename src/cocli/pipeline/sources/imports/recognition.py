"""What a file is: by its content first, then by how its name ends. What cannot be read is named, with a way out."""

from __future__ import annotations

import io
import re
import zipfile
from typing import TYPE_CHECKING

from cocli.errors import UsageError
from cocli.pipeline.sources.imports.domains import is_site_list

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_HEAD = 4096
_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_OPEN_SHEET = b"application/vnd.oasis.opendocument.spreadsheet"
_JSON = re.compile(rb'\A(?:\{\s*["}]|\[\s*[\[{"\]])')
_FEATURES = re.compile(rb'"type"\s*:\s*"Feature(?:Collection)?"')
_CONTROLS = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c\x1d]")
_BINARY_SHARE = 50
"""One control character in so many bytes: no text has that many."""

_SAVE_AS = "Save the list as a spreadsheet (.xlsx) or as CSV in the program that shows it, and import that file."
_STRANGERS: Sequence[tuple[bytes, str, str]] = (
    (b"%pdf", "a PDF", _SAVE_AS),
    (b"<!doctype html", "a web page", _SAVE_AS),
    (b"<html", "a web page", _SAVE_AS),
    (b"{\\rtf", "a text document (RTF)", _SAVE_AS),
    (b"\x89png", "a picture", _SAVE_AS),
    (b"\xff\xd8", "a picture", _SAVE_AS),
    (b"gif8", "a picture", _SAVE_AS),
    (b"sqlite format 3", "a database (SQLite)", "Write the table that you want into a CSV file, and import that."),
    (b"bzh", "packed by bzip2", "Unpack it first: bunzip2 -k FILE"),
    (b"\xfd7zxz", "packed by xz", "Unpack it first: xz -dk FILE"),
    (b"\x28\xb5\x2f\xfd", "packed by Zstandard", "Unpack it first: zstd -d FILE"),
    (b"7z\xbc\xaf", "a packed file (7z)", "Unpack it, and import the file that is in it."),
    (b"rar!", "a packed file (RAR)", "Unpack it, and import the file that is in it."),
)
"""What a file begins with, in small letters; what it is; what to do with it."""

_ENDINGS: Mapping[str, str] = {
    ".vcf": "vcard",
    ".vcard": "vcard",
    ".kml": "kml",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".geojson": "geojson",
}
"""Asked where the content says nothing: a reader that then fails says what is wrong with such a file."""


def recognised_format(data: bytes, filename: str) -> str:
    """The name of the reader for a file; `UsageError` for what none of them reads."""
    for recognise in _BY_CONTENT:
        if found := recognise(data, filename):
            return found
    ending = next((ending for ending in _ENDINGS if filename.lower().endswith(ending)), None)
    if ending is not None:
        return _ENDINGS[ending]
    if is_site_list(data):
        return "domains"
    return "csv"


def _head(data: bytes) -> bytes:
    return data[:_HEAD].replace(b"\x00", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n").lower()


def _columnar(data: bytes, filename: str) -> str | None:
    if not data.startswith(b"PAR1"):
        return None
    if len(data) < 12 or not data.endswith(b"PAR1"):
        raise UsageError(reason=f"{filename} is a Parquet file that is cut off", hint="Fetch or copy it again.")
    return "parquet"


def _old_office(data: bytes, filename: str) -> str | None:
    if not data.startswith(_OLD_OFFICE):
        return None
    if _ENCRYPTED in data:
        raise UsageError(
            reason=f"{filename} is an Office document that a password protects", hint="Save it without a password."
        )
    return "xls"


def _packed(data: bytes, filename: str) -> str | None:
    if not data.startswith(b"PK\x03\x04"):
        return None
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _content_of(archive, filename)
    except (zipfile.BadZipFile, NotImplementedError, OSError, EOFError) as error:
        raise UsageError(
            reason=f"{filename} is a packed file (a spreadsheet, or KMZ) that cannot be opened: {error}",
            hint="Copy or download it again; a spreadsheet can also be saved as CSV.",
        ) from error


def _content_of(archive: zipfile.ZipFile, filename: str) -> str:
    names = archive.namelist()
    if "xl/workbook.xml" in names:
        return "xlsx"
    if "xl/workbook.bin" in names:
        return "xlsb"
    if "mimetype" in names:
        with archive.open("mimetype") as member:
            if member.read(200).startswith(_OPEN_SHEET):
                return "ods"
    if any(name.lower().endswith(".kml") for name in names):
        return "kmz"
    if any(name.startswith("word/") for name in names):
        raise UsageError(reason=f"{filename} is a text document (Word)", hint=_SAVE_AS)
    if any(name.endswith(".iwa") for name in names):
        raise UsageError(
            reason=f"{filename} is a document of Numbers or Pages",
            hint="Export it there: File, Export To, CSV or Excel.",
        )
    shown = ", ".join(names[:3]) or "nothing"
    raise UsageError(
        reason=f"{filename} is a packed file (zip) that is no spreadsheet and no KMZ; it holds {shown}",
        hint="Unpack it, and import the file that is in it.",
    )


def _cards(data: bytes, _: str) -> str | None:
    return "vcard" if _head(data).startswith(b"begin:vcard") else None


def _markup(data: bytes, filename: str) -> str | None:
    head = _head(data)
    if b"<kml" in head:
        return "kml"
    if head.startswith(b"<?xml") and not filename.lower().endswith(".kml"):
        if b"<html" in head:
            raise UsageError(reason=f"{filename} is a web page", hint=_SAVE_AS)
        raise UsageError(
            reason=f"{filename} is XML, and no KML", hint="Export the list as CSV, a spreadsheet, JSON or KML."
        )
    return None


def _objects(data: bytes, _: str) -> str | None:
    if not _JSON.match(_head(data)):
        return None
    has_features = _FEATURES.search(data[:_HEAD]) or _FEATURES.search(data[-_HEAD:])
    return "geojson" if has_features else "json"


def _strangers(data: bytes, filename: str) -> None:
    head = _head(data)
    raw = data[:_HEAD].lower()
    for mark, what, hint in _STRANGERS:
        if head.startswith(mark) or raw.startswith(mark):
            raise UsageError(reason=f"{filename} is {what}", hint=hint)
    if data[257:262] == b"ustar":
        raise UsageError(
            reason=f"{filename} is an archive (tar)", hint="Unpack it: tar -xf FILE; then import the list."
        )
    if len(_CONTROLS.findall(head)) * _BINARY_SHARE > len(head):
        raise UsageError(
            reason=f"{filename} is no text, and none of the formats that are read",
            hint="What is read: CSV, .xlsx, .xls, .ods, JSON, GeoJSON, KML, KMZ, Parquet, vCard, a list of domains.",
        )


_BY_CONTENT: Sequence[Callable[[bytes, str], str | None]] = (
    _columnar,
    _old_office,
    _packed,
    _cards,
    _objects,
    _strangers,
    _markup,
)
