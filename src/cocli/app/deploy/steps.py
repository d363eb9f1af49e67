"""One host, step by step: look, install beside what runs, check, switch, wait for the heartbeat; else go back."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial
from importlib import resources
from typing import TYPE_CHECKING, Any

from cocli.app.deploy.packages import Platform, packages_key
from cocli.errors import CocliError, DeploymentError, HostUnfit, NotFound, ReleaseRefused, StoreError
from cocli.formats import json_records
from cocli.formats.secrets import mask
from cocli.keys.paths import HeartbeatKey
from cocli.models.heartbeat import Heartbeat

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cocli.app.deploy.releases import Release
    from cocli.app.deploy.ssh import SshHost
    from cocli.app.deploy.targets import DeployTarget, Serving

    LockOf = Callable[[tuple[str, ...]], str]

CLOCK_SECONDS = 60.0
"""How far a host's clock may be off: leases and signatures of requests depend on it."""
_ROOM = 300 << 20
_UNPACKED = 4
"""How many times its archive the packages take."""
_LOOK_SECONDS = 0.25
_TOLD_LINES = 5


@dataclass(frozen=True, slots=True)
class HostPackages:
    """What a release needs on one host."""

    lock: str
    platform: Platform
    extras: tuple[str, ...]

    @property
    def key(self) -> str:
        return packages_key(self.lock, self.platform)


@dataclass(frozen=True, slots=True)
class DeploySettings:
    drain: float = 60.0
    """Seconds that workers have to end their tasks; then they give them back."""
    wait: float = 60.0
    """Seconds until the new release must have reported."""
    secrets: Mapping[str, str] | None = field(default=None, repr=False)
    dry_run: bool = False
    hotfix: bool = False
    """Only the program is replaced: nothing that supervisors were told changes."""
    extras: tuple[str, ...] | None = None
    """None: those that the host has."""


@dataclass(slots=True)
class HostOutcome:
    host: str
    outcome: str = "failed"
    """deployed, already, rolled_back, stopped, removed, failed; would_deploy in a dry run."""
    build: str | None = None
    before: str | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    problem: CocliError | None = field(default=None, repr=False)
    notes: list[str] = field(default_factory=list)

    @property
    def is_well(self) -> bool:
        return self.problem is None


