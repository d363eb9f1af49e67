"""Tasks and commands that wait in SQS: all messages are looked through, because SQS cannot be asked for one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.app.campaigns.name import campaign_names
from cocli.app.left_alone.changes import Remainder
from cocli.app.machines.cluster import read_beats
from cocli.app.queues.queues import opened_queue, queue_names
from cocli.errors import Denied, MissingExtra, QueueUnusable, Unavailable
from cocli.fleet.commands import ALL, command_queue
from cocli.queue.providers import is_of_commands, provider_of
from cocli.queue.sqs.queue import SqsQueue

if TYPE_CHECKING:
    from cocli.app.left_alone.changes import SweepReport
    from cocli.app.left_alone.matcher import SubjectMatcher
    from cocli.app.workspace import Campaign, Workspace

MESSAGE = "message"


class QueueSweep:
    def __init__(self, workspace: Workspace, matcher: SubjectMatcher, report: SweepReport, *, dry_run: bool) -> None:
        self._workspace = workspace
        self._matcher = matcher
        self._report = report
        self._dry_run = dry_run

    def run(self) -> None:
        for name in sorted(campaign_names(self._workspace.store)):
            campaign = self._workspace.campaign(name)
            if provider_of(campaign.settings.model()).lists_pending:
                continue  # they lie in the store
            for queue in dict.fromkeys((*queue_names(campaign), *_command_queues(campaign))):
                self._queue(campaign, queue)

    def _queue(self, campaign: Campaign, name: str) -> None:
        where = f"{campaign.name}: {name}"
        try:
            with opened_queue(campaign, name) as queue:
                if isinstance(queue, SqsQueue):
                    self._messages(queue, where)
        except QueueUnusable as error:
            if not error.details.get("missing"):  # where there is no queue, nothing waits in it
                self._remain(where, error)
        except (Denied, MissingExtra, Unavailable) as error:
            self._remain(where, error)

    def _messages(self, queue: SqsQueue, where: str) -> None:
        if self._dry_run:  # to look at a message is to take it: a plan takes none
            if waiting := queue.waiting():
                what = "commands" if is_of_commands(queue.name) else "tasks"
                told = f"about {waiting:,} {what} wait in SQS; they are looked through when it is done"
                self._report.beyond.append(f"{where}: {told}")
            return
        found = queue.sift(self._matcher.touches)
        for body in found.removed:
            self._report.note(MESSAGE, "removed", where, body.encode())
        if found.in_hand:
            told = f"{where}: {found.in_hand:,} tasks are in the hands of workers, and SQS shows them to nobody else. "
            told += "Run it once more when they have ended."
            self._report.remaining.append(Remainder(MESSAGE, found.in_hand, "in_hand", told))
        if found.behind:
            told = f"{where}: {found.behind:,} commands come only when those before them were executed. "
            told += "Run it once more when supervisors have executed them."
            self._report.remaining.append(Remainder(MESSAGE, found.behind, "behind", told))

    def _remain(self, where: str, error: Denied | MissingExtra | QueueUnusable | Unavailable) -> None:
        told = f"{where}: tasks that wait in SQS were not looked at: {error.message} {error.hint or ''}"
        self._report.remaining.append(Remainder(MESSAGE, 0, error.code, told.strip()))


def _command_queues(campaign: Campaign) -> list[str]:
    """Those of every host that is known. A queue whose only command was theirs has no folder in the store any more."""
    config = campaign.settings.model()
    beats = read_beats(campaign.store).beats
    hosts = {*config.workers, *config.cluster.hosts, *(beat.heartbeat.hostname for beat in beats)}
    return [command_queue(target) for target in (ALL, *sorted(hosts))]
