"""One run: look, plan, then do it in an order in which nothing is ever nowhere.

Versions of indexes first, then what is new, then what is contested, deletions last. The state advances per batch,
after success; whoever interrupts a run loses none of what it did.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli import logs
from cocli.errors import CocliError, StoreError
from cocli.sync.conflicts import ConflictSettler
from cocli.sync.counts import forget_counts
from cocli.sync.decision import Action, SyncOptions
from cocli.sync.kinds import index_of, kind_of
from cocli.sync.pace import Throttle, batches
from cocli.sync.plan import SyncPlan, SyncStep, make_plan
from cocli.sync.report import IndexMoved, RunStanding, SyncReport, Whereabouts, nobody
from cocli.sync.state import SyncRow, fact_time, row_of
from cocli.sync.transfers import Transfers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from cocli.sync.indexes import IndexSyncer
    from cocli.sync.pair import SyncPair
    from cocli.sync.report import SyncWatcher
    from cocli.sync.selection import Selection

_LOG = logs.get_logger(__name__)


class Syncer:
    """`indexes` names folders of indexes that may exist, for runs that list nothing; `bandwidth` is bytes a second."""

    def __init__(
        self,
        pair: SyncPair,
        selection: Selection,
        options: SyncOptions,
        *,
        indexes: Iterable[str] = (),
        bandwidth: float | None = None,
        watcher: SyncWatcher = nobody,
    ) -> None:
        self._pair = pair
        self._selection = selection
        self._options = options
        self._indexes = tuple(indexes)
        self._throttle = Throttle(bandwidth, sleep=pair.sleep, monotonic=pair.monotonic)
        self._watcher = watcher

    def plan(self) -> SyncPlan:
        """What a run would do to files. `look_at_indexes` says it of indexes."""
        if self._selection.only_versions:
            return SyncPlan()
        return make_plan(self._pair, self._selection, self._options)

    def look_at_indexes(self, plan: SyncPlan) -> list[IndexMoved]:
        """What a run would do to the versions of indexes."""
        found = []
        for folder in self._folders(plan):
            try:
                found.append(self._index(folder).look())
            except CocliError as error:
                plan.failed[f"{folder}LATEST"] = error
        return found

    def run(self, *, many_deletions: bool = False, emptied: bool = False) -> SyncReport:
        """Do it. `TooManyDeletions` and `SideEmptied`, before anything was done, unless they are said to be meant."""
        with logs.bound(host=self._pair.host, campaign=self._selection.campaign):
            report = self._run(many_deletions, emptied)
            _log_outcome(report, self._options)
        return report

    def _run(self, many_deletions: bool, emptied: bool) -> SyncReport:
        started = self._pair.monotonic()
        plan = self.plan()
        if not emptied:
            plan.check_sides()
        if not many_deletions:
            plan.check_deletions()
        report = SyncReport(failed=plan.failed, skipped=plan.skipped, unchanged=plan.unchanged)
        _Run(self._pair, self._options, plan, report, self._throttle, self._watcher).files_and(self._move_indexes)
        report.seconds = self._pair.monotonic() - started
        self._remember(report)
        return report

    def _move_indexes(self, plan: SyncPlan, report: SyncReport) -> dict[str, Whereabouts]:
        standings: dict[str, Whereabouts] = {}
        for folder in self._folders(plan):
            try:
                moved, standings[folder] = self._index(folder).sync()
                report.indexes.append(moved)
            except CocliError as error:
                report.failed[f"{folder}LATEST"] = error  # one damaged index does not stop the others
        return standings

    def _folders(self, plan: SyncPlan) -> list[str]:
        if self._selection.only_versions or not self._sees_indexes():
            found = {*self._indexes, *self._pair.state.indexes()}
        else:
            found = plan.pointers
        return sorted(folder for folder in found if self._selection.wants_index(folder))

    def _sees_indexes(self) -> bool:
        """Whether the folders that are listed hold the pointers of all indexes."""
        return "" in self._selection.folders()

    def _index(self, folder: str) -> IndexSyncer:
        from cocli.sync.indexes import IndexSyncer  # here, because all of the index comes with it

        return IndexSyncer(self._pair, folder, self._options.direction, self._throttle)

    def _remember(self, report: SyncReport) -> None:
        now = fact_time(self._pair.now())
        facts = {"last_run": now, "last_direction": self._options.direction.value}
        if not report.failed:
            facts["last_whole_run"] = now
        self._pair.state.remember(facts)


class _Run:
    """The doing of one plan."""

    def __init__(
        self,
        pair: SyncPair,
        options: SyncOptions,
        plan: SyncPlan,
        report: SyncReport,
        throttle: Throttle,
        watcher: SyncWatcher,
    ) -> None:
        self._pair = pair
        self._plan = plan
        self._report = report
        self._throttle = throttle
        self._watcher = watcher
        self._transfers = Transfers(pair, report, throttle)
        self._settler = ConflictSettler(pair, report, throttle, options.direction)
        self._options = options
        self._of_files = len(plan.steps)
        self._of_bytes = plan.bytes
        self._files = self._bytes = 0

    def files_and(self, move_indexes: Callable[[SyncPlan, SyncReport], dict[str, Whereabouts]]) -> None:
        plan, report, transfers = self._plan, self._report, self._transfers
        self._pair.state.advance(plan.refreshed, [step.key for step in plan.of(Action.FORGET)], brought=False)
        report.counts["forgotten"] += len(plan.of(Action.FORGET))
        standings = move_indexes(plan, report)
        self._adopt(plan.of(Action.ADOPT))
        self._forget_counts()
        contested = self._in_batches(plan.of(Action.UPLOAD), transfers.upload)
        contested += self._in_batches(plan.of(Action.DOWNLOAD), transfers.download)
        self._in_batches([*plan.of(Action.SETTLE), *_fresh(contested)], self._settle)
        self._send_copies()
        self._delete(standings)
        self._forget_counts()
        self._count_what_is_left()

    def _forget_counts(self) -> None:
        """Only where one was seen: most queues are too small to have one."""
        plan = self._plan
        there, here = (Action.UPLOAD, Action.DELETE_THERE), (Action.DOWNLOAD, Action.DELETE_HERE)
        forget_counts(self._pair.bucket, (step.key for step in plan.of(*there)), plan.there)
        forget_counts(self._pair.folder.store, (step.key for step in plan.of(*here)), plan.here)

    def _settle(self, steps: Sequence[SyncStep]) -> list[SyncStep]:
        self._settler.settle(steps)
        return []

    def _send_copies(self) -> None:
        """What was kept beside something is sent at once, so that a second run has nothing to do."""
        if not self._options.direction.up:
            return
        copies = [
            SyncStep(key, kind_of(key), Action.UPLOAD, self._pair.folder.stamp(key), None, None)
            for key in self._settler.copies
        ]
        contested = self._transfers.upload(copies)
        self._settler.settle(_fresh(contested))

    def _adopt(self, steps: Sequence[SyncStep]) -> None:
        looked = self._pair.folder.now_ns()
        rows: dict[str, SyncRow] = {
            step.key: row_of(step.stamp, looked, "", step.there.etag or "")
            for step in steps
            if step.stamp is not None and step.there is not None
        }
        self._pair.state.advance(rows)
        self._report.counts["adopted"] += len(rows)

    def _delete(self, standings: dict[str, Whereabouts]) -> None:
        """Last, and only what the other side has lost for good: a record that was packed is in a version over here."""
        there = [step for step in self._plan.of(Action.DELETE_THERE) if self._may_go(step, standings)]
        here = [step for step in self._plan.of(Action.DELETE_HERE) if self._may_go(step, standings)]
        self._in_batches(there, self._transfers.delete_there)
        self._in_batches(here, self._transfers.delete_here)

    def _may_go(self, step: SyncStep, standings: dict[str, Whereabouts]) -> bool:
        if not step.kind.consumed:
            return True
        folder = index_of(step.key) or ""
        standing = standings.get(folder)
        if standing is None:
            # Not looked at because neither pointer moved, or there is none: then it was not packed but removed.
            settled = f"{folder}LATEST" in self._plan.here and folder not in self._plan.pointers
            may = settled or self._options.delete
        else:
            may = standing.there_has_ours if step.action is Action.DELETE_THERE else standing.here_has_theirs
        if not may:
            held = "held_here" if step.action is Action.DELETE_THERE else "held_there"
            self._report.counts[held] += 1
        return may

    def _count_what_is_left(self) -> None:
        for step in self._plan.steps:
            if step.action is Action.HOLD:
                held = "held_here" if step.stamp is None else "held_there"
                self._report.counts[held] += 1
            elif step.action in (Action.BEHIND, Action.AHEAD):
                self._report.counts[step.action.value] += 1

    def _in_batches(
        self, steps: Sequence[SyncStep], act: Callable[[Sequence[SyncStep]], list[SyncStep] | None]
    ) -> list[SyncStep]:
        contested: list[SyncStep] = []
        for batch in batches(steps, self._throttle.batch_bytes):
            try:
                contested += act(batch) or []
            except StoreError as error:
                # Nothing of the batch is known to be done: its files are tried again by the next run.
                self._report.failed.update({step.key: error for step in batch})
            self._files += len(batch)
            self._bytes += sum(step.size for step in batch)
            self._watcher(RunStanding(self._files, self._of_files, self._bytes, self._of_bytes))
        return contested


def _log_outcome(report: SyncReport, options: SyncOptions) -> None:
    for key, error in report.failed.items():
        _LOG.warning("%s was not brought over: %s", key, error.message)
    for moved in report.indexes:
        _LOG.debug("index %s: %s, version %d", moved.folder, moved.outcome, moved.version)
    told = {name: count for name, count in report.counts.items() if count}
    told |= {"bytes_up": report.bytes_up, "bytes_down": report.bytes_down, "failed": len(report.failed)}
    _LOG.info("sync done: %s, %.1f s", options.direction.value, report.seconds, extra=told)


def _fresh(steps: Iterable[SyncStep]) -> list[SyncStep]:
    """What turned out to be contested: the listing is out of date, so the object is to be read."""
    return [SyncStep(step.key, step.kind, Action.SETTLE, step.stamp, None, step.row) for step in steps]
