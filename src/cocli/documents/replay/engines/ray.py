"""A crew on a Ray cluster, for millions of documents: `pip install 'cocli[ray]'`. One actor per worker.

Every machine of the cluster needs the same cocli and the graph's code, and reaches the store and the catalogue by the
same addresses: a bucket and PostgreSQL, or a folder that all of them see. The tables are written by who runs the job.

Whoever reaches a Ray cluster can run programs on it. One that is started here listens on this machine alone; one on
other machines has to ask for a token (`RAY_AUTH_MODE=token`), or is refused.
"""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from ipaddress import ip_address
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Self

from cocli.documents.replay.plan import ReplayPlan
from cocli.documents.replay.work import ReplayWork, work_on
from cocli.errors import CocliError, CrewLost, MissingExtra, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cocli.documents.replay.engines.workplace import Workplace
    from cocli.models.document import DocumentReference


BEGIN_SECONDS = 120.0
"""Until a worker has to stand: a machine of the cluster loads the program first."""
WORK_SECONDS = 1800.0
"""Until a stretch of documents has to be done."""
_OBJECT_STORE_BYTES = 200_000_000
_WITH_TOKENS = "token"


class RayCrew:
    """Fits `replay.crew.Crew`. Without an `address`, Ray uses that of `RAY_ADDRESS`, or starts a cluster here.

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
        begin_seconds: float = BEGIN_SECONDS,
        work_seconds: float = WORK_SECONDS,
    ) -> None:
        if jobs < 1:
            raise UsageError(reason=f"a crew has at least one worker, not {jobs}")
        address = address or os.environ.get("RAY_ADDRESS") or None
        check_address(address, os.environ)
        try:
            import ray
        except ImportError as error:
            raise MissingExtra(feature="A replay on a Ray cluster", package="ray", extra="ray") from error
        self.size = jobs
        self._ray: Any = ray
        self._workplace = workplace
        self._address = address
        self._options = {"num_cpus": 1, **(options or {})}
        self._settings = {**({} if address else _OF_OUR_OWN), **(settings or {})}
        self._begin_seconds = begin_seconds
        self._work_seconds = work_seconds
        self._free: SimpleQueue[Any] = SimpleQueue()
        self._actors: list[Any] = []
        self._is_ours = False

    def __enter__(self) -> Self:
        try:
            self._connect()
            self._check_processors()
            worker = self._ray.remote(**self._options)(RayWorker)
            self._actors = [worker.remote(self._workplace) for _ in range(self.size)]
            for actor in self._actors:
                self._answer(actor.ready.remote(), self._begin_seconds, "no worker stands")
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
            wanted = actor.work.remote(plan.text(), list(references))
            answer = self._answer(wanted, self._work_seconds, f"{len(references)} documents are not done")
        finally:
            self._free.put(actor)
        if not isinstance(answer, ReplayWork):
            raise CrewLost(job="?", reason="a worker on Ray gave no answer")
        return answer

    def places(self) -> list[str]:
        """The Ray nodes that the workers are on."""
        return [
            str(self._answer(actor.place.remote(), self._begin_seconds, "a worker does not answer"))
            for actor in self._actors
        ]

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

    def _check_processors(self) -> None:
        """More workers than the cluster has room for would wait for ever. Machines that are joining have a moment."""
        wanted = float(self._options["num_cpus"])
        until = time.monotonic() + self._begin_seconds / 4
        while (there := float(self._ray.cluster_resources().get("CPU", 0))) < wanted * self.size:
            if time.monotonic() >= until:
                break
            time.sleep(0.25)
        else:
            return
        most = int(there // wanted) if wanted else self.size
        reason = f"the Ray cluster has {there:g} processors, and {self.size} workers need {wanted * self.size:g}"
        raise UsageError(reason=reason, hint=f"Ask for fewer: --jobs {max(1, most)}; or add machines to the cluster.")

    def _answer(self, waiting: Any, seconds: float, late: str) -> object:
        try:
            answer = self._ray.get(waiting, timeout=seconds)
        except self._ray.exceptions.GetTimeoutError as error:
            free = self._ray.available_resources().get("CPU", 0)
            reason = f"{late} after {seconds:g} s; {free:g} processors of the Ray cluster are free"
            raise CrewLost(job="?", reason=reason) from error
        except self._ray.exceptions.RayError as error:
            raise CrewLost(job="?", reason=f"a worker on Ray is gone: {type(error).__name__}") from error
        if isinstance(answer, CocliError):
            raise answer
        return answer


_OF_OUR_OWN: Mapping[str, Any] = {
    "_node_ip_address": "127.0.0.1",
    "include_dashboard": False,
    "object_store_memory": _OBJECT_STORE_BYTES,
}
"""How a cluster is started here: on this machine alone, without a page that others could open, and bounded."""


def check_address(address: str | None, environ: Mapping[str, str]) -> None:
    """Refuse a cluster on other machines that anybody can use."""
    if address in (None, "local", "auto") or environ.get("RAY_AUTH_MODE", "").lower() == _WITH_TOKENS:
        return
    host = str(address).rpartition("://")[2].rpartition(":")[0].strip("[]") or str(address)
    if host != "localhost" and not _is_loopback(host):
        raise UsageError(
            reason=f"the Ray cluster at {host} is not on this machine, and whoever reaches it can run programs there",
            hint="Start it with RAY_AUTH_MODE=token, and set that and RAY_AUTH_TOKEN_PATH here as well.",
        )


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:  # a name, of some other machine
        return False


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
