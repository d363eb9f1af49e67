"""Evicting a machine that was stolen or retired, and taking it back.

The record comes first, and every process of the machine that looks has seen it after a few seconds. Then its leases are
ended, each under a greater token, its commands are set aside, and its heartbeat says that it is gone. All of it can be
done twice: whoever was cut off in the middle runs it again.
"""

from __future__ import annotations

import re
import secrets
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cocli.app.campaigns.name import campaign_names
from cocli.app.machines.eviction_steps import EvictionArea, TakenBack, heartbeat_at, take_back
from cocli.app.machines.host_traces import HostTraces
from cocli.app.machines.this_machine import user_here
from cocli.app.queues.purge import parse_age
from cocli.config.schema import did_you_mean
from cocli.errors import CocliError, Conflict, FormatError, NotFound, UnknownHost, UsageError
from cocli.fleet.eviction import GRACE_SECONDS
from cocli.formats import json_records
from cocli.keys.paths import (
    ACCESS_FOLDER,
    EVICTIONS_FOLDER,
    STATUS_FOLDER,
    EvictionKey,
    HeartbeatKey,
    MachineAccessKey,
)
from cocli.models.heartbeat import Eviction, MachineAccess
from cocli.queue.providers import provider_of
from cocli.store import settled

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.app.workspace import Workspace
    from cocli.store.base import Store

_TRIES = 5
_AGE = re.compile(r"[0-9]{1,6}[smhdw]")
_HOST_KEYS: dict[str, type[HeartbeatKey | MachineAccessKey | EvictionKey]] = {
    STATUS_FOLDER: HeartbeatKey,
    ACCESS_FOLDER: MachineAccessKey,
    EVICTIONS_FOLDER: EvictionKey,
}


@dataclass(slots=True)
class KeyToRevoke:
    """The key that a machine signs with in one store, and who else does."""

    store: str
    access: MachineAccess | None
    shared_with: list[str] = field(default_factory=list)


@dataclass(slots=True)
class EvictionReport:
    host: str
    traces: HostTraces
    keys: list[KeyToRevoke]
    evicted: Eviction | None = None
    """The record; None where the machine was only looked at, and is not evicted."""
    already: bool = False
    """It had been evicted before."""
    taken: TakenBack = field(default_factory=TakenBack)
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class AdmissionReport:
    host: str
    status: str
    """admitted, or already_admitted."""
    evicted_at: datetime | None = None


def since_time(text: str, now: datetime) -> datetime:
    """`7d` or `12h` ago, a day, or a moment in UTC."""
    if _AGE.fullmatch(text.strip()):
        return now - parse_age(text)
    try:
        given = datetime.fromisoformat(text.strip())
    except ValueError as error:
        hint = "Write an age such as 7d, a day such as 2026-11-15, or a moment such as 2026-11-15T18:00:00Z."
        raise UsageError(reason=f'--since: "{text[:100]}" is not a time', hint=hint) from error
    return given.replace(tzinfo=given.tzinfo or UTC).astimezone(UTC)


def look_at_host(workspace: Workspace, host: str, since: datetime | None = None) -> EvictionReport:
    """What a machine holds and may have written; nothing is changed. `UnknownHost` where nothing knows it."""
    areas, problems = _areas(workspace)
    traces = _traces(workspace, areas, host, since)
    report = EvictionReport(host, traces, [_key_to_revoke(area.store, host) for area in areas], problems=problems)
    for area in areas:
        found, _ = _stored_eviction(area.store, host)
        if found is not None and found.holds:
            report.evicted, report.already = found, True
    report.problems += [f"{key} cannot be read: {message}" for key, message in traces.unreadable]
    return report


def evict(
    workspace: Workspace,
    host: str,
    *,
    since: datetime | None = None,
    reason: str | None = None,
    pause: Callable[[float], None] = time.sleep,
) -> EvictionReport:
    """Evict a machine from every store of the workspace. What it may have written is looked for afterwards."""
    areas, _ = _areas(workspace)
    if host not in _known_hosts(workspace, areas):
        _traces(workspace, areas, host, None)
    already = False
    for area in areas:
        access = _key_to_revoke(area.store, host).access
        already = _write_record(area.store, host, reason, access) or already
    pause(GRACE_SECONDS)
    taken = TakenBack()
    for area in areas:
        take_back(area, host, taken)
    report = look_at_host(workspace, host, since)
    report.already, report.taken = already, taken
    report.problems += taken.problems
    return report


