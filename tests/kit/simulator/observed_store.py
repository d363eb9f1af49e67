"""The one store of a simulated world: a memory store that its scenario may look into without asking by key."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from cocli.store.memory import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from cocli.store.base import StoredObject


class ObservedStore(MemoryStore):
    def __init__(self, *, clock: Callable[[], datetime]) -> None:
        super().__init__(clock=clock)
        self.objects: Mapping[str, StoredObject] = MappingProxyType(self._objects)

    def peek(self, key: str) -> StoredObject | None:
        return self._objects.get(key)

    def below(self, prefix: str) -> list[StoredObject]:
        """Every object below a folder, in key order."""
        return [self._objects[key] for key in sorted(self._objects) if key.startswith(prefix)]
