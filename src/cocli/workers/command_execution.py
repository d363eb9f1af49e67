"""How commands reach a supervisor: each target has a queue, a command is a task, its completion the acknowledgement.

So a command that concerns the campaign is executed by one of its supervisors, also when that one dies in the middle:
then by the next, and every command can be executed twice. They are executed in the order in which they were sent.
"""

from __future__ import annotations

from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from pydantic import ValidationError

from cocli.errors import CocliError, ConfigError, Conflict, LeaseLost, NotFound, UsageError
from cocli.models.command import Acknowledgement, Command
from cocli.models.completion import Failed, Ok
from cocli.models.record import explain
from cocli.models.task import TaskError
from cocli.paths import task_folder, task_id_of
from cocli.queue.base import NewTask
from cocli.queue.leased import LeasedQueue
from cocli.queue.places import Places
from cocli.workers.commands import command_queue

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.queue.base import Claim, Verdict, Work
    from cocli.queue.claims import LeasedClaim
    from cocli.store.base import Store

LEASE_SECONDS = 6.0
"""After so long the next supervisor takes over what a dead one had begun."""
ATTEMPTS = 3
_MARGIN = 2.0
_TOGETHER = 20
"""Commands taken at a time: claims come in no order, and have to be brought into one."""


def open_command_queue(store: Store, campaign: str, target: str, worker: str | None = None) -> LeasedQueue:
    """Always in the store, whoever carries the campaign's other tasks: a handful of commands needs no broker."""
    return LeasedQueue(
        store,
        campaign,
        command_queue(target),
        worker=worker,
        lease_seconds=LEASE_SECONDS,
        attempts=ATTEMPTS,
        margin=_MARGIN,
    )


def command_task(command: Command, nonce: str) -> NewTask:
    """Named by the time it was sent, by the store's clock: names sort as commands were sent."""
    return NewTask(f"{command.sent_at:%Y%m%dT%H%M%S%f}-{nonce}", command.model_dump(mode="json"))


class CommandExecutor:
    """Takes the commands of some targets, one after the other. `execute` does what one says."""

    def __init__(
        self,
        store: Store,
        campaign: str,
        targets: tuple[str, ...],
        execute: Callable[[Command], Acknowledgement],
        *,
        worker: str,
        say: Callable[[str], None],
    ) -> None:
        self._store = store
        self._execute = execute
        self._say = say
        self._queues = [
            (open_command_queue(store, campaign, target, worker), Places(campaign, command_queue(target)))
            for target in targets
        ]

    def step(self) -> int:
        """Execute what waits now; how many commands came to an end."""
        return sum(self._serve(queue, places) for queue, places in self._queues)

    def close(self) -> None:
        for queue, _ in self._queues:
            queue.close()

    def _serve(self, queue: LeasedQueue, places: Places) -> int:
        done = 0
        while claims := sorted(queue.claim_many(_TOGETHER), key=lambda claim: claim.task.task_id):
            with ExitStack() as holding:
                works = [holding.enter_context(queue.held(claim)) for claim in claims]
                ended = self._in_order(queue, places, list(zip(claims, works, strict=True)))
            done += ended
            if ended < len(claims):
                break  # the rest has to wait for something
        return done

    def _in_order(self, queue: LeasedQueue, places: Places, held: list[tuple[LeasedClaim, Work]]) -> int:
        """Execute them as far as it is their turn, and give the others back; how many came to an end."""
        ended = 0
        for number, (claim, work) in enumerate(held):
            try:
                work.check()
                if self._is_early(claim, places):
                    self._give_back(queue, [later for later, _ in held[number:]])
                    break
                queue.ack(claim, self._run(claim))
                ended += 1
            except LeaseLost:
                continue  # another supervisor took it over, and acknowledges it
        return ended

    def _give_back(self, queue: LeasedQueue, claims: list[LeasedClaim]) -> None:
        for claim in claims:
            with suppress(LeaseLost):  # then somebody else has it already
                queue.release(claim)

    def _is_early(self, claim: Claim, places: Places) -> bool:
        """Whether a command that was sent before this one still waits, or is being executed by another."""
        folders = (task_folder(info.key) for info in self._store.list(places.pending))
        there = (task_id_of(found[0]) for found in folders if found is not None and not found[1])
        return any(not self._is_over(places, task_id) for task_id in there if task_id < claim.task.task_id)

    def _is_over(self, places: Places, task_id: str) -> bool:
        """Its task may lie there for a while after its end."""
        try:
            self._store.head(places.completion(task_id, batch=False))
        except NotFound:
            return False
        return True

    def _run(self, claim: Claim) -> Verdict:
        try:
            command = Command.model_validate(dict(claim.task.payload))
        except ValidationError as error:
            return Failed(error=TaskError(code="malformed", message=explain(error)[:500], retryable=False))
        try:
            acknowledgement = self._execute(command)
        except CocliError as error:
            self._say(f"{command.verb} failed: {error.message}")
            refused = isinstance(error, (UsageError, ConfigError))
            retryable = (error.retryable or isinstance(error, Conflict)) and not refused
            return Failed(error=TaskError(code=error.code, message=error.message[:500], retryable=retryable))
        self._say(f"{command.verb}: {acknowledgement.message}")
        return Ok(result=acknowledgement.model_dump(mode="json"))
