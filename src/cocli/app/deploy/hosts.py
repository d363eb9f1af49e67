"""Several hosts side by side: each goes its own way, and one that fails keeps no other from its end."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from cocli.app.deploy.packages import packages_archive
from cocli.app.deploy.releases import lock_text
from cocli.app.deploy.ssh import SshHost
from cocli.app.deploy.steps import HostOutcome, HostSteps
from cocli.errors import CocliError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cocli.app.deploy.packages import Platform
    from cocli.app.deploy.releases import Release
    from cocli.app.deploy.ssh import SshSettings
    from cocli.app.deploy.steps import DeploySettings
    from cocli.app.deploy.targets import DeployTarget, Serving
    from cocli.config.places import Environment

_AT_A_TIME = 16


class Fleet:
    """The hosts of one command. `tell` hears of every step, from several threads one at a time."""

    def __init__(
        self,
        targets: Sequence[DeployTarget],
        ssh: SshSettings,
        environ: Environment,
        tell: Callable[[str, str, float], None],
    ) -> None:
        self._targets = targets
        self._ssh = ssh
        self._environ = environ
        self._lock = threading.Lock()
        self._making = threading.Lock()
        self._tell = tell

    def deploy(self, release: Release, serving: Sequence[Serving], settings: DeploySettings) -> list[HostOutcome]:
        return self._each(settings, lambda steps: steps.deploy(release, lock_text, self._packages, serving))

    def rollback(self, serving: Sequence[Serving], settings: DeploySettings) -> list[HostOutcome]:
        return self._each(settings, lambda steps: steps.rollback(serving))

    def ask(self, action: str, **request: Any) -> dict[str, dict[str, Any] | CocliError]:
        """One question to every host: its answer, or why there is none."""
        with ThreadPoolExecutor(_AT_A_TIME) as pool:
            answers = pool.map(lambda target: self._asked(target, action, request), self._targets)
            return dict(zip([target.name for target in self._targets], answers, strict=True))

    def _asked(self, target: DeployTarget, action: str, request: dict[str, Any]) -> dict[str, Any] | CocliError:
        host = SshHost(target.address, self._ssh)
        try:
            return host.ask(action, **request)
        except CocliError as error:  # told with the others
            return error
        finally:
            host.close()

    def _packages(self, lock: str, platform: Platform) -> bytes:
        with self._making:  # hosts of one kind wait for the one archive
            return packages_archive(lock, platform, self._environ)

    def _each(self, settings: DeploySettings, way: Callable[[HostSteps], None]) -> list[HostOutcome]:
        with ThreadPoolExecutor(_AT_A_TIME) as pool:
            return list(pool.map(lambda target: self._one(target, settings, way), self._targets))

    def _one(self, target: DeployTarget, settings: DeploySettings, way: Callable[[HostSteps], None]) -> HostOutcome:
        host = SshHost(target.address, self._ssh)
        steps = HostSteps(target, host, settings, self._say)
        try:
            way(steps)
        except CocliError as error:  # told with the others
            steps.outcome.problem = error
        finally:
            host.close()
        return steps.outcome

    def _say(self, host: str, step: str, seconds: float) -> None:
        with self._lock:
            self._tell(host, step, seconds)
