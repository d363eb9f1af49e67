"""Lets editions that subscribed catch up with what was there: a page at a time, as long as the outbox has room."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cocli.documents.catalog.base import Catalog

_PAGE = 200
_PAGES = 10


class Seeder:
    """`room` is how many events of an account may wait before its routes are left for later: half of what may wait at
    all, so that those who save have room of their own."""

    def __init__(self, catalog: Catalog, *, room: int) -> None:
        self._catalog = catalog
        self._room = room

    def turn(self, pages: int = _PAGES) -> int:
        """Some pages of every route that has not caught up; how many documents."""
        done = 0
        for route in self._catalog.routes.every():
            for _ in range(pages if route.behind_doc is not None else 0):
                if self._catalog.outbox.count(route.account) >= self._room:
                    break
                seeded = self._catalog.routes.seed(route, min(_PAGE, self._room))
                done += seeded
                if not seeded:
                    break
        return done
