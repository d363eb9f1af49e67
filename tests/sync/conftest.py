"""Two laptops and a bucket, as a test needs them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from cocli.store import Store
from cocli.store.counting import CountingStore
from cocli.store.memory import MemoryStore
from cocli.sync.decision import SyncOptions
from cocli.sync.engine import Syncer
from cocli.sync.folder import Folder
from cocli.sync.pair import Direction, SyncPair
from cocli.sync.plan import SyncPlan
from cocli.sync.report import SyncReport
from cocli.sync.selection import Selection
from cocli.sync.state import SyncState


@dataclass
class Laptop:
    """A folder, its state, and what a person does there."""

    root: Path
    bucket: Store
    name: str = "laptop"
    folder_settings: dict[str, Any] = field(default_factory=dict)

    def write(self, key: str, text: str) -> None:
        path = self.root / "data" / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    def read(self, key: str) -> str:
        return (self.root / "data" / key).read_text("utf-8")

    def remove(self, key: str) -> None:
        (self.root / "data" / key).unlink()

    def has(self, key: str) -> bool:
        return (self.root / "data" / key).exists()

    def files(self) -> dict[str, str]:
        return {key: data.decode() for key, data in self.files_bytes().items()}

    def files_bytes(self) -> dict[str, bytes]:
        base = self.root / "data"
        paths = (path for path in sorted(base.rglob("*")) if path.is_file() and "#" not in str(path.relative_to(base)))
        return {str(path.relative_to(base)): path.read_bytes() for path in paths}

    def pair(self, **settings: Any) -> SyncPair:
        (self.root / "data").mkdir(parents=True, exist_ok=True)
        folder = Folder(self.root / "data", fsync="never", **self.folder_settings)
        state = SyncState(str(self.root / "state" / "pair.sqlite3"))
        return SyncPair(folder, self.bucket, state, host=self.name, **settings)

    def sync(
        self,
        direction: Direction = Direction.BOTH,
        *,
        selection: Selection | None = None,
        delete: bool = True,
        restore: bool = False,
        many_deletions: bool = False,
        pair_settings: dict[str, Any] | None = None,
        **settings: Any,
    ) -> SyncReport:
        pair = self.pair(**(pair_settings or {}))
        try:
            wishes = SyncOptions(direction, delete=delete, restore=restore)
            syncer = Syncer(pair, selection or Selection(), wishes, **settings)
            return syncer.run(many_deletions=many_deletions)
        finally:
            pair.state.close()
            pair.folder.store.close()

    def plan(
        self, direction: Direction = Direction.BOTH, selection: Selection | None = None, **wishes: Any
    ) -> SyncPlan:
        pair = self.pair()
        try:
            return Syncer(pair, selection or Selection(), SyncOptions(direction, **wishes)).plan()
        finally:
            pair.state.close()
            pair.folder.store.close()


@pytest.fixture
def bucket() -> CountingStore:
    return CountingStore(MemoryStore())


@pytest.fixture
def laptop(tmp_path: Path, bucket: Store) -> Laptop:
    return Laptop(tmp_path / "one", bucket, "one")


@pytest.fixture
def other(tmp_path: Path, bucket: Store) -> Laptop:
    return Laptop(tmp_path / "two", bucket, "two")


MakeLaptop = Callable[..., Laptop]


@pytest.fixture
def make_laptop(tmp_path: Path) -> MakeLaptop:
    count = 0

    def make(bucket: Store, name: str = "third", root: Path | None = None, **settings: Any) -> Laptop:
        nonlocal count
        count += 1
        return Laptop(root or tmp_path / f"{name}-{count}", bucket, name, **settings)

    return make
