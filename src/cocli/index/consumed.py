"""What a version consumed: the loose objects and batches that need not be read again, as long as they are still there.

The list is carried on from version to version. An object leaves it when a listing does not show it any more; so
whatever was consumed and not yet deleted (a crash came first) is known, and a record that was removed on purpose
does not come back out of it.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

from cocli.formats import usv
from cocli.index.manifest import ConsumedRef, Manifest
from cocli.index.shards import content_name
from cocli.models.record import Record, Text
from cocli.models.task import Nonce  # noqa: TC001 - pydantic reads the annotations

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cocli.index.index import Index


class ConsumedObject(Record):
    """One row of the list. The nonce of its consumer keeps two lists from being the same file by accident."""

    schema_id = "cocli.index-consumed/1"
    key = ("object",)

    object: Text
    etag: Text
    consumer: Nonce
    rejected: Text | None = None
    """Why (some of) it could not be read. Such an object is kept where it is, for people."""


def read_consumed(index: Index[Any], manifest: Manifest) -> dict[str, ConsumedObject]:
    if manifest.consumed is None:
        return {}
    data = index.objects.read_list(manifest.consumed.sha256)
    rows = usv.read(ConsumedObject, data, file=manifest.consumed.sha256, trusted=True)
    return {consumed.object: consumed for consumed in rows}


def write_consumed(index: Index[Any], consumed: Iterable[ConsumedObject]) -> ConsumedRef | None:
    rows = sorted(consumed, key=attrgetter("object"))
    if not rows:
        return None
    data = usv.render(ConsumedObject, rows)
    name = content_name(data)
    index.objects.write([(name, data)])
    return ConsumedRef(sha256=name, count=len(rows))