class HostSteps:
    """What is done to one host. `tell` hears of every step: host, what was done, seconds."""

    def __init__(
        self, target: DeployTarget, ssh: SshHost, settings: DeploySettings, tell: Callable[[str, str, float], None]
    ) -> None:
        self._target = target
        self._ssh = ssh
        self._settings = settings
        self._tell = tell
        self.outcome = HostOutcome(target.name)

    # --- whole ways

    def deploy(
        self, release: Release, lock: LockOf, packages: Callable[[str, Platform], bytes], serving: Sequence[Serving]
    ) -> None:
        """To the heartbeat, or back. `lock` gives the packages that a release with some extras needs."""
        found = self._step("look", lambda: self._ssh.ask("look"))
        platform = self._preflight(found)
        self.outcome.before, self.outcome.build = found["current"], release.build
        extras = self._extras(found)
        needs = HostPackages(lock(extras), platform, extras)
        if self._is_there(found, release, serving, extras):
            self.outcome.outcome = "already"
            return
        if self._settings.hotfix and needs.key not in found["deps"]:
            hint = f"cocli deploy {self._target.name}"
            raise DeploymentError(host=self._target.name, reason="the packages have changed as well", hint=hint)
        if self._settings.dry_run:
            self._foretell(found, release, needs.key)
            return
        self._install(found, release, needs, packages)
        for group in serving[:1] if self._settings.hotfix else serving:
            self._switch(found, release, group, serving if self._settings.hotfix else [group])
        self._settle()
        self.outcome.outcome = "deployed"

    def rollback(self, serving: Sequence[Serving]) -> None:
        found = self._step("look", lambda: self._ssh.ask("look"))
        self.outcome.before = found["current"]
        if self._settings.dry_run:
            self.outcome.outcome, self.outcome.build = "would_roll_back", found["previous"]
            return
        before = self._started(serving)
        answer = self._step("switch", lambda: self._ssh.ask("rollback", drain=self._settings.drain))
        self.outcome.build = answer["current"]
        for group in serving:
            if not self._step("heartbeat", partial(self._reports, group, answer["current"], before)):
                raise self._silent(answer["current"])
        self._settle()
        self.outcome.outcome = "rolled_back"

    # --- steps

    def _step(self, name: str, action: Callable[[], Any]) -> Any:
        begin = time.monotonic()
        try:
            return action()
        finally:
            seconds = time.monotonic() - begin
            self.outcome.seconds[name] = round(self.outcome.seconds.get(name, 0.0) + seconds, 3)
            self._tell(self._target.name, name, seconds)

    def _preflight(self, found: Mapping[str, Any]) -> Platform:
        """Everything that would fail later, before anything is touched."""
        name = self._target.name
        if found["system"] != "Linux":
            raise HostUnfit(host=name, reason=f"it runs {found['system']}; cocli deploys to Linux")
        platform = Platform.of(name, found["machine"], found["python"], (found["libc"][0], found["libc"][1]))
        off = found["clock"] - time.time()
        if abs(off) > CLOCK_SECONDS:
            reason = f"its clock is {abs(off):,.0f} s {'ahead' if off > 0 else 'behind'}"
            hint = "Set its clock: timedatectl set-ntp true"
            raise HostUnfit(host=name, reason=reason, hint=hint)
        if not found["writable"]:
            hint = "Deploy with --sudo, as root, or into a folder of your own: --base DIR"
            raise HostUnfit(host=name, reason=f"{found['base']} cannot be written by this user", hint=hint)
        if found["free"] < _ROOM:
            raise self._full(found["free"], _ROOM)
        if found["manager"] == "process":
            self.outcome.notes.append("no systemd for this user: a process keeps it running, until the host restarts")
        return platform

    def _full(self, free: int, needed: int) -> HostUnfit:
        reason = f"its disk has {free / 1e6:,.0f} MB left; {needed / 1e6:,.0f} are needed"
        return HostUnfit(
            host=self._target.name, reason=reason, hint="Make room, or deploy into another folder: --base DIR"
        )

    def _extras(self, found: Mapping[str, Any]) -> tuple[str, ...]:
        """Those that were asked for, else those that the host has. A browser is a program of the host's system."""
        extras = tuple(found["extras"]) if self._settings.extras is None else self._settings.extras
        if "browser" in extras and not found["chromium"]:
            hint = f"On {self._target.name}, as root: apt install chromium"
            raise HostUnfit(host=self._target.name, reason="it has no Chromium", hint=hint)
        return extras

    def _is_there(
        self, found: Mapping[str, Any], release: Release, serving: Sequence[Serving], extras: tuple[str, ...]
    ) -> bool:
        if found["current"] != release.build or self._settings.secrets is not None or list(extras) != found["extras"]:
            return False
        running = {name["store"]: name["campaigns"] for name in found["instances"] if name["running"]}
        return all(set(group.campaigns) <= set(running.get(group.address, ())) for group in serving)

    def _foretell(self, found: Mapping[str, Any], release: Release, key: str) -> None:
        new = [] if key in found["deps"] else [f"packages {key}"]
        new += [] if release.build in found["releases"] else [f"release {release.build}"]
        self.outcome.outcome = "would_deploy"
        self.outcome.notes.append(f"would bring {', '.join(new) or 'nothing new'}, then switch and restart")

    def _install(
        self,
        found: Mapping[str, Any],
        release: Release,
        needs: HostPackages,
        packages: Callable[[str, Platform], bytes],
    ) -> None:
        files = {}
        if needs.key not in found["deps"]:
            files["packages"] = self._step("packages", lambda: packages(needs.lock, needs.platform))
            needed = len(files["packages"]) * _UNPACKED + _ROOM
            if found["free"] < needed:
                raise self._full(found["free"], needed)
        if release.build not in found["releases"]:
            files["wheel"] = release.data
        request = {"release": release.build, "deps": needs.key, "extras": needs.extras, "quick": self._settings.hotfix}
        self._step("install", lambda: self._ssh.ask("install", files, **request))

    def _switch(self, found: Mapping[str, Any], release: Release, group: Serving, reporting: Sequence[Serving]) -> None:
        """Make the release the current one. Whoever is `reporting` must tell so, else it is undone."""
        told = {} if self._settings.hotfix else self._told(found, group)
        before = self._started(reporting)
        try:
            self._step("switch", lambda: self._ask_to_switch(release, told))
            for other in reporting:
                if not self._step("heartbeat", partial(self._reports, other, release.build, before)):
                    raise self._silent(release.build)
        except CocliError as error:
            raise self._undone(error) from error

    def _settle(self) -> None:
        """Until the workers of the release before have gone. Those that do not are killed by their supervisor."""
        answer = self._step("settle", lambda: self._ssh.ask("settle", drain=self._settings.drain))
        if answer["left"]:
            self.outcome.notes.append(f"{answer['left']} workers of the release before still end their tasks")

    def _ask_to_switch(self, release: Release, told: Mapping[str, Any]) -> Any:
        drain = self._settings.drain
        return self._ssh.ask("switch", release=release.build, unit=unit_text(), drain=drain, **told)

    def _told(self, found: Mapping[str, Any], group: Serving) -> dict[str, Any]:
        """What the supervisor of a store is told. One that is there already goes on with its campaigns as well."""
        same = [entry for entry in found["instances"] if entry["store"] == group.address]
        instance = same[0]["name"] if same else group.campaigns[0]
        known = same[0]["campaigns"] if same else []
        campaigns = list(dict.fromkeys([*known, *group.campaigns]))
        values = {
            "COCLI_STORE": group.address,
            "CAMPAIGN_NAME": campaigns[0],
            "DEPLOYED_HOST": self._target.name,
            "DEPLOYED_CAMPAIGNS": " ".join(f"-c {name}" for name in campaigns),
            "DEPLOYED_EXTRAS": " ".join(self._extras(found)),
        }
        secrets = None if self._settings.secrets is None else dict(self._settings.secrets)
        return {"instance": instance, "settings": values, "secrets": secrets}

    def _undone(self, error: CocliError) -> CocliError:
        """Back to what ran before; what is told is the first problem, and that it was undone."""
        try:
            self._step("rollback", lambda: self._ssh.ask("rollback", undo=True, drain=self._settings.drain))
        except CocliError as second:
            reason = f"{error.message} And it could not be rolled back: {second.message}"
            return DeploymentError(
                host=self._target.name, reason=reason, hint=f"cocli deploy status {self._target.name}"
            )
        self.outcome.outcome = "rolled_back"
        self.outcome.build = self.outcome.before
        return error

    def _silent(self, build: str) -> ReleaseRefused:
        reason = f"no heartbeat of {build} within {self._settings.wait:g} s"
        try:
            answer = self._ssh.ask("logs", lines=_TOLD_LINES)
            said = [line for lines in answer["lines"].values() for line in lines if line.strip()]
        except CocliError:  # the first problem is the one to tell
            said = []
        if said:
            reason = f"{reason}; it said: {mask(' / '.join(said)[-500:])}"
        return ReleaseRefused(host=self._target.name, reason=reason)

    # --- heartbeats

    def _started(self, serving: Sequence[Serving]) -> dict[str, Any]:
        """When the supervisors began that report now: the new ones began later."""
        found = {group.address: self._heartbeat(group) for group in serving}
        return {address: None if beat is None else beat.started_at for address, beat in found.items()}

    def _heartbeat(self, group: Serving) -> Heartbeat | None:
        key = str(HeartbeatKey(self._target.name))
        try:
            return json_records.read(Heartbeat, group.store.get(key).data, file=key)
        except NotFound:
            return None
        except (StoreError, CocliError):  # the next look may do better; in the end its silence counts
            return None

    def _reports(self, group: Serving, build: str, before: Mapping[str, Any]) -> bool:
        until = time.monotonic() + self._settings.wait
        while True:
            beat = self._heartbeat(group)
            is_new = beat is not None and beat.started_at != before.get(group.address) and beat.stopped_at is None
            if beat is not None and is_new and beat.versions.build == build:
                return True
            if time.monotonic() > until:
                return False
            time.sleep(_LOOK_SECONDS)


def unit_text() -> str:
    """The unit as it is shipped, with its places still open."""
    return resources.files("cocli.app.deploy").joinpath("cocli-supervisor@.service").read_text("utf-8")
