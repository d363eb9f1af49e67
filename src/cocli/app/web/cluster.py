"""The queues and the machines of a campaign, as their screens show them."""

from __future__ import annotations

from itertools import chain, islice
from shlex import quote
from typing import TYPE_CHECKING

from cocli.app.machines.cluster import cluster_status
from cocli.app.queues.listing import ListedState, list_tasks
from cocli.app.queues.queues import ended_on_store, queue_names, queue_status
from cocli.app.web.campaigns import web_problems
from cocli.app.workspace import no_progress
from cocli.errors import CocliError
from cocli.models.web.cluster import WebActiveTask, WebHost, WebMachines, WebQueue, WebQueues, WebTask
from cocli.queue.providers import is_of_commands, provider_of

if TYPE_CHECKING:
    from cocli.app.machines.cluster import ClusterStatus
    from cocli.app.queues.listing import TaskRow
    from cocli.app.web.site import DataSite
    from cocli.app.workspace import Campaign
    from cocli.fleet.stall import Beat

MOST_TASKS = 200
_TEXTS = ("phrase", "domain", "place_id", "tile", "name", "url")


def make_queues(site: DataSite, name: str) -> WebQueues:
    campaign = site.workspace.campaign(name)
    config = campaign.settings.model()
    names = [queue for queue in queue_names(campaign) if not is_of_commands(queue)]
    queues = tuple(_queue(campaign, queue) for queue in names)
    return WebQueues(campaign=name, at=site.now(), paused=config.queue.paused, queues=queues)


def _queue(campaign: Campaign, name: str) -> WebQueue:
    recover = f"cocli queue recover {name} -c {campaign.name}"
    try:
        status = queue_status(campaign, name)
    except CocliError as error:  # told on its line: one queue must not hide the others
        return WebQueue(queue=name, problem=error.message, recover_command=recover)
    stats = status.stats
    if stats is None:
        return WebQueue(queue=name, problem=status.problem, recover_command=recover)
    tasks = list(islice(_tasks(campaign, name), MOST_TASKS + 1))
    return WebQueue(
        queue=name,
        pending=stats.pending,
        waiting=max(0, stats.waiting),
        leased=stats.leased,
        expired=stats.expired,
        completed=stats.completed,
        sidelined=dict(stats.sidelined),
        rate_per_minute=stats.rate,
        minutes_left=stats.minutes_left,
        oldest=stats.oldest,
        done_recently=stats.completed_recently,
        recent_seconds=stats.recent.total_seconds() if stats.recent else None,
        recover_command=recover,
        tasks=tuple(_task(campaign.name, name, row) for row in tasks[:MOST_TASKS]),
        tasks_cut=len(tasks) > MOST_TASKS,
    )


def _tasks(campaign: Campaign, name: str) -> chain[TaskRow]:
    """Those that are set aside, then those that are in work, then those that wait; the first of each."""
    place = ended_on_store(campaign, name)
    states = [ListedState.SIDELINE]
    if provider_of(campaign.settings.model()).lists_pending:
        states += [ListedState.LEASED, ListedState.PENDING]
    some = (islice(list_tasks(place, state, None, MOST_TASKS, no_progress), MOST_TASKS) for state in states)
    seen: set[str] = set()

    def fresh(row: TaskRow) -> bool:
        is_new = row.task_id not in seen
        seen.add(row.task_id)
        return is_new

    return chain(filter(fresh, chain.from_iterable(some)))


def _task(campaign: str, queue: str, row: TaskRow) -> WebTask:
    known = [str(row.payload[key]) for key in _TEXTS if row.payload.get(key) is not None]
    return WebTask(
        task_id=row.task_id,
        state=row.state,
        category=row.category,
        text=" · ".join(known) or row.task_id,
        worker=row.worker,
        changed=row.changed,
        detail=row.detail,
        command=f"cocli queue show {queue} {quote(row.task_id)} -c {campaign}",
    )


# --- machines


def make_machines(site: DataSite, name: str) -> WebMachines:
    campaign = site.workspace.campaign(name)
    status = cluster_status(campaign)
    wanted = {host: dict(counts) for host, counts in campaign.settings.model().workers.items()}
    hosts = [_host(status, beat, wanted) for beat in status.beats]
    reported = {host.host for host in hosts}
    hosts += [
        WebHost(host=host, state="expected", wanted=counts) for host, counts in wanted.items() if host not in reported
    ]
    record = status.upkeep.record
    return WebMachines(
        campaign=name,
        at=site.now(),
        elected=status.upkeep.elected,
        finished_at=record.finished_at if record else None,
        upkeep_problem=record.problem if record else None,
        problems=web_problems(status.problems),
        hosts=tuple(sorted(hosts, key=lambda host: host.host)),
    )


def _host(status: ClusterStatus, beat: Beat, wanted: dict[str, dict[str, int]]) -> WebHost:
    told = beat.heartbeat
    eviction = status.evicted.get(told.hostname)
    return WebHost(
        host=told.hostname,
        state=status.state_of(beat),
        beat_at=beat.written_at,
        age_seconds=max(0.0, (status.at - beat.written_at).total_seconds()),
        skew_seconds=round(beat.skew.total_seconds(), 3),
        started_at=told.started_at,
        cpu_percent=told.cpu_percent,
        ram_percent=told.ram_percent,
        ram_bytes=told.ram_bytes,
        disk_free_bytes=told.disk_free_bytes,
        temperature=told.temperature,
        version=told.versions.cocli,
        python=told.versions.python,
        system=told.versions.system,
        workers=dict(told.workers),
        wanted=wanted.get(told.hostname, {}),
        completed=dict(told.completed),
        rates=dict(told.rates),
        limited_by=dict(told.limited_by),
        active=tuple(
            WebActiveTask(queue=queue, task_id=task.task_id, worker=task.worker, claimed_at=task.claimed_at)
            for queue, tasks in told.active.items()
            for task in tasks
        ),
        last_error=told.last_error,
        evicted_reason=eviction.reason if eviction else None,
    )
