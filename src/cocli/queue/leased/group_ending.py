"""Ending many claims together: what becomes of each is written side by side with what becomes of the others.

Each step of the protocol is taken for all of them before the next one. So many cost as many round trips and
synchronisations as one, and between any two steps there is nothing that ending them one by one would not leave.
"""

from __future__ import annotations

from contextlib import ExitStack
from operator import attrgetter
from typing import TYPE_CHECKING, Literal

from cocli import logs
from cocli.errors import CocliError, QueueError, StoreError
from cocli.models.completion import Empty, Failed, Ok
from cocli.queue.base import AckOutcome
from cocli.queue.leased.claimer import ClaimingQueue
from cocli.queue.leased.removal import SetAside
from cocli.store import settled
from cocli.store.base import Put

if TYPE_CHECKING:
    from abc import abstractmethod
    from collections.abc import Iterable, Sequence
    from contextlib import AbstractContextManager

    from cocli.models.lease import Lease
    from cocli.models.task import TaskError
    from cocli.queue.base import Claim, Verdict
    from cocli.queue.custody import WhyAside
    from cocli.queue.leased.claim import LeasedClaim
    from cocli.queue.leased.sideline import NewEntry
    from cocli.queue.leased.tally import NoTally, QueueChange

_LOG = logs.get_logger(__name__)


