"""The elected supervisor finishes a campaign: it looks what has changed, and has rounds done by a process of their own.

Settling can be done twice, so the election saves cost and nothing else. A round is worth its cost only if something
has changed since the last one: `standing` tells. What a round found is kept as `upkeep.json`, so that whoever is
elected next goes on from there.
"""

from __future__ import annotations

import secrets
import sys
import time
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from cocli import logs
from cocli.errors import FormatError, NotFound
from cocli.fleet.round import Round
from cocli.formats import json_records
from cocli.keys.paths import UpkeepKey
from cocli.models.heartbeat import UpkeepRecord
from cocli.store.settled import create, swap

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.app.machines.standing import CampaignStanding
    from cocli.app.workspace import Workspace
    from cocli.fleet.election import Election
    from cocli.fleet.round import RoundEnd
    from cocli.store.base import Store

_LOG = logs.get_logger(__name__)

POLL_SECONDS = 3.0
"""Between two looks of a supervisor for commands, where nobody says otherwise."""
_RENEWAL_SECONDS = 600.0
Step = Literal["records", "results", "sweep", "refresh"]
_DAY = timedelta(days=1)
_REFRESH = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class FinishTiming:
    """How often the elected supervisor looks, and how much of its time it spends. Seconds."""

    look: float = 5.0
    """Between two looks while something changes …"""
    idle: float = 30.0
    """… and at most, when nothing does."""
    settle: float = 10.0
    """Between the end of a round and the next, at least."""
    results: float = 300.0
    """Between two reports while the work goes on. When it rests, everything is made at once."""
    share: float = 4.0
    """A round is followed by so many times its length of rest: so a fifth of the time is spent on them, at most."""
    failed: float = 30.0
    """After a round that failed; twice as long after each that follows."""
    failed_longest: float = 600.0

    @classmethod
    def of_poll(cls, poll: float) -> FinishTiming:
        """For a supervisor that looks for commands so often: who wants to hear of changes sooner looks more often."""
        usual = cls()
        pace = poll / POLL_SECONDS
        return replace(usual, look=usual.look * pace, idle=min(usual.idle * pace, 60.0), settle=usual.settle * pace)


