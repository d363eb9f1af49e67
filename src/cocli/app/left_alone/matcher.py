"""What is looked for when somebody is forgotten, and how it is taken out of bytes: text, JSON, compressed or not."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import tempfile
import zipfile
import zlib
from dataclasses import dataclass, field
from email import message_from_bytes
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from cocli.pipeline.suppression.listing import NOBODY, SuppressionList
from cocli.pipeline.suppression.scrub import MARK, Scrubber
from cocli.pipeline.suppression.veil import Veil

if TYPE_CHECKING:
    from collections.abc import Callable

_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
_PARQUET = b"PAR1"
_MOST_UNPACKED = 512 << 20
_MESSAGE, _HEAD = b"\nMIME-Version: ", 4096
_FEWEST_OF_AN_ID = 5
_AROUND = frozenset(("context", "text", "title", "description", "body", "html", "evidence", "reason", "message"))
"""Keys whose value is a text around a value: in it the value is marked, and what it belongs to stays."""
_FACT = frozenset(("value", "email", "e164", "phone_e164", "raw"))
_OF_A_BUSINESS = frozenset(("source_id", "company_hash", "place_id", "websites", "geometry", "name", "names"))


@dataclass(frozen=True)
class SubjectMatcher:
    """`listed` are the values that stand for nobody else. `literals` are names and streets: they are taken out where
    one of the values stands, and in what comes from the sites in `related`."""

    listed: SuppressionList
    literals: tuple[str, ...] = ()
    related: SuppressionList = NOBODY
    is_business: bool = False
    """A business is forgotten: what is said of it goes as a whole. Otherwise it is an address or a number."""
    digests: frozenset[str] = frozenset()
    """SHA-256 of objects that a proof names: a copy drops them, and gets the redacted ones by its sync."""
    _near: dict[str, bool] = field(default_factory=dict, compare=False)

    @cached_property
    def strong(self) -> Scrubber:
        return Scrubber(self.listed)

    @cached_property
    def full(self) -> Veil:
        return Veil(self.listed, self.literals)

    @cached_property
    def _around(self) -> Scrubber:
        return Scrubber(self.related)

    @cached_property
    def _ids(self) -> tuple[str, ...]:
        """The ids by which sources call them: `overture:08f2…`. Nobody else has those."""
        parted = (literal.partition(":") for literal in self.literals)
        return tuple(own for source, sign, own in parted if sign and source.isalnum() and len(own) >= _FEWEST_OF_AN_ID)

    def touches(self, text: str) -> bool:
        """Whether a value of theirs, or an id, stands in a text."""
        return self.strong.finds(text) or any(own in text for own in self._ids)

    def is_theirs(self, key: str) -> bool:
        """Whether the name of an object is about them: a page of their website, the task of their place."""
        return self.strong.finds(_readable(key))

    def is_proved(self, data: bytes) -> bool:
        return bool(self.digests) and hashlib.sha256(data).hexdigest() in self.digests

    def finds(self, key: str, text: str) -> bool:
        """Whether anything of theirs stands in a text that lies under a key."""
        if self.strong.finds(text):
            return True
        return bool(self.literals) and self.is_near(key) and self.full.scrubber.finds(text)

    def is_near(self, key: str) -> bool:
        """Whether a key is of a site that they were found on."""
        if not self.related:
            return False
        if key not in self._near:
            self._near[key] = self._around.finds(_readable(key))
        return self._near[key]

    def finds_in(self, key: str, data: bytes) -> bool:
        return any(self.finds(key, plain.decode("utf-8", "surrogateescape")) for plain in unpacked(data))

    def redacted(self, key: str, data: bytes) -> bytes:
        """Bytes without them. Lines of JSON and JSON lose what is about them; in other texts a mark stands there."""
        if data.startswith(_ZIP):
            return _each_member(data, lambda member: self.redacted(key, member))
        packing = packing_of(data)
        if packing is not None:
            return packing.pack(self.redacted(key, packing.unpack(data)))
        text = data.decode("utf-8", "surrogateescape")
        if not self.finds(key, text):
            return data
        for form in (self._json, self._lines):
            made = form(text)
            if made is not None:
                return made.encode("utf-8", "surrogateescape")
        return self.full.scrubber.text(text).encode("utf-8", "surrogateescape")

    def _json(self, text: str) -> str | None:
        if text[:1] not in "{[":
            return None
        try:
            value = json.loads(text)
        except ValueError:
            return None
        return _dumped(self.pruned(value), like=text)

    def _lines(self, text: str) -> str | None:
        """A JSON document on each line."""
        lines = text.splitlines(keepends=True)
        if len(lines) < 1 or not all(line[:1] in "{[" for line in lines if line.strip()):
            return None
        kept: list[str] = []
        for line in lines:
            if not self.strong.finds(line):
                kept.append(line)
                continue
            try:
                value = json.loads(line)
            except ValueError:
                return None
            if not (isinstance(value, dict) and self._goes(value)):
                kept.append(_dumped(self.pruned(value), like=line))
        return "".join(kept)

    # --- JSON

    def pruned(self, value: Any) -> Any:
        """Plain data without them: what is said of them goes from lists, single values become null."""
        if isinstance(value, dict):
            return {name: self.pruned(part) for name, part in value.items() if not self.strong.finds(str(name))}
        if isinstance(value, list):
            return [self.pruned(part) for part in value if not self._goes(part)]
        if isinstance(value, str):
            scrubbed = self.full.text(value)
            return None if scrubbed == MARK else scrubbed
        return value

    def _goes(self, part: Any) -> bool:
        if isinstance(part, str):
            return self.full.text(part) == MARK or (self.is_business and self.strong.finds(part))
        if not isinstance(part, dict):
            return False
        if self.is_business:
            return any(self.strong.finds(json.dumps(said, ensure_ascii=False)) for said in _told(part).values())
        direct = [name for name, said in part.items() if isinstance(said, str) and self.full.text(said) == MARK]
        return bool(set(direct) & _FACT) and not _OF_A_BUSINESS & part.keys() - {"name"}


def _told(part: dict[str, Any]) -> dict[str, Any]:
    return {name: said for name, said in part.items() if name not in _AROUND}


_ENDING = re.compile(r"\.(?:json|usv|csv|md|pb|bin|toml|damaged)(?=/|\Z)")


def _readable(key: str) -> str:
    """A key as a text in which values are found: `…/completed/2/firm.example.json` is about firm.example."""
    return _ENDING.sub(" ", unquote(key)).replace("/", " / ")


def _dumped(value: Any, *, like: str) -> str:
    """JSON as it was written: on one line, or indented."""
    end = "\n" if like.endswith("\n") else ""
    is_indented = like.startswith(("{\n  ", "[\n  "))
    if is_indented:
        return json.dumps(value, ensure_ascii=False, indent=2) + end
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + end


# --- compression


@dataclass(frozen=True, slots=True)
class Packing:
    unpack: Callable[[bytes], bytes]
    pack: Callable[[bytes], bytes]


def packing_of(data: bytes) -> Packing | None:
    """How bytes are compressed, where they are."""
    if data.startswith(_GZIP):
        return Packing(_gunzip, lambda plain: gzip.compress(plain, mtime=0))
    return None


def unpacked(data: bytes) -> list[bytes]:
    """What is in bytes: themselves, or what they were compressed from; of an archive or a spreadsheet each member."""
    if data.startswith(_ZIP):
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                members = [info for info in archive.infolist() if info.file_size <= _MOST_UNPACKED]
                return [part for info in members for part in unpacked(archive.read(info))]
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, zlib.error):
            return [data]  # no archive that can be read: it is looked through as it is
    if data.startswith(_PARQUET):
        return [parquet_text(data)]
    if _MESSAGE in data[:_HEAD]:
        return [data, *_parts_of_a_message(data)]
    packing = packing_of(data)
    if packing is None:
        return [data]
    try:
        return unpacked(packing.unpack(data))
    except zlib.error:
        return [data]


def _parts_of_a_message(data: bytes) -> list[bytes]:
    """The texts of a digest, whose lines may be folded or encoded."""
    parts = [part.get_payload(decode=True) for part in message_from_bytes(data).walk()]
    return [part for part in parts if isinstance(part, bytes)]


def parquet_text(data: bytes) -> bytes:
    """All rows of a Parquet file as lines of JSON."""
    import duckdb

    with tempfile.NamedTemporaryFile(suffix=".parquet") as file:
        file.write(data)
        file.flush()
        try:
            with duckdb.connect(":memory:") as connection:
                rows = connection.execute("SELECT to_json(row)::VARCHAR FROM read_parquet(?) AS row", [file.name])
                return "\n".join(str(row[0]) for row in rows.fetchall()).encode("utf-8", "replace")
        except duckdb.Error:
            return data  # no Parquet after all


def _each_member(data: bytes, redacted: Callable[[bytes], bytes]) -> bytes:
    """An archive with every member redacted; where nothing is, it is the same bytes."""
    made = io.BytesIO()
    is_changed = False
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(made, "w") as target:
        for info in archive.infolist():
            member = archive.read(info)
            kept = redacted(member)
            is_changed = is_changed or kept != member
            target.writestr(info, kept, compress_type=zipfile.ZIP_DEFLATED)
    return made.getvalue() if is_changed else data


def _gunzip(data: bytes) -> bytes:
    unpacked = zlib.decompressobj(31)
    return unpacked.decompress(data, _MOST_UNPACKED)
