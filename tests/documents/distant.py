"""What is some way off in the simulator, though it lies in this process: a call takes time, and may end its client."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from cocli.errors import CatalogUnavailable, NotFound, Unavailable


def moment(world: Any) -> None:
    """Something travels: it may take long, its sender may die of it, or hear that nobody answers."""
    with suppress(NotFound):
        world.store.get("nothing/here")


class Distant:
    """A catalogue that is some way off: before and after every call there is a moment in which the client may die."""

    PARTS: tuple[str, ...] = ()
    """What of the catalogue has calls of its own that travel, too."""

    def __init__(self, inner: Any, world: Any) -> None:
        self._inner = inner
        self._world = world

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name in self.PARTS:
            return Distant(found, self._world)
        if not callable(found):
            return found

        def call(*arguments: Any, **options: Any) -> Any:
            self._moment()
            answer = found(*arguments, **options)
            self._moment()
            return answer

        return call

    def _moment(self) -> None:
        try:
            moment(self._world)
        except Unavailable as error:
            raise CatalogUnavailable(address="catalogue", reason=error.message) from error
