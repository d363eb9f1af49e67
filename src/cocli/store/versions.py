"""What a store keeps of objects that were replaced or deleted, where it is a bucket that keeps versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cocli.errors import StoreError
    from cocli.store.base import Store, StoredObject


class ObjectVersion(NamedTuple):
    """One version of an object, or the mark that it was deleted."""

    key: str
    version: str
    size: int = 0
    is_current: bool = False
    """What a reader gets who names no version."""
    is_marker: bool = False
    """A delete marker: it has no content, and hides what lies below it."""


class ObjectVersions(Protocol):
    """The versions of all objects of a store."""

    def are_kept(self) -> bool:
        """Whether the store keeps them, or ever did."""
        ...

    def listed(self) -> Iterator[list[ObjectVersion]]:
        """Of each key all versions, also of one that is deleted. Asked for page by page."""
        ...

    def get(self, version: ObjectVersion) -> StoredObject: ...

    def get_many(self, versions: Sequence[ObjectVersion]) -> Sequence[StoredObject | StoreError]:
        """Read concurrently; a failure stands where its version would."""
        ...

    def remove(self, versions: Sequence[ObjectVersion]) -> Sequence[StoreError | None]:
        """Remove them for good. What is gone already is fine; a failure stands where its version would."""
        ...


@runtime_checkable
class VersionedStore(Protocol):
    """A store that may keep earlier versions of its objects."""

    @property
    def object_versions(self) -> ObjectVersions | None:
        """None where it is of a kind whose versions are not reached."""
        ...


def versions_of(store: Store) -> ObjectVersions | None:
    """Those of the store itself, or of the one inside it."""
    found: object = store
    while found is not None:
        if isinstance(found, VersionedStore):
            return found.object_versions
        found = getattr(found, "inner", None)
    return None
