"""Ends a program at its n-th step, whether that is a call of the store or of the catalogue.

Run an action with n = 1, 2, 3 … until it comes through: then it was cut off between any two of its steps once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cocli.errors import CatalogUnavailable
from tests.kit.faulty_store import Crashed, Fault, FaultKind, FaultyStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.documents.catalog.base import Catalog
    from cocli.store.base import Store
    from tests.kit.faulty_store import Operation


class CrashPoint:
    """The n-th step fails: `kind` says how. `passed` counts the steps; `struck` says whether it came to that."""

    def __init__(self, number: int, kind: FaultKind = FaultKind.CRASH_BEFORE) -> None:
        self.number = number
        self.kind = kind
        self.passed = 0
        self.struck = False

    def store(self, inner: Store) -> FaultyStore:
        return FaultyStore(inner, self._plan)

    def catalog(self, inner: Catalog) -> Catalog:
        return _CrashingCatalog(inner, self)

    def comes(self) -> bool:
        """Whether this step is the one."""
        self.passed += 1
        self.struck = self.struck or self.passed == self.number
        return self.passed == self.number

    def _plan(self, _: Operation) -> Fault | None:
        return Fault(self.kind) if self.comes() else None


class _CrashingCatalog:
    """Every method of a catalogue, and a crash point before or after it."""

    def __init__(self, inner: Catalog, point: CrashPoint) -> None:
        self._inner = inner
        self._point = point

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        return self._wrapped(name, found) if callable(found) else found

    def _wrapped(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            strikes, kind = self._point.comes(), self._point.kind
            if strikes and kind is FaultKind.CRASH_BEFORE:
                raise Crashed(f"before {name}")
            if strikes and kind is FaultKind.ERROR:
                raise CatalogUnavailable(address="here", reason="injected error")
            answer = method(*arguments, **options)
            if strikes and kind is FaultKind.CRASH_AFTER:
                raise Crashed(f"after {name}")
            if strikes and kind is FaultKind.LOST_ANSWER:
                raise CatalogUnavailable(address="here", reason="injected: the answer was lost")
            return answer

        return call