class Finisher:
    """`step` is called about once a second. It never waits for a round, only for the store."""

    def __init__(
        self,
        workspace: Workspace,
        campaign: str,
        host: str,
        election: Election,
        *,
        note: Callable[[str], None],
        timing: FinishTiming | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._workspace = workspace
        self._campaign = campaign
        self._host = host
        self._election = election
        self._note = note
        self._timing = timing or FinishTiming()
        self._clock = clock
        self._kept: _KeptRecord | None = None
        self._round: _Running | None = None
        self._look_at = 0.0
        self._looks = 0
        """That found nothing new, one after the other."""
        self._failures = 0
        self._finished_at: float | None = None
        self._renewal_at: float | None = None

    @property
    def elected(self) -> bool:
        return self._kept is not None

    def step(self) -> None:
        if not self._election.stand():
            self._give_up()
            return
        if self._kept is None:
            self._kept = _KeptRecord(self._workspace.campaign(self._campaign).store, self._campaign, self._host)
            self._look_at = 0.0
        if self._round is not None:
            self._attend(self._round, self._kept)
        elif self._clock() >= self._look_at:
            self._look(self._kept)

    def finish(self, seconds: float) -> None:
        """Do now what is still to be done, if this one is elected, for so long at most."""
        until = self._clock() + seconds
        self._finished_at = None
        while self._clock() < until:
            if self._round is None:
                self._look_at = 0.0
            looks = self._looks
            self.step()
            if self._kept is None or self._looks > looks:
                return  # somebody else does it, or there is nothing to do
            time.sleep(0.1)

    def close(self) -> None:
        self._give_up()
        self._election.close()

    def _give_up(self) -> None:
        """Another one is elected, or this one ends: what is half done is done by the next."""
        running, self._round, self._kept = self._round, None, None
        if running is not None:
            running.process.kill()

    # --- looking

    def _look(self, kept: _KeptRecord) -> None:
        before = self._standing()
        step = self._step_for(before, kept.record) or self._renewal()
        if step is None and before.quiet and kept.is_of_another_day and not before.empty:
            step = "sweep"
        if step is None and before.quiet and not before.empty and kept.is_to_be_refreshed and self._has_ages():
            step = "refresh"
        if step is not None:
            self._looks = 0
            self._begin(step, before)
            return
        self._looks += 1
        wait = min(self._timing.look * self._looks, self._timing.idle)
        self._look_at = self._clock() + wait

    def _step_for(self, standing: CampaignStanding, record: UpkeepRecord) -> Step | None:
        if standing.empty:
            return None
        if standing.records != record.seen:
            return "records"
        if standing.everything != record.finished and (standing.quiet or self._is_long_ago()):
            return "results"
        return None

    def _renewal(self) -> Step | None:
        """Signed links to what is published end with time, whether anything changes or not."""
        if self._renewal_at is None or self._clock() < self._renewal_at:
            self._renewal_at = self._renewal_at or self._clock() + _RENEWAL_SECONDS
            return None
        from cocli.app.campaigns.publication import needs_renewal

        self._renewal_at = self._clock() + _RENEWAL_SECONDS
        store = self._workspace.campaign(self._campaign).store
        return "results" if needs_renewal(store, self._campaign) else None

    def _has_ages(self) -> bool:
        """Whether the campaign wants anything to be read again."""
        wanted = self._workspace.campaign(self._campaign).settings.model().refresh
        return bool(wanted.every or wanted.sources or wanted.stages)

    def _is_long_ago(self) -> bool:
        return self._finished_at is None or self._clock() - self._finished_at >= self._timing.results

    def _standing(self) -> CampaignStanding:
        from cocli.app.indexes.indexes import campaign_indexes
        from cocli.app.machines.standing import look_at  # here: who is never elected needs none of it

        return look_at(campaign_indexes(self._workspace, self._campaign))

    # --- one round

    def _begin(self, step: Step, before: CampaignStanding) -> None:
        settings = self._workspace.settings
        store = ["--store", settings.flags.store] if settings.flags.store else []
        words = ["campaign", "settle", self._campaign, *store, "--step", step, "--json", "--quiet"]
        process = Round([sys.executable, "-m", "cocli", *words], settings.environ)
        self._round = _Running(step, process, before, self._clock())

    def _attend(self, running: _Running, kept: _KeptRecord) -> None:
        end = running.process.ended()
        if end is None:
            return
        self._round = None
        took = self._clock() - running.started
        if end.problem is not None:
            self._failed(kept, end.problem)
            return
        self._failures = 0
        if running.step == "records":
            self._settled(kept, running, end, took)
        elif running.step == "sweep":
            kept.swept(self._election.token)
        elif running.step == "refresh":
            kept.refreshed(self._election.token)
        else:
            self._finished_at = self._clock()
            kept.finished(self._election.token, running.before.everything, took)
        self._look_at = self._clock() + max(self._timing.settle, took * self._timing.share)

    def _settled(self, kept: _KeptRecord, running: _Running, end: RoundEnd, took: float) -> None:
        """Settled is what a round leaves as it was: after one that changed something, or beside which somebody wrote,
        another one follows. What is worth showing is shown without waiting for that."""
        after = self._standing()
        seen = after.records if after.records == running.before.records else {}
        kept.settled(self._election.token, seen, int(end.told.get("prospects", 0)), took)
        if after.everything != kept.record.finished and (after.quiet or self._is_long_ago()):
            self._begin("results", after)

    def _failed(self, kept: _KeptRecord, problem: str) -> None:
        self._failures += 1
        wait = min(self._timing.failed * 2 ** (self._failures - 1), self._timing.failed_longest)
        self._look_at = self._clock() + wait
        self._note(f"{self._campaign} could not be finished, again in {wait:.0f} s: {problem}")
        kept.failed(self._election.token, problem)


@dataclass(frozen=True, slots=True)
class _Running:
    step: Step
    process: Round
    before: CampaignStanding
    started: float


class _KeptRecord:
    """`upkeep.json`. Every write names the version it replaces; where another one wrote, that one is elected."""

    def __init__(self, store: Store, campaign: str, host: str) -> None:
        self._store = store
        self._key = str(UpkeepKey(campaign))
        self._host = host
        self._etag: str | None = None
        self.record = UpkeepRecord(campaign=campaign, host=host, token=1, nonce=_nonce())
        try:
            stored = store.get(self._key)
        except NotFound:
            return
        self._etag = stored.etag
        try:
            self.record = json_records.read(UpkeepRecord, stored.data, file=self._key)
        except FormatError:
            _LOG.warning("%s cannot be read: everything is looked at anew", self._key)

    @property
    def is_of_another_day(self) -> bool:
        swept_at = self.record.swept_at
        return swept_at is None or self._store.now() - swept_at >= _DAY

    @property
    def is_to_be_refreshed(self) -> bool:
        refreshed_at = self.record.refreshed_at
        return refreshed_at is None or self._store.now() - refreshed_at >= _REFRESH

    def refreshed(self, token: int) -> None:
        self._write(token, refreshed_at=self._store.now())

    def swept(self, token: int) -> None:
        self._write(token, swept_at=self._store.now())

    def settled(self, token: int, seen: dict[str, str], prospects: int, seconds: float) -> None:
        self._write(token, seen=seen, prospects=prospects, settled_at=self._store.now(), seconds=seconds)

    def finished(self, token: int, finished: dict[str, str], seconds: float) -> None:
        self._write(token, finished=finished, finished_at=self._store.now(), seconds=seconds)

    def failed(self, token: int, problem: str) -> None:
        self._write(token, problem=problem)

    def _write(self, token: int, **changes: object) -> None:
        values = {"problem": None, "token": max(token, 1), "host": self._host, "nonce": _nonce()} | changes
        self.record = self.record.with_changes(**values)
        data = json_records.render(self.record)
        if self._etag is None:
            etag = create(self._store, self._key, data)
        else:
            etag = swap(self._store, self._key, data, self._etag)
        if etag is None:  # written by another, or taken away: what is there now is what the next write replaces
            _LOG.info("%s was written by another supervisor", self._key)
            etag = self._current()
        self._etag = etag

    def _current(self) -> str | None:
        try:
            return self._store.get(self._key).etag
        except NotFound:
            return None


def read_upkeep(store: Store, campaign: str) -> UpkeepRecord | None:
    """What the elected supervisor has finished; None where none ever did, or it cannot be read."""
    key = str(UpkeepKey(campaign))
    try:
        return json_records.read(UpkeepRecord, store.get(key).data, file=key)
    except (NotFound, FormatError):
        return None  # it is made anew by the next round


def _nonce() -> str:
    return secrets.token_hex(12)
