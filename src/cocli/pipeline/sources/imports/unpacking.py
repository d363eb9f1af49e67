"""Packed files, unpacked within bounds: gzip around any file, and the members of a zip."""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import TYPE_CHECKING

from cocli.errors import FormatError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_UNPACKED = 512 * 1024 * 1024
"""Bytes that a packed file may unpack to."""
MAX_RATIO = 500
"""… and how many times its own size that may be, where it is more than `_SMALL`: a list does not shrink so much."""
_SMALL = 16 * 1024 * 1024
_PIECE = 1024 * 1024
_GZIP = b"\x1f\x8b"
_ZIP = b"PK\x03\x04"
_OFFICE = ("xl/", "word/", "ppt/", "mimetype", "[Content_Types].xml")
_TABLES = (
    ".csv", ".tsv", ".txt", ".tab", ".json", ".jsonl", ".ndjson", ".geojson", ".xlsx", ".xls", ".ods", ".parquet",
    ".vcf", ".gz",
)  # fmt: skip
_ENDINGS = (".gz", ".gzip")
_WAY_OUT = "Unpack it yourself, look at what is in it, and import a part of it."


def unpacked(data: bytes, filename: str) -> tuple[bytes, str]:
    """What gzip or a zip of one table packed, and its name; everything else as it is."""
    if member := _only_table(data, filename):
        content, name = member_content(data, member, filename), member.rpartition("/")[2]
        return unpacked(content, name) if content.startswith(_GZIP) else (content, name)
    if not data.startswith(_GZIP):
        return data, filename
    pieces = bytearray()
    for piece in _gunzip(data, filename):
        pieces += piece
        check_size(len(pieces), len(data), filename)
    name = next((filename[: -len(end)] for end in _ENDINGS if filename.lower().endswith(end)), filename)
    return bytes(pieces), name


def _only_table(data: bytes, filename: str) -> str | None:
    """The member of a zip that is the list, where one of them is and no other; spreadsheets and KMZ are zips too."""
    if not data.startswith(_ZIP):
        return None
    with opened_archive(data, filename) as archive:
        names = [info.filename for info in archive.infolist() if not info.is_dir()]
    if any(name.startswith(_OFFICE) or name.lower().endswith((".kml", ".iwa")) for name in names):
        return None
    tables = [name for name in names if _is_table(name)]
    if len(tables) > 1:
        listed = ", ".join(tables[:5])
        raise UsageError(
            reason=f"{filename} is a packed file (zip) with {len(tables)} lists: {listed}",
            hint="Unpack it, and import them one by one.",
        )
    return tables[0] if tables else None


def _is_table(name: str) -> bool:
    """By how its name ends; what a Mac puts beside a file is none."""
    base = name.rpartition("/")[2].lower()
    return base.endswith(_TABLES) and not name.startswith("__MACOSX") and not base.startswith(".")


def check_size(size: int, packed: int, filename: str) -> None:
    """Refuse what unpacks to too much."""
    if size > MAX_UNPACKED:
        reason = f"{filename} unpacks to more than {MAX_UNPACKED // 1024**2} MiB"
    elif size > _SMALL and size > packed * MAX_RATIO:
        reason = f"{filename} unpacks to more than {MAX_RATIO} times its size: no list does"
    else:
        return
    raise UsageError(reason=reason, hint=_WAY_OUT)


def check_members(data: bytes, filename: str) -> None:
    """Unpack every member of a zip once, piece by piece, and refuse it where that comes to too much.

    The sizes that an archive claims are not believed: a member that is longer than it says fails its checksum.
    """
    size = 0
    with opened_archive(data, filename) as archive:
        for info in archive.infolist():
            for piece in _member(archive, info, filename):
                size += len(piece)
                check_size(size, len(data), filename)


def member_content(data: bytes, name: str, filename: str) -> bytes:
    """One member of a zip."""
    pieces = bytearray()
    with opened_archive(data, filename) as archive:
        for piece in _member(archive, archive.getinfo(name), filename):
            pieces += piece
            check_size(len(pieces), len(data), filename)
    return bytes(pieces)


def opened_archive(data: bytes, filename: str) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, OSError, EOFError) as error:
        raise FormatError(file=filename, line=1, reason=f"the packed file cannot be opened: {error}") from error


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, filename: str) -> Iterator[bytes]:
    try:
        with archive.open(info) as member:
            while piece := member.read(_PIECE):
                yield piece
    except RuntimeError as error:  # the module has no other word for it
        raise UsageError(reason=f"{filename} is packed with a password", hint="Save it without a password.") from error
    except (zipfile.BadZipFile, NotImplementedError, zlib.error, OSError, EOFError) as error:
        reason = f"{info.filename}, which is packed in it, cannot be read: {error}"
        raise FormatError(file=filename, line=1, reason=reason) from error


def _gunzip(data: bytes, filename: str) -> Iterator[bytes]:
    rest = data
    while rest:
        engine = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
        try:
            while not engine.eof:
                piece = engine.decompress(rest, _PIECE)
                rest = engine.unconsumed_tail
                yield piece
                if not piece and not rest and not engine.eof:
                    raise FormatError(file=filename, line=1, reason="the packed file is cut off")
        except zlib.error as error:
            raise FormatError(file=filename, line=1, reason=f"gzip did not pack it well: {error}") from error
        # Several packed files one behind the other are one file; zeros at the end are none.
        rest = engine.unused_data.lstrip(b"\x00")
