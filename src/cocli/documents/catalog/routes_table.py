"""Routes: which editions subscribed to which datasources, and how far each of them has caught up.

Whatever comes in while a route is there gets its event in the transaction of its row; what was there before gets it
page by page, each page in one transaction. Writers share a lock that a subscription and a page have alone: no document
is committed by somebody who did not see the route, and not seen by the pages either. Both make the same event of the
same version, so that a document that both meet is sent once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cocli.documents.header import Operation
from cocli.documents.outbox import Event, event_id

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from cocli.documents.catalog.database import Database, DatabaseSession
    from cocli.models.document import PipeDoc

_LOCK = "routes"
INTAKE_NODE = "intake"
"""What stands for a node in the destination of what comes in."""


@dataclass(frozen=True, slots=True)
class Route:
    """`behind_doc` is up to which document the edition caught up; None once it did with all of them."""

    account: str
    datasource: str
    edition: str
    generation: int
    behind_doc: str | None
    seeded: int
    since: datetime

    @property
    def destination(self) -> str:
        return f"pipestream.{self.edition}.{INTAKE_NODE}"


class RoutesTable:
    def __init__(
        self,
        database: Database,
        read_row: Callable[[Sequence[Any]], PipeDoc],
        add_events: Callable[[DatabaseSession, Sequence[Event]], None],
    ) -> None:
        self._database = database
        self._statements = database.statements
        self._read_row = read_row
        self._add_events = add_events

    # --- who subscribed

    def subscribe(self, account: str, datasource: str, edition: str, at: datetime) -> None:
        """From now on, and for all that is there. Once more changes nothing."""
        values = {"account": account, "datasource": datasource, "edition": edition}
        self._change("add_route", values | {"at": self._database.write_time(at)})

    def unsubscribe(self, account: str, datasource: str, edition: str) -> bool:
        values = {"account": account, "datasource": datasource, "edition": edition}
        return self._change("drop_route", values) > 0

    def recrawl(self, account: str, datasource: str, edition: str) -> bool:
        """Send everything once more, also what was sent before. False where nobody subscribed."""
        values = {"account": account, "datasource": datasource, "edition": edition}
        return self._change("recrawl_route", values) > 0

    def _change(self, name: str, values: Mapping[str, object]) -> int:
        with self._database.transaction() as session:
            self._database.lock(session, _LOCK)
            return session.run(self._statements[name], values)

    def every(self) -> list[Route]:
        with self._database.read() as session:
            return [self._route(columns) for columns in session.rows(self._statements["every_route"], {})]

    # --- what comes in

    def note(self, session: DatabaseSession, rows: Sequence[PipeDoc]) -> None:
        """Events for rows that are about to be written in this transaction, as far as they are news."""
        intakes = [row for row in rows if row.cluster is None]
        if not intakes:
            return
        self._database.lock(session, _LOCK, shared=True)
        routes: dict[tuple[str, str], list[Route]] = {}
        for row in intakes:
            source = (row.account, row.datasource)
            if source not in routes:
                routes[source] = self._routes_of(session, *source)
            if routes[source] and self._is_news(session, row):
                self._add_events(session, [_event(route, row) for route in routes[source]])

    def _is_news(self, session: DatabaseSession, row: PipeDoc) -> bool:
        if row.deleted_at is not None:
            return False  # a node has no work with what is gone
        found = session.rows(self._statements["known_version"], row.state_key._asdict())
        return not found or int(found[0][0]) < row.version

    # --- what was there

    def seed(self, route: Route, limit: int) -> int:
        """Events for the next documents of those that were there; how many. 0 once it caught up."""
        with self._database.transaction() as session:
            self._database.lock(session, _LOCK)
            mine = [known for known in self._routes_of(session, *_source(route)) if known.edition == route.edition]
            if not mine or mine[0].behind_doc is None:
                return 0
            (now,) = mine
            values = _place(now) | {"behind_doc": now.behind_doc, "limit": limit}
            found = [self._read_row(row) for row in session.rows(self._statements["intakes_behind"], values)]
            behind = found[-1].doc if len(found) == limit else None
            if behind is not None:  # several connectors may have brought the last document: a page never splits it
                whole = session.rows(self._statements["intakes_of_document"], _place(now) | {"doc": behind})
                found = [row for row in found if row.doc != behind] + [self._read_row(row) for row in whole]
            self._add_events(session, [_event(now, row) for row in found if row.deleted_at is None])
            session.run(self._statements["advance_route"], _place(now) | {"behind_doc": behind, "count": len(found)})
            return len(found)

    def _routes_of(self, session: DatabaseSession, account: str, datasource: str) -> list[Route]:
        values = {"account": account, "datasource": datasource}
        return [self._route(columns) for columns in session.rows(self._statements["routes_of"], values)]

    def _route(self, columns: Sequence[Any]) -> Route:
        account, datasource, edition, generation, behind, seeded, since = columns
        return Route(account, datasource, edition, generation, behind, seeded, self._database.read_time(since))


def _source(route: Route) -> tuple[str, str]:
    return route.account, route.datasource


def _place(route: Route) -> dict[str, object]:
    return {"account": route.account, "datasource": route.datasource, "edition": route.edition}


def _event(route: Route, row: PipeDoc) -> Event:
    operation = Operation.CREATED if row.version == 1 else Operation.UPDATED
    name = route.destination
    if route.generation:
        name = f"{name}#{route.generation}"
    made = event_id(row.state_key, row.version, row.digest, operation, name)
    return Event(made, row.uuid, operation, route.destination, row.reference, row.version, row.saved_at)
