"""One record of an index, by what a person calls it; and what changed between two versions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from cocli.errors import IdentityError, NotFound, UsageError
from cocli.index.diff import diff
from cocli.index.reader import open_reader
from cocli.index.versions import version
from cocli.keys.identities import company_hash, company_identity, is_place_id

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.app.indexes.indexes import Indexes
    from cocli.app.indexes.query import AsOf
    from cocli.index.diff import Difference
    from cocli.index.index import Index
    from cocli.keys.paths import IndexRef
    from cocli.models.record import Record

_HASH = re.compile(r"[0-9a-f]{16}")


def look_up(indexes: Indexes, ref: IndexRef, name: str, *, fresh: bool, as_of: AsOf) -> tuple[Record, int]:
    """The record, and the version that it was found in; `NotFound` if there is none."""
    index = indexes.open(ref)
    key = sort_key(index, name)
    reader = open_reader(index, number=as_of.version_of(ref), as_of=as_of.time, fresh=fresh)
    found: Record | None = reader.get(key)
    if found is None:
        hint = (
            f"It may not be packed yet: cocli index get {ref.name} {name}{indexes.options} --fresh"
            if not fresh and as_of.time is None and as_of.version_of(ref) is None
            else f"See what there is with: cocli index status{indexes.options}"
        )
        raise NotFound(key=f"{name} in version {reader.version} of {ref.name}", hint=hint)
    return found, reader.version


def sort_key(index: Index[Any], name: str) -> str:
    """The sort key of a record that a person names: by hash, place id, domain, address, task id, tile/phrase
    or tile/phrase/source."""
    fields = index.spec.model.key
    if fields[:2] == ("tile", "phrase"):
        # A phrase may have slashes, a tile and a source have none.
        tile, _, phrase = name.partition("/")
        phrase, _, source = phrase.rpartition("/") if len(fields) == 3 else (phrase, "", "")
        parts = (tile, phrase, source)[: len(fields)]
        if not all(parts):
            example = "/".join(("39.8_-89.7", "plumber", "overture")[: len(fields)])
            raise UsageError(reason=f'"{name}" is not a {", ".join(fields)}', hint=f"Write: {example}")
        return index.spec.key_text(*parts)
    if fields == ("company_hash",):
        return _company(name)
    if fields in (("email",), ("domain",)) and _HASH.fullmatch(name):
        return name
    return index.spec.key_text(name.strip().lower() if fields != ("task_id",) else name)


def differences(
    indexes: Indexes, ref: IndexRef, old: int, new: int | None
) -> tuple[int, int, Iterator[Difference[Any]]]:
    """The two versions, and what differs between them."""
    index = indexes.open(ref)
    after = version(index, new)
    before = version(index, old)
    return before.version, after.version, diff(index, before, after)


def _company(name: str) -> str:
    if _HASH.fullmatch(name):
        return name
    try:
        if is_place_id(name):
            return company_hash(company_identity(place=name))
        return company_hash(company_identity(domain=name))
    except IdentityError as error:
        raise UsageError(
            reason=f'"{name}" is no company hash, place id or domain',
            hint="Find it by its name with: cocli find NAME",
        ) from error