class GroupEndingQueue(ClaimingQueue):
    """How a worker ends what it has in hand, many at a time."""

    ends_together = True
    _tally: NoTally

    if TYPE_CHECKING:

        @abstractmethod
        def _count(
            self, change: QueueChange, claims: Iterable[LeasedClaim], created: Sequence[str | CocliError | None]
        ) -> None: ...

        @abstractmethod
        def _completed(self, claim: LeasedClaim, created: str | None) -> AckOutcome: ...

        @abstractmethod
        def _new_entry(self, claim: LeasedClaim, why: WhyAside) -> NewEntry: ...

        @abstractmethod
        def _free_lease(
            self, claim: LeasedClaim, outcome: Literal["failed", "released"], error: TaskError | None, seconds: float
        ) -> Lease: ...

        @abstractmethod
        def _next_lease(self, claim: LeasedClaim, lease: Lease) -> Lease: ...

        @abstractmethod
        def _replace_leases(self, leases: Sequence[tuple[LeasedClaim, Lease]]) -> list[CocliError | None]: ...

        @abstractmethod
        def _renew_many(self, claims: Sequence[LeasedClaim]) -> list[CocliError | None]: ...

    def ack_many(self, ended: Sequence[tuple[Claim, Verdict]]) -> list[AckOutcome | CocliError]:
        """End many claims: what becomes of each is written side by side with what becomes of others in the same way. An
        error stands where its outcome would."""
        results: dict[int, tuple[LeasedClaim, Ok | Empty]] = {}
        asides: dict[int, tuple[LeasedClaim, WhyAside]] = {}
        failures: dict[int, tuple[LeasedClaim, Failed]] = {}
        for number, (claim, verdict) in enumerate(ended):
            mine = self._ours(claim)
            if isinstance(verdict, (Ok, Empty)):
                results[number] = mine, verdict
            elif (why := self._why_aside(mine, verdict)) is not None:
                asides[number] = mine, why
            elif isinstance(verdict, Failed):
                failures[number] = mine, verdict
        outcomes = dict(zip(results, self._complete_all(list(results.values())), strict=True))
        outcomes |= zip(asides, self._set_all_aside(list(asides.values())), strict=True)
        outcomes |= zip(failures, self._give_all_back(list(failures.values())), strict=True)
        return [
            outcomes[number] if number in outcomes else self._ack_or_error(claim, verdict)
            for number, (claim, verdict) in enumerate(ended)
        ]

    def _complete_all(self, ended: list[tuple[LeasedClaim, Ok | Empty]]) -> list[AckOutcome | CocliError]:
        """Complete claims that are still ours: what came of each."""
        if not ended:
            return []
        claims = [claim for claim, _ in ended]
        with _all_writing(claims):
            lost = self._make_all_sure(claims)
            now = self._store.now()
            puts = [
                Put(
                    self._places.completion_of_folder(claim.folder),
                    self._completion(claim, verdict, now),
                    if_absent=True,
                )
                for claim, verdict in ended
                if claim.folder not in lost
            ]
            with self._tally.change() as change:
                answers = settled.create_many(self._store, puts)
                self._count(change, claims, answers)
            created = iter(answers)
            created_by = [lost.get(claim.folder) or next(created) for claim, _ in ended]
            for (claim, _), created_or_error in zip(ended, created_by, strict=True):
                claim.over = claim.over or not isinstance(created_or_error, CocliError)
        return [
            etag if isinstance(etag, CocliError) else self._completed(claim, etag)
            for (claim, _), etag in zip(ended, created_by, strict=True)
        ]

    def _give_all_back(self, ended: list[tuple[LeasedClaim, Failed]]) -> list[AckOutcome | CocliError]:
        """Let others try tasks that failed: what came of each."""
        if not ended:
            return []
        answers: dict[str, CocliError | None] = {}
        leases: list[tuple[LeasedClaim, Lease]] = []
        with _all_writing([claim for claim, _ in ended]):
            for claim, verdict in ended:
                try:
                    self._check(claim)
                    free = self._free_lease(claim, "failed", verdict.error, self._backoff(claim.attempt))
                except (QueueError, StoreError) as error:
                    answers[claim.folder] = error
                else:
                    leases.append((claim, self._next_lease(claim, free)))
            for (claim, _), failure in zip(leases, self._replace_leases(leases), strict=True):
                answers[claim.folder] = failure
                claim.over = claim.over or failure is None
        for claim, _ in ended:
            if answers[claim.folder] is None:
                self._tell(_LOG, "task given back", claim.task.task_id, outcome="failed")
        return [answers[claim.folder] or AckOutcome.WAITING for claim, _ in ended]

    def _set_all_aside(self, ended: list[tuple[LeasedClaim, WhyAside]]) -> list[AckOutcome | CocliError]:
        """Set tasks aside that are still ours: what came of each."""
        if not ended:
            return []
        try:
            failed = self._keep_all_aside(ended)
            left = [claim for claim, _ in ended if claim.folder not in failed]
            failed |= self._cleaner.remove_many([SetAside(claim.folder, claim.task_etag, claim.etag) for claim in left])
        except (QueueError, StoreError) as error:
            return [error] * len(ended)
        for claim, why in ended:
            if claim.folder not in failed:
                told = {"category": why.category, "reason": why.reason}
                self._tell(_LOG, "task set aside", claim.task.task_id, **told)
        return [failed.get(claim.folder, AckOutcome.SIDELINED) for claim, _ in ended]

    def _keep_all_aside(self, ended: list[tuple[LeasedClaim, WhyAside]]) -> dict[str, CocliError]:
        """`_set_aside` up to the removal, each step for all claims side by side. Those that failed, by folder."""
        claims = [claim for claim, _ in ended]
        with _all_writing(claims), self._tally.change() as change:
            failed = self._make_all_sure(claims)
            ours = [(claim, why) for claim, why in ended if claim.folder not in failed]
            added = self._sideline.add_many([self._new_entry(claim, why) for claim, why in ours], self._store.now())
            kept = [claim for (claim, _), error in zip(ours, added, strict=True) if error is None]
            renewed = self._renew_many(kept)
            for claim, error in [
                *zip((claim for claim, _ in ours), added, strict=True),
                *zip(kept, renewed, strict=True),
            ]:
                if error is not None:
                    failed[claim.folder] = error
            for claim in claims:
                claim.over = claim.over or claim.folder not in failed
            if failed:
                change.doubt()
        return failed


def _all_writing(claims: list[LeasedClaim]) -> AbstractContextManager[object]:
    """Nobody else writes the leases of these claims. In one order: two who want the same do not wait for each other."""
    if len(claims) == 1:
        return claims[0].writing
    stack = ExitStack()
    for claim in sorted(claims, key=attrgetter("folder")):
        stack.enter_context(claim.writing)
    return stack
