"""The catalogue on either database: which statement, with which values, in which transaction."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeVar

from cocli.documents.catalog.base import CatalogState, Memo, OutboxEntry, Which
from cocli.documents.catalog.commit_group import CommitGroup
from cocli.documents.catalog.migrations import migrate
from cocli.documents.catalog.outbox_table import OutboxTable
from cocli.documents.catalog.routes_table import RoutesTable
from cocli.documents.catalog.rows import (
    event_values,
    memo_values,
    path_of,
    read_event,
    read_memo,
    read_row,
    row_values,
)
from cocli.errors import CatalogError, RecordError
from cocli.models.document import StateKey

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime
    from typing import Any

    from cocli.documents.catalog.base import Cursor, Kind, MemoQuestion, Selection
    from cocli.documents.catalog.database import Database, DatabaseSession
    from cocli.documents.catalog.job_rows import Commit
    from cocli.documents.outbox import Event
    from cocli.models.document import PipeDoc

T = TypeVar("T")
_PAGE = 1000
_PRUNED = "events_pruned_before"


class SqlCatalog:
    """Fits `cocli.documents.catalog.base.Catalog`. Opening one brings its tables up to date."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._statements = database.statements
        migrate(database)
        self._together = CommitGroup(database)
        write, read = database.write_time, database.read_time
        self._row_values = partial(row_values, write=write)
        self._event_values = partial(event_values, write=write)
        self._memo_values = partial(memo_values, write=write)
        self._read_row = self._checked(partial(read_row, read=read))
        self._read_event = self._checked(partial(read_event, read=read))
        self._read_memo = self._checked(partial(read_memo, read=read))
        self.outbox = OutboxTable(database, self._read_event)
        self.routes = RoutesTable(database, self._read_row, self._add_events)
        self._write_paths()

    def _write_paths(self) -> None:
        """For rows of a version that did not write their keys down: once, page by page, by whoever comes first."""
        while rows := self._query("without_path", {"limit": _PAGE}):
            with self._database.transaction() as session:
                paths = [_place(row.state_key) | {"path": path_of(row)} for row in rows]
                session.run_many(self._statements["write_path"], paths)

    def _checked(self, reading: Callable[[Sequence[Any]], T]) -> Callable[[Sequence[Any]], T]:
        """What was written can be read: where it cannot, the database was damaged."""

        def read(columns: Sequence[Any]) -> T:
            try:
                return reading(columns)
            except (RecordError, ValueError, TypeError) as error:
                reason = f"it is damaged: {str(error)[:200]}"
                raise CatalogError(address=self._database.address, reason=reason) from error

        return read

    @property
    def address(self) -> str:
        return self._database.address

    @property
    def database(self) -> Database:
        """For those who keep tables of their own beside these."""
        return self._database

    def check(self) -> None:
        """Read everything. `CatalogError` where something cannot be read."""
        self._database.check()
        after: PipeDoc | None = None
        while rows := self.scan(after, _PAGE):
            after = rows[-1]
        self.waiting(1)
        self.untold(1)
        self.learned()

    def tended(self) -> AbstractContextManager[None]:
        return self._database.tended()

    def close(self) -> None:
        self._database.close()

    # --- rows

    def find(self, account: str, state: StateKey, intake: str) -> CatalogState:
        return self.find_many([(account, state, intake)])[0]

    def find_many(self, places: Sequence[tuple[str, StateKey, str]]) -> list[CatalogState]:
        asked = [_place(state) | {"intake": intake} for _, state, intake in places]
        with self._database.read() as session:
            found = session.rows_many(self._statements["find"], asked)
        return [self._found(rows, *place) for rows, place in zip(found, places, strict=True)]

    def named(self, account: str, uuids: Sequence[str], cluster: str | None) -> list[PipeDoc]:
        asked = [{"uuid": uuid, "cluster": cluster or ""} for uuid in uuids]
        with self._database.read() as session:
            found = session.rows_many(self._statements["named"], asked)
        return [row for rows in found for row in map(self._read_row, rows) if row.account == account]

    def _found(self, rows: Sequence[Sequence[Any]], account: str, state: StateKey, intake: str) -> CatalogState:
        row, deleted_at = None, None
        for columns in rows:
            found = self._read_row(columns)
            if found.account != account:
                continue  # the uuid of another account's document, crafted or by chance
            if found.state_key == state:
                row = found
            if found.uuid == intake and found.cluster is None:
                deleted_at = None if found.expired_at else found.deleted_at
        return CatalogState(row, deleted_at)

    def commit(self, rows: Sequence[PipeDoc], events: Sequence[Event], *, intake: str | None = None) -> bool:
        return self._together.write(lambda session: self._commit(session, rows, events, intake))

    def commit_many(self, commits: Sequence[Commit], memos: Sequence[Memo] = ()) -> list[Commit]:
        return self._together.write(lambda session: self.write_in(session, commits, memos))

    def write_in(self, session: DatabaseSession, commits: Sequence[Commit], memos: Sequence[Memo]) -> list[Commit]:
        """Commits and memos within a transaction of somebody else's; which commits `commit` would have refused.

        The rows of all of them are written together: a call of the driver for each costs more than the rows. No commit
        of a batch deletes anything, so that none is refused for the sake of another.
        """
        number = self._numbered(session, [row for wanted in commits for row in wanted.rows])
        kept: list[Commit] = []
        refused: list[Commit] = []
        for wanted in commits:
            is_kept = wanted.intake is None or not self._is_deleted(session, wanted.rows, wanted.intake)
            (kept if is_kept else refused).append(wanted)
        rows = [row for wanted in kept for row in wanted.rows]
        self.routes.note(session, rows)
        self._write(session, rows, [event for wanted in kept for event in wanted.events], number)
        session.run_many(self._statements["remember"], [self._memo_values(memo) for memo in memos])
        return refused

    def _commit(
        self, session: DatabaseSession, rows: Sequence[PipeDoc], events: Sequence[Event], intake: str | None
    ) -> bool:
        number = self._numbered(session, rows)
        if intake is not None and self._is_deleted(session, rows, intake):
            return False
        self.routes.note(session, rows)
        self._write(session, rows, events, number)
        return True

    def _is_deleted(self, session: DatabaseSession, rows: Sequence[PipeDoc], intake: str) -> bool:
        found = session.rows(self._statements["deleted"], {"intake": intake, "connector": rows[0].connector})
        return bool(found and found[0][0] is not None)

    def replace(self, rows: Sequence[PipeDoc], events: Sequence[Event], *, remove: Sequence[PipeDoc] = ()) -> None:
        with self._database.transaction() as session:
            number = self._numbered(session, rows)
            self.routes.note(session, rows)
            for row in (*remove, *rows):
                session.run(self._statements["remove"], _place(row.state_key))
                session.run(self._statements["drop_untold"], _place(row.state_key))
            self._write(session, rows, events, number)

    def _numbered(self, session: DatabaseSession, rows: Sequence[PipeDoc]) -> int:
        """The number of the first of these changes."""
        if not rows:
            return 0
        found = session.rows(self._statements["count_changes"], {"count": len(rows)})
        return int(found[0][0]) - len(rows) + 1

    def _note_changes(self, session: DatabaseSession, rows: Sequence[PipeDoc], number: int) -> None:
        session.run_many(
            self._statements["note_change"],
            [_changed(row, each) for each, row in enumerate(rows, number)],
        )

    def _write(self, session: DatabaseSession, rows: Sequence[PipeDoc], events: Sequence[Event], number: int) -> None:
        session.run_many(self._statements["put"], [self._row_values(row) for row in rows])
        self._note_changes(session, rows, number)
        session.run_many(self._statements["add_untold"], [_place(row.state_key) for row in rows])
        self._add_events(session, events)

    def _add_events(self, session: DatabaseSession, events: Sequence[Event]) -> None:
        session.run_many(self._statements["add_event"], [self._event_values(event) for event in events])

    def states(self, account: str, doc: str, cluster: Selection, *, deleted: bool) -> list[PipeDoc]:
        names = {Which.EVERY: "states_every", Which.CLUSTERS: "states_in_clusters"}
        name = "states_in_cluster"
        if isinstance(cluster, Which):
            name = names[cluster]
        values: dict[str, object] = {"account": account, "doc": doc}
        if not isinstance(cluster, Which):
            values["cluster"] = cluster or ""
        rows = self._query(name, values)
        return [row for row in rows if deleted or row.deleted_at is None]

    def page(
        self,
        account: str,
        *,
        datasource: str | None,
        cluster: str | None,
        kind: Kind | None,
        after: Cursor | None,
        limit: int,
        deleted: bool,
    ) -> list[PipeDoc]:
        values: dict[str, object] = {"account": account, "limit": limit, "deleted": int(deleted)}
        values["after_doc"] = after.doc if after else ""
        values["after_cluster"] = (after.cluster or "") if after else ""
        for name in ("address", "datasource", "connector"):
            values[f"after_{name}"] = getattr(after, name) if after else ""
        where = "" if kind == "intake" else cluster
        if datasource is not None:
            values["datasource"] = datasource
        if where is not None:
            values["cluster"] = where
        name = ("page", "page_of_cluster", "page_of_datasource", "page_of_datasource_and_cluster")[
            2 * (datasource is not None) + (where is not None)
        ]
        return self._query(name, values | {"states": int(kind == "state")})

    def scan(self, after: PipeDoc | None, limit: int) -> list[PipeDoc]:
        parts = ("account", "doc", "cluster", "address", "datasource", "connector")
        values = {part: (getattr(after, part) or "") if after else "" for part in parts}
        return self._query("scan", values | {"limit": limit})

    def clear(self) -> None:
        with self._database.transaction() as session:
            for name in ("clear_rows", "clear_events", "clear_memos", "clear_untold", "clear_learned"):
                session.run(self._statements[name], {})

    def _query(self, name: str, values: dict[str, Any]) -> list[PipeDoc]:
        with self._database.read() as session:
            return [self._read_row(columns) for columns in session.rows(self._statements[name], values)]

    # --- what catalogues tell each other

    def untold(self, limit: int) -> list[PipeDoc]:
        return self._query("untold", {"limit": limit})

    def untold_places(self) -> set[StateKey]:
        return self._places("untold_places")

    def mark_told(self, rows: Sequence[PipeDoc], entry: str) -> None:
        told = [_place(row.state_key) | {"version": row.version, "digest": row.digest} for row in rows]
        with self._database.transaction() as session:
            session.run_many(self._statements["told"], told)
            session.run(self._statements["add_learned"], {"entry": entry})

    def tell_again(self, states: Sequence[StateKey]) -> None:
        again = [_place(state) for state in states]
        with self._database.transaction() as session:
            session.run_many(self._statements["add_untold"], again)

    def learn(self, rows: Sequence[PipeDoc], entries: Sequence[str]) -> None:
        with self._database.transaction() as session:
            number = self._numbered(session, rows)
            self.routes.note(session, rows)
            session.run_many(self._statements["learn"], [self._row_values(row) for row in rows])
            self._note_changes(session, rows, number)
            session.run_many(self._statements["add_learned"], [{"entry": entry} for entry in entries])

    def is_learned(self, state: StateKey) -> bool:
        with self._database.read() as session:
            found = session.rows(self._statements["is_learned"], _place(state))
        return bool(found and found[0][0])

    def learned(self) -> set[str]:
        with self._database.read() as session:
            return {entry for (entry,) in session.rows(self._statements["learned"], {})}

    def forget_learned(self, entries: Sequence[str]) -> None:
        with self._database.transaction() as session:
            session.run_many(self._statements["forget_learned"], [{"entry": entry} for entry in entries])

    def places(self) -> set[StateKey]:
        return self._places("places")

    def _places(self, name: str) -> set[StateKey]:
        with self._database.read() as session:
            found = session.rows(self._statements[name], {})
        return {
            StateKey(uuid, cluster or None, connector, datasource) for uuid, cluster, connector, datasource in found
        }

    def fact(self, name: str, *, begin: str | None = None) -> str | None:
        if begin is not None:
            with self._database.transaction() as session:
                session.run(self._statements["begin_fact"], {"name": name, "value": begin})
        with self._database.read() as session:
            found = session.rows(self._statements["fact"], {"name": name})
        return str(found[0][0]) if found else None

    def set_fact(self, name: str, value: str) -> None:
        with self._database.transaction() as session:
            session.run(self._statements["set_fact"], {"name": name, "value": value})

    # --- for those who watch

    def latest_change(self) -> int:
        with self._database.read() as session:
            return int(session.rows(self._statements["latest_change"], {})[0][0])

    def changes_after(self, account: str, number: int, limit: int) -> list[tuple[int, PipeDoc]]:
        """The states that changed since, in the order in which they did: of each only its latest change."""
        values = {"account": account, "after": number, "limit": limit}
        with self._database.read() as session:
            rows = session.rows(self._statements["changes_after"], values)
        return [(number, self._read_row(columns)) for *columns, number in rows]

    # --- events

    def waiting(self, limit: int) -> list[Event]:
        with self._database.read() as session:
            return [self._read_event(row) for row in session.rows(self._statements["waiting"], {"limit": limit})]

    def mark_published(self, event_ids: Sequence[str], at: datetime) -> None:
        moment = self._database.write_time(at)
        with self._database.transaction() as session:
            session.run_many(
                self._statements["mark_published"], [{"event_id": event_id, "at": moment} for event_id in event_ids]
            )

    def known_events(self, event_ids: Collection[str]) -> set[str]:
        statement = self._statements["known_event"]
        with self._database.read() as session:
            return {event_id for event_id in event_ids if session.rows(statement, {"event_id": event_id})}

    def scan_events(self, after: int, limit: int) -> list[OutboxEntry]:
        read = self._database.read_time
        with self._database.read() as session:
            found = session.rows(self._statements["scan_events"], {"after": after, "limit": limit})
        return [
            OutboxEntry(number, self._read_event(columns), None if published is None else read(published))
            for *columns, number, published in found
        ]

    def remove_events(self, event_ids: Sequence[str]) -> None:
        with self._database.transaction() as session:
            session.run_many(self._statements["remove_event"], [{"event_id": event_id} for event_id in event_ids])

    def prune_events(self, before: datetime) -> int:
        moment = self._database.write_time(before)
        with self._database.transaction() as session:
            session.run(self._statements["mark"], {"name": _PRUNED, "at": moment})
            return session.run(self._statements["prune_events"], {"before": moment})

    def pruned_before(self) -> datetime | None:
        with self._database.read() as session:
            found = session.rows(self._statements["read_mark"], {"name": _PRUNED})
        if found:
            return self._database.read_time(found[0][0])
        return None

    def forget_versions(self, versions: Sequence[tuple[StateKey, str]], *, deletions: bool = False) -> None:
        values = [_place(state) | {"digest": digest, "deletions": int(deletions)} for state, digest in versions]
        with self._database.transaction() as session:
            session.run_many(self._statements["forget_version"], values)

    # --- memos

    def remember(self, memo: Memo) -> None:
        values = self._memo_values(memo)
        self._together.write(lambda session: session.run(self._statements["remember"], values))

    def recall_many(self, questions: Sequence[MemoQuestion]) -> list[Memo | None]:
        asked = [question._asdict() for question in questions]
        with self._database.read() as session:
            found = session.rows_many(self._statements["recall"], asked)
        return [self._read_memo(rows[0]) if rows else None for rows in found]

    def forget(self, account: str, doc: str) -> None:
        with self._database.transaction() as session:
            for name in ("forget", "drop_waiting", "forget_outcomes"):
                session.run(self._statements[name], {"account": account, "doc": doc})


def _changed(row: PipeDoc, number: int) -> dict[str, object]:
    return _place(row.state_key) | {"account": row.account, "number": number}


def _place(state: StateKey) -> dict[str, object]:
    return state._asdict() | {"cluster": state.cluster or ""}
