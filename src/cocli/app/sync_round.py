"""Work on a copy: what is new in the bucket is fetched before, what was made is sent after. And says where it works.

A campaign that is in a bucket is worked on there, and nothing has to be brought anywhere. A campaign in the data home
that was synced with a bucket has its other half there.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cocli.app.sync import open_sync
from cocli.app.workspace import location, open_workspace
from cocli.config.places import state_home
from cocli.errors import CocliError
from cocli.sync.decision import SyncOptions
from cocli.sync.kinds import SyncPart
from cocli.sync.pair import Direction
from cocli.sync.state import synced_bucket

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cocli.app.workspace import Workspace
    from cocli.sync.report import SyncReport

NEEDED = (SyncPart.CONFIG, SyncPart.INDEXES, SyncPart.RECORDS, SyncPart.COMPANIES, SyncPart.COMPLETIONS)
"""What work goes on from: what is known, and which tasks are done."""
MADE = (*NEEDED, SyncPart.DOCUMENTS, SyncPart.REPORTS)
"""What work leaves: the pages behind the values as well."""


@contextmanager
def synced_around(
    workspace: Workspace,
    name: str,
    *,
    wanted: bool = True,
    say: Callable[[str], None] = lambda _: None,
    may_send: Callable[[], bool] = lambda: True,
) -> Iterator[str | None]:
    """Fetch before the block and send after it, if the campaign has another half; `wanted` is what a person said.

    The block is given the bucket; None where nothing is sent. `may_send` is asked after it: there may be no time left.
    A bucket that cannot be reached before stops it: work would be done twice. One that cannot be reached after does
    not: what was made is here, and the next sync sends it.
    """
    campaign = workspace.campaign(name)
    if campaign.store.address != os.path.realpath(str(workspace.settings.data_home.value)):
        say(f"Working in {location(campaign.store, '')} itself: what is found is there at once.")
        yield None
        return
    bucket = synced_bucket(state_home(workspace.settings.environ), campaign.store.address, name)
    if bucket is None or not wanted:
        if bucket is not None:
            say(f"Working here only: {bucket} is left alone.")
        yield None
        return
    say(f"Fetching from {bucket} what is new there.")
    _run(workspace, name, bucket, Direction.PULL, NEEDED, say)
    yield bucket
    if not may_send():
        _tell_unsent(name, bucket, "there is no time left", say)
        return
    say(f"Sending to {bucket} what was made.")
    try:
        _run(workspace, name, bucket, Direction.PUSH, MADE, say)
    except CocliError as error:
        _tell_unsent(name, bucket, error.message, say)


def _tell_unsent(name: str, bucket: str, reason: str, say: Callable[[str], None]) -> None:
    say(f"It was not sent: {reason}")
    say(f"hint: cocli sync push -c {name} --store {bucket}")


def _run(
    workspace: Workspace,
    name: str,
    bucket: str,
    direction: Direction,
    parts: Sequence[SyncPart],
    say: Callable[[str], None],
) -> None:
    flags = workspace.settings.flags._replace(store=bucket)
    with (
        open_workspace(workspace.settings.environ, flags) as remote,
        open_sync(remote, name, parts=parts) as sync,
    ):
        _tell(sync.run(SyncOptions(direction)), say)


def _tell(report: SyncReport, say: Callable[[str], None]) -> None:
    files = report.counts["uploaded"] + report.counts["downloaded"] + report.counts["merged"]
    indexes = sum(moved.outcome != "unchanged" for moved in report.indexes)
    say(f"{files:,} files and {indexes} indexes were brought over.")
    for key, error in list(report.failed.items())[:3]:
        say(f"{key} was not: {error.message}")
    if report.conflicts:
        say(f"{len(report.conflicts)} files were changed on both sides; settle them with: cocli sync both")
