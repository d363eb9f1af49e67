"""A crew on a Ray cluster, for millions of documents: `pip install 'cocli[ray]'`. One actor per worker.

Every machine of the cluster needs the same cocli and the graph's code, and reaches the store and the catalogue by the
same addresses: a bucket and PostgreSQL, or a folder that all of them see. The tables are written by who runs the job.
"""

from __future__ import annotations

from contextlib import ExitStack
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Self

from cocli.documents.replay.plan import ReplayPlan
from cocli.documents.replay.work import ReplayWork, work_on
from cocli.errors import CocliError, CrewLost, MissingExtra, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cocli.documents.replay.engines.workplace import Workplace
    from cocli.models.document import DocumentReference


class RayCrew:
    """Fits `replay.crew.Crew`. Without an `address`, Ray uses the cluster that it finds or starts one here.

    `options` are those of Ray's actors (`num_cpus`, `scheduling_strategy`), `settings` those of `ray.init`. A Ray that
    runs in this process already is used, and not shut down.
    """

    def __init__(
        self,
        workplace: Workplace,
        *,
        jobs: int,
        address: str | None = None,
        options: Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        if jobs < 1:
            raise UsageError(reason=f"a crew has at least one worker, not {jobs}")
        try:
            import ray
        except ImportError as error:
            raise MissingExtra(feature="A replay on a Ray cluster", package="ray", extra="ray") from error
        self.size = jobs
        self._ray: Any = ray
        self._workplace = workplace
        self._address = address
        self._options = {"num_cpus": 1, **(options or {})}
        self._settings = dict(settings or {})
        self._free: SimpleQueue[Any] = SimpleQueue()
        self._actors: list[Any] = []
        self._is_ours = False

    def __enter__(self) -> Self:
        try:
            self._connect()
            worker = self._ray.remote(**self._options)(RayWorker)
            self._actors = [worker.remote(self._workplace) for _ in range(self.size)]
            for actor in self._actors:
                self._answer(actor.ready.remote())
                self._free.put(actor)
        except BaseException:  # also Ctrl-C: no worker is left behind
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def work(self, plan: ReplayPlan, references: Sequence[DocumentReference]) -> ReplayWork:
        actor = self._free.get()
        try:
            answer = self._answer(actor.work.remote(plan.text(), list(references)))
        finally:
            self._free.put(actor)
        if not isinstance(answer, ReplayWork):
            raise CrewLost(job="?", reason="a worker on Ray gave no answer")
        return answer

    def places(self) -> list[str]:
        """The Ray nodes that the workers are on."""
        return [str(self._answer(actor.place.remote())) for actor in self._actors]

    def close(self) -> None:
        for actor in self._actors:
            self._ray.kill(actor)
        self._actors = []
        if self._is_ours:
            self._ray.shutdown()
            self._is_ours = False

    def _connect(self) -> None:
        if self._ray.is_initialized():
            return
        try:
            self._ray.init(address=self._address, log_to_driver=False, configure_logging=False, **self._settings)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise CrewLost(job="?", reason=f"Ray cannot be reached: {error}") from error
        self._is_ours = True

    def _answer(self, waiting: Any) -> object:
        try:
            answer = self._ray.get(waiting)
        except self._ray.exceptions.RayError as error:
            raise CrewLost(job="?", reason=f"a worker on Ray is gone: {type(error).__name__}") from error
        if isinstance(answer, CocliError):
            raise answer
        return answer


class RayWorker:
    """In an actor. Errors are answers: Ray would wrap them otherwise."""

    def __init__(self, workplace: Workplace) -> None:
        self._workplace = workplace
        self._open = ExitStack()
        self._engine: Any = None

    def ready(self) -> CocliError | None:
        try:
            self._engine = self._open.enter_context(self._workplace.opened())
        except CocliError as error:
            return error
        return None

    def work(self, plan: str, references: Sequence[DocumentReference]) -> ReplayWork | CocliError:
        try:
            return work_on(self._engine, ReplayPlan.parse(plan), references)
        except CocliError as error:
            return error

    def place(self) -> str:
        import ray

        return str(ray.get_runtime_context().get_node_id())
