"""The outbox as those see it who empty it: takes events for a while, notes what became of them, counts what waits.

Several relays may work on one outbox. What one has taken is nobody else's until it was settled, or until its time is
over because the relay died: then it is taken, and sent, once more under the same id.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from cocli.documents.catalog.database import Database, DatabaseSession
    from cocli.documents.outbox import Event
    from cocli.models.document import StateKey

_LOCK = "relay"
_LONGEST_REASON = 1000


@dataclass(frozen=True, slots=True)
class TakenEvent:
    """`attempts` is how often sending it failed before."""

    event: Event
    attempts: int


@dataclass(frozen=True, slots=True)
class EventFailure:
    """An event that could not be sent: when it is tried again, or when it was set aside."""

    event_id: str
    reason: str
    retry_at: datetime | None = None
    set_aside_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class EventPlace:
    """The events of one state for one destination."""

    state: StateKey
    destination: str


@dataclass(frozen=True, slots=True)
class UnsentEvents:
    """What of an account was not sent to a destination yet: how many wait, how many were set aside, since when."""

    account: str
    destination: str
    waiting: int
    set_aside: int
    since: datetime
    attempts: int
    last_error: str | None


class OutboxTable:
    def __init__(self, database: Database, read_event: Callable[[Sequence[Any]], Event]) -> None:
        self._database = database
        self._statements = database.statements
        self._read_event = read_event
        self._last_account = ""

    # --- taking

    def take(self, limit: int, now: datetime, until: datetime) -> list[TakenEvent]:
        """Up to so many of those that wait longest, nobody else's until that moment.

        Accounts have equal shares: one with a million events makes nobody wait. What some do not need, others have."""
        with self._database.transaction() as session:
            self._database.lock(session, _LOCK)
            accounts = self._in_turn([row[0] for row in session.rows(self._statements["waiting_accounts"], {})])
            found: list[Sequence[Any]] = []
            while accounts and (left := limit - len(found)) > 0:
                share = -(-left // len(accounts))
                more = dict[str, int]()
                for account in accounts:
                    wanted = min(share, limit - len(found))
                    if wanted:
                        values = {"account": account, "limit": wanted}
                        taken = self._rows(session, "take_events", values, now, until)
                        found += taken
                        more[account] = len(taken)
                        self._last_account = account
                accounts = [account for account in accounts if more.get(account) == share]
            return self._taken(found)

    def _in_turn(self, accounts: list[str]) -> list[str]:
        """Whoever was behind the last one is first: where there are more accounts than places, each has its turn."""
        later = [account for account in accounts if account > self._last_account]
        return later + accounts[: len(accounts) - len(later)]

    def take_of(self, place: EventPlace, now: datetime, until: datetime) -> list[TakenEvent]:
        """All of one place, whether or not their next try is due."""
        with self._database.transaction() as session:
            self._database.lock(session, _LOCK)
            return self._taken(self._rows(session, "take_events_of", _values(place), now, until))

    def _rows(
        self, session: DatabaseSession, name: str, values: dict[str, object], now: datetime, until: datetime
    ) -> Sequence[Sequence[Any]]:
        write = self._database.write_time
        return session.rows(self._statements[name], values | {"now": write(now), "until": write(until)})

    def _taken(self, found: Sequence[Sequence[Any]]) -> list[TakenEvent]:
        in_turn = sorted(found, key=lambda columns: (columns[-2], columns[-1]))
        return [TakenEvent(self._read_event(columns[:-2]), columns[-2]) for columns in in_turn]

    def settle(self, published: Sequence[str], failures: Sequence[EventFailure], at: datetime) -> None:
        """What became of taken events."""
        moment = self._database.write_time(at)
        with self._database.transaction() as session:
            session.run_many(
                self._statements["mark_published"], [{"event_id": event_id, "at": moment} for event_id in published]
            )
            session.run_many(self._statements["note_failed_event"], [self._failure(failure) for failure in failures])

    def give_back(self, event_ids: Sequence[str]) -> None:
        """Nothing was sent: others may have them at once."""
        with self._database.transaction() as session:
            session.run_many(self._statements["give_back_event"], [{"event_id": event_id} for event_id in event_ids])

    def _failure(self, failure: EventFailure) -> dict[str, object]:
        write = self._database.write_time
        return {
            "event_id": failure.event_id,
            "reason": failure.reason[:_LONGEST_REASON],
            "retry_at": None if failure.retry_at is None else write(failure.retry_at),
            "set_aside_at": None if failure.set_aside_at is None else write(failure.set_aside_at),
        }

    # --- looking

    def unsent(self, place: EventPlace) -> list[str | None]:
        """For each event of a place that was not sent: why it was set aside, None if it waits."""
        with self._database.read() as session:
            found = session.rows(self._statements["unsent_events"], _values(place))
        return [None if set_aside_at is None else str(reason) for set_aside_at, reason in found]

    def count(self, account: str) -> int:
        """How many events of an account are there that were not sent, those that were set aside included."""
        with self._database.read() as session:
            return int(session.rows(self._statements["count_unsent_events"], {"account": account})[0][0])

    def by_destination(self) -> list[UnsentEvents]:
        with self._database.read() as session:
            found = session.rows(self._statements["unsent_by_destination"], {})
        return [
            UnsentEvents(account, to, int(waiting), int(aside), self._database.read_time(since), attempts, reason)
            for account, to, waiting, aside, since, attempts, reason in found
        ]

    # --- what a person decides

    def retry(self, account: str, destination: str) -> int:
        """Send what was set aside, or failed, as if it had never been tried; how many."""
        return self._decide("retry_events", account, destination)

    def resend(self, account: str, destination: str, since: datetime) -> int:
        """Send once more what was sent since then: for a broker that lost it. How many."""
        return self._decide("resend_events", account, destination, since=self._database.write_time(since))

    def drop(self, account: str, destination: str) -> int:
        """Forget what was set aside; how many."""
        return self._decide("drop_set_aside", account, destination)

    def _decide(self, name: str, account: str, destination: str, **more: object) -> int:
        values = {"account": account, "destination": destination, **more}
        with self._database.transaction() as session:
            return session.run(self._statements[name], values)


def _values(place: EventPlace) -> dict[str, object]:
    return place.state._asdict() | {"cluster": place.state.cluster or "", "destination": place.destination}