def admit(workspace: Workspace, host: str) -> AdmissionReport:
    """Take a machine back. Tokens that were made for it before stay refused."""
    found, admitted_now = None, False
    for area in _areas(workspace)[0]:
        for _ in range(_TRIES):
            eviction, etag = _stored_eviction(area.store, host)
            found = eviction or found
            if eviction is None or not eviction.holds:
                break
            admitted = eviction.with_changes(
                admitted_at=area.store.now(),
                admitted_by=user_here(),
                sequence=eviction.sequence + 1,
                nonce=secrets.token_hex(12),
            )
            if settled.swap(area.store, str(EvictionKey(host)), json_records.render(admitted), etag) is not None:
                admitted_now = True
                break
        else:
            raise Conflict(key=str(EvictionKey(host)))
    if found is None:
        look_at_host(workspace, host)  # a host that nobody knows is a slip of the pen
    status = "admitted" if admitted_now else "already_admitted"
    return AdmissionReport(host, status, found.evicted_at if found else None)


# --- where to look


def _areas(workspace: Workspace) -> tuple[list[EvictionArea], list[str]]:
    """Every store that the campaigns of the workspace are in; and what could not be read of them."""
    areas, problems = {workspace.store.address: EvictionArea(workspace.store)}, list[str]()
    for name in sorted(campaign_names(workspace.store)):
        try:
            campaign = workspace.campaign(name)
            lists_pending = provider_of(campaign.settings.model()).lists_pending
        except CocliError as error:  # its tasks lie there all the same, and must not stay in a thief's hands
            problems.append(f"campaign {name}: {error.message}")
            areas[workspace.store.address].campaigns.append(name)
            continue
        area = areas.setdefault(campaign.store.address, EvictionArea(campaign.store))
        area.campaigns.append(name)
        if not lists_pending:
            area.elsewhere.append(name)
            text = "tasks that SQS has handed out to it come back when their visibility ends"
            problems.append(f"campaign {name}: {text}")
    return list(areas.values()), problems


def _traces(workspace: Workspace, areas: list[EvictionArea], host: str, since: datetime | None) -> HostTraces:
    """What there is of a host. A worker without a supervisor is known by its tasks alone."""
    traces = HostTraces(host, since)
    for area in areas:
        traces.look_through(area.store, area.campaigns)
    known = _known_hosts(workspace, areas)
    if host not in known and not traces.named:
        known = sorted({*known, *traces.hosts})
        raise UnknownHost(hostname=host[:100], known=", ".join(known) or "none yet", hint=did_you_mean(host, known))
    return traces


def _known_hosts(workspace: Workspace, areas: list[EvictionArea]) -> list[str]:
    """Those that have told something of themselves, or of which something is kept, or that are to run workers."""
    hosts: set[str] = set()
    for area in areas:
        for campaign in area.campaigns:
            hosts |= _asked_hosts(workspace, campaign)
        for folder, kind in _HOST_KEYS.items():
            found = [info.key for info in area.store.list(folder) if kind.fits(info.key)]
            hosts |= {str(kind.parse(key).hostname) for key in found}
    return sorted(hosts)


def _asked_hosts(workspace: Workspace, campaign: str) -> set[str]:
    try:
        config = workspace.campaign(campaign).settings.model()
    except CocliError:
        return set()  # told among the problems
    return {*config.workers, *config.cluster.hosts}


def _key_to_revoke(store: Store, host: str) -> KeyToRevoke:
    found: dict[str, MachineAccess] = {}
    for info in store.list(ACCESS_FOLDER):
        try:
            access = json_records.read(MachineAccess, store.get(info.key).data, file=info.key)
        except (NotFound, FormatError):
            continue  # gone, or nothing that a supervisor wrote: then nothing is known of that key
        found[access.hostname] = access
    mine = found.get(host)
    shared = [
        other.hostname
        for other in found.values()
        if mine is not None and mine.access_key is not None and other.access_key == mine.access_key and other != mine
    ]
    return KeyToRevoke(store.address, mine, sorted(shared))


# --- the record


def _stored_eviction(store: Store, host: str) -> tuple[Eviction | None, str]:
    key = str(EvictionKey(host))
    try:
        stored = store.get(key)
    except NotFound:
        return None, ""
    return json_records.read(Eviction, stored.data, file=key), stored.etag


def _write_record(store: Store, host: str, reason: str | None, access: MachineAccess | None) -> bool:
    """See that the record is there; whether it was before."""
    beat = heartbeat_at(store, str(HeartbeatKey(host)))
    key = str(EvictionKey(host))
    for _ in range(_TRIES):
        known, etag = _stored_eviction(store, host)
        if known is not None and known.holds:
            return True
        made = Eviction(
            hostname=host,
            machine=beat[0].machine if beat else None,
            evicted_at=store.now(),
            evicted_by=user_here(),
            reason=reason,
            access_key=access.access_key if access else None,
            last_seen=beat[1].modified if beat else None,
            sequence=known.sequence + 1 if known else 0,
            nonce=secrets.token_hex(12),
        )
        data = json_records.render(made)
        written = settled.create(store, key, data) if known is None else settled.swap(store, key, data, etag)
        if written is not None:
            return False
    raise Conflict(key=key)
