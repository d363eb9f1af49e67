"""How commands reach a supervisor: each target has a queue, a command is a task, its completion the acknowledgement.

So a command that concerns the campaign is executed by one of its supervisors, also when that one dies in the middle:
then by the next, and every command can be executed twice. They are executed in the order in which they were sent:
a FIFO queue of SQS hands out one at a time; on a store, whoever has a later one gives it back.
"""

from __future__ import annotations

from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from pydantic import ValidationError

from cocli import logs
from cocli.errors import CocliError, ConfigError, Conflict, HostEvicted, LeaseLost, NotFound, UsageError
from cocli.fleet.commands import command_queue
from cocli.fleet.eviction import read_eviction, refusal
from cocli.fleet.worker_name import host_of_sender
from cocli.keys.paths import task_folder, task_id_of
from cocli.models.command import Acknowledgement, Command
from cocli.models.completion import Failed, Ok
from cocli.models.record import explain
from cocli.models.task import TaskError
from cocli.queue.base import NewTask
from cocli.queue.places import Places
from cocli.queue.providers import get_queue, provider_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cocli.models.campaign import CampaignConfig
    from cocli.queue.base import Claim, Verdict, Work
    from cocli.queue.leased.queue import LeasedQueue
    from cocli.queue.sqs.queue import SqsQueue
    from cocli.store.base import Store

_LOG = logs.get_logger(__name__)

_TOGETHER = 20
"""Commands taken at a time: a store's claims come in no order, and have to be brought into one."""


def open_command_queue(
    config: CampaignConfig,
    store: Store,
    target: str,
    worker: str | None = None,
    gate: Callable[[], None] | None = None,
) -> LeasedQueue | SqsQueue:
    """By SQS where that carries the campaign's tasks, else in the store."""
    return get_queue(config, store, command_queue(target), worker=worker, gate=gate)


def command_task(command: Command, nonce: str) -> NewTask:
    """Named by the time it was sent, by the store's clock: names sort as commands were sent."""
    return NewTask(f"{command.sent_at:%Y%m%dT%H%M%S%f}-{nonce}", command.model_dump(mode="json"))


class CommandExecutor:
    """Takes the commands of one target, one after the other. `execute` does what one says, `config` is the newest."""

    def __init__(
        self,
        config: Callable[[], CampaignConfig],
        store: Store,
        target: str,
        execute: Callable[[Command], Acknowledgement],
        *,
        worker: str,
        say: Callable[[str], None],
        gate: Callable[[], None] | None = None,
    ) -> None:
        self._gate = gate
        self._config = config
        self._store = store
        self._target = target
        self._execute = execute
        self._worker = worker
        self._say = say
        self._queue: LeasedQueue | SqsQueue | None = None
        self._opened_for: object = None
        self._ordered = False
        self._stopped = False
        self.listening = False
        """Whether it only waits for what SQS may send: nobody needs to wait for the end of that."""

    def step(self) -> int:
        """Execute what waits now; how many commands came to an end. SQS is given some seconds to send one."""
        config = self._config()
        self.listening = provider_of(config).waits
        try:
            queue = self._open(config)
            claims = sorted(queue.claim_many(_TOGETHER), key=lambda claim: claim.task.task_id)
        finally:
            self.listening = False
        if self._stopped:
            self._give_back(queue, claims)
            return 0
        with ExitStack() as holding:
            works = [holding.enter_context(queue.held(claim)) for claim in claims]
            return self._in_order(queue, list(zip(claims, works, strict=True)))

    def stop(self) -> None:
        """Begin nothing more. Who does not listen then is executing a command, and ends soon."""
        self._stopped = True

    def close(self) -> None:
        queue, self._queue = self._queue, None
        if queue is not None:
            queue.close()

    def _open(self, config: CampaignConfig) -> LeasedQueue | SqsQueue:
        wanted = (config.queue.provider, config.aws)
        if self._queue is None or self._opened_for != wanted:
            self.close()
            self._queue = open_command_queue(config, self._store, self._target, self._worker, self._gate)
            self._opened_for = wanted
            self._ordered = provider_of(config).ordered
        return self._queue

    def _in_order(self, queue: LeasedQueue | SqsQueue, held: Sequence[tuple[Claim, Work]]) -> int:
        """Execute them as far as it is their turn, and give the others back; how many came to an end."""
        ended = 0
        for number, (claim, work) in enumerate(held):
            try:
                work.check()
                if not self._ordered and self._is_early(claim):
                    self._give_back(queue, [later for later, _ in held[number:]])
                    break
                task = claim.task
                with logs.bound(campaign=task.campaign, queue=task.queue, task=task.task_id):
                    queue.ack(claim, self._run(claim))
                ended += 1
            except LeaseLost:
                continue  # another supervisor took it over, and acknowledges it
        return ended

    def _give_back(self, queue: LeasedQueue | SqsQueue, claims: Sequence[Claim]) -> None:
        for claim in claims:
            with suppress(LeaseLost):  # then somebody else has it already
                queue.release(claim)

    def _is_early(self, claim: Claim) -> bool:
        """Whether a command that was sent before this one still waits, or is being executed by another."""
        places = Places(claim.task.campaign, claim.task.queue)
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

    def _refuse_evicted(self, command: Command) -> None:
        """What an evicted machine sent is not obeyed, also where it had been sent before."""
        found = read_eviction(self._store, host_of_sender(command.sent_by))
        if found is not None and found.holds:
            raise refusal(found)

    def _run(self, claim: Claim) -> Verdict:
        try:
            command = Command.model_validate(dict(claim.task.payload))
        except ValidationError as error:
            _LOG.warning("a command cannot be read: %s", explain(error))
            return Failed(error=TaskError(code="malformed", message=explain(error)[:500], retryable=False))
        told = {"verb": command.verb, "sent_by": command.sent_by}
        try:
            self._refuse_evicted(command)
            acknowledgement = self._execute(command)
        except CocliError as error:
            _LOG.warning("command failed: %s", error.message, extra=told)
            self._say(f"{command.verb} failed: {error.message}")
            refused = isinstance(error, (UsageError, ConfigError, HostEvicted))
            retryable = (error.retryable or isinstance(error, Conflict)) and not refused
            return Failed(error=TaskError(code=error.code, message=error.message[:500], retryable=retryable))
        _LOG.info("command executed: %s", acknowledgement.message, extra=told)
        self._say(f"{command.verb}: {acknowledgement.message}")
        return Ok(result=acknowledgement.model_dump(mode="json"))
