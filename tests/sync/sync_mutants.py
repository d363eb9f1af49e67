"""Broken variants of sync, each with the mistake that a careless hand would make; the scenario must catch every one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from sync_scenario import KEYS, Below, IndexScenario, SimulatedFolder, SyncScenario  # type: ignore[import-not-found,unused-ignore]
from tests.kit.simulator import Faults

from cocli.errors import NotFound, StoreError, Unavailable
from cocli.index.latest import current_pointer
from cocli.store.base import Put
from cocli.store.etag import content_etag
from cocli.sync.decision import SyncOptions
from cocli.sync.engine import Syncer
from cocli.sync.folder import Content, Stamp
from cocli.sync.indexes import IndexSyncer
from cocli.sync.pair import Direction, SyncPair
from cocli.sync.selection import Selection
from cocli.sync.state import SyncRow, SyncState


class Mutant(SyncScenario):  # type: ignore[misc,unused-ignore]
    caught_by: ClassVar[str] = "a person's edit|differ in|still does something|in the calm|nobody ever wrote"
    directions = (Direction.BOTH,)
    keys = KEYS[:2]
    edits = 30
    faults = Faults(crash=0.0, pause=0.0, delay_seconds=5)


class TrustedStamp(Stamp):
    """A stamp that is never doubted."""

    def is_racy(self, looked_ns: int) -> bool:
        return False


class TrustsEveryStamp(Mutant):
    """Same size, same second: taken for the same. The older system did that, and 4.8 never became 4.9."""

    def make_folder(self, world: Any) -> Any:
        class Trusting(SimulatedFolder):  # type: ignore[misc,unused-ignore]
            def walk(self, folders: Any, skipped: Any) -> dict[str, Stamp]:
                return {key: TrustedStamp(*stamp) for key, stamp in super().walk(folders, skipped).items()}

        return Trusting(self, world)


class LooksTooLate(Mutant):
    """The time of the look is taken when all is done: an edit right behind the writing is never looked for."""

    def make_folder(self, world: Any) -> Any:
        class Late(SimulatedFolder):  # type: ignore[misc,unused-ignore]
            def now_ns(self) -> int:
                return int(super().now_ns()) + 30 * 10**9

        return Late(self, world)


class _Bucket(Below):  # type: ignore[misc,unused-ignore]
    def __init__(self, world: Any) -> None:
        super().__init__(world.store, "bucket/")


class UploadsWithoutACondition(Mutant):
    """What another laptop has sent since the listing is written over."""

    def make_bucket(self, world: Any) -> Any:
        class Careless(_Bucket):
            def put_many(self, puts: Iterable[Put]) -> Sequence[str | StoreError]:
                return super().put_many([Put(put.key, put.data) for put in puts])  # type: ignore[no-any-return]

        return Careless(world)


class DeletesWithoutACondition(Mutant):
    """A file is deleted in the bucket though somebody has changed it since the listing."""

    def make_bucket(self, world: Any) -> Any:
        class Careless(_Bucket):
            def delete(self, key: str, *, if_match: str | None = None) -> None:
                super().delete(key)

        return Careless(world)


class ReplacesWithoutALook(Mutant):
    """What the person has saved since the walk is written over."""

    def make_folder(self, world: Any) -> Any:
        class Careless(SimulatedFolder):  # type: ignore[misc,unused-ignore]
            def replace(self, key: str, data: bytes, digest: str) -> None:
                self.store.put(key, data)

        return Careless(self, world)


class DoesNotNoticeAChangeWhileReading(Mutant):
    """Half of the old content and half of the new one are sent as one."""

    caught_by = "nobody ever wrote this"

    def make_folder(self, world: Any) -> Any:
        class Careless(SimulatedFolder):  # type: ignore[misc,unused-ignore]
            def read(self, key: str, looked_ns: int) -> Content:
                stamp = self.stamp(key)
                if stamp is None:
                    raise NotFound(key=key)
                return Content(self.store.get(key).data, stamp)

        return Careless(self, world)


class KeepsOnlyOne(Mutant):
    """Where two people changed a file, the newer one in the bucket wins."""

    caught_by = "a person's edit"

    def make_folder(self, world: Any) -> Any:
        folder = SimulatedFolder(self, world)
        put = folder.store.put

        def forgetful(key: str, data: bytes, **conditions: Any) -> str:
            return content_etag(data) if ".conflict-" in key else str(put(key, data, **conditions))

        folder.store.put = forgetful
        return folder


class TakesFailureForSuccess(Mutant):
    """The watermark advances past a file that was never sent."""

    def make_bucket(self, world: Any) -> Any:
        class Hopeful(_Bucket):
            def put_many(self, puts: Iterable[Put]) -> Sequence[str | StoreError]:
                asked = list(puts)
                return [
                    content_etag(put.data) if isinstance(found, Unavailable) else found
                    for put, found in zip(asked, super().put_many(asked), strict=True)
                ]

        return Hopeful(world)


class InfersDeletions(Mutant):
    """What is not here was deleted here, though nobody remembers that it ever was here."""

    def make_state(self, path: Path) -> SyncState:
        scenario = self

        class Presuming(SyncState):
            def rows(self) -> dict[str, SyncRow]:
                objects: Mapping[str, Any] = scenario.everything.objects
                there = {key[len("bucket/") :]: stored for key, stored in objects.items() if key.startswith("bucket/")}
                presumed = {key: SyncRow(0, 0, 0, 0, 0, "", stored.etag) for key, stored in there.items()}
                return presumed | super().rows()

        return Presuming(str(path))


class SwapsAgainstTheNewestPointer(Mutant, IndexScenario):  # type: ignore[misc,unused-ignore]
    """A version is brought over onto whatever pointer is there by now, and what was published meanwhile is gone."""

    caught_by = "a record is not in"
    faults = IndexScenario.faults

    def make_syncer(self, pair: SyncPair, direction: Direction) -> Syncer:
        class Careless(IndexSyncer):
            def _bring(self, source: Any, target: Any, ref: Any, seen: Any) -> bool:
                return super()._bring(source, target, ref, current_pointer(target))

        class CarelessSyncer(Syncer):
            def _index(self, folder: str) -> IndexSyncer:
                return Careless(self._pair, folder, self._options.direction, self._throttle)

        return CarelessSyncer(pair, Selection(), SyncOptions(direction, delete=True))


MUTANTS: tuple[type[Mutant], ...] = (
    SwapsAgainstTheNewestPointer,
    TrustsEveryStamp,
    LooksTooLate,
    UploadsWithoutACondition,
    DeletesWithoutACondition,
    ReplacesWithoutALook,
    DoesNotNoticeAChangeWhileReading,
    KeepsOnlyOne,
    TakesFailureForSuccess,
    InfersDeletions,
)
