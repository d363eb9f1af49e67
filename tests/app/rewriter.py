"""Rewrites a person's file as cocli's commands do, as often as it can, until its input ends.

Run as a program (by test_saves.py), beside the editor: `python rewriter.py WHAT HOME`. Prints how often it wrote.
"""

from __future__ import annotations

import itertools
import os
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from cocli.app.campaigns.campaign import edit_campaign
from cocli.app.companies.companies import company
from cocli.app.companies.notes import change_note, list_notes
from cocli.app.user_file import edit_user_file
from cocli.app.workspace import Workspace, open_workspace
from cocli.config.edit import parse_change
from cocli.config.resolve import Flags
from cocli.errors import CocliError
from cocli.formats.markdown import MarkdownFile
from cocli.keys.identities import company_hash
from cocli.models.campaign import ExcludeSection
from cocli.models.prospect import Prospect
from cocli.pipeline.exclusions import Exclusions
from cocli.results.companies.refresh import Refresher
from cocli.store.local import LocalStore

Rewrite = Callable[[int], bool]
NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


def refresh(workspace: Workspace) -> Rewrite:
    store, nobody = LocalStore(workspace.store.address, fsync="never"), Exclusions.of(ExcludeSection())

    def again(number: int) -> bool:
        found = Prospect(
            company_hash=company_hash("domain:acme.example"),
            slug="acme",
            name=f"Acme {number}",
            campaign="plumbers",
            first_seen=NOON,
            updated_at=NOON + timedelta(seconds=number),
        )
        refresher = Refresher(store)
        refresher.refresh(lambda: iter([found]), nobody, "plumbers")
        return refresher.report.changed > 0

    return again


def note(workspace: Workspace) -> Rewrite:
    """A note has one owner: its text is put back as it is, with a line more or less."""
    store = LocalStore(workspace.store.address, fsync="never")

    def again(number: int) -> bool:
        entry = next(iter(list_notes(store, company(store, "acme").slug)), None)
        if entry is None:
            return False  # moved out of an editor's way, for a moment
        body = MarkdownFile.parse(store.get(entry.key).data, file=entry.key).body
        kept = [line for line in body.splitlines() if not line.startswith("seen ")]
        return change_note(store, entry, "\n".join([*kept, f"seen {number}"]))

    return again


def campaign(workspace: Workspace) -> Rewrite:
    return lambda number: (
        edit_campaign(workspace, "plumbers", [parse_change(f"fetch.timeout_seconds={1 + number % 500}")]).changed
    )


def user(workspace: Workspace) -> Rewrite:
    environ = workspace.settings.environ
    return lambda number: edit_user_file(environ, [parse_change(f"fetch.timeout_seconds={1 + number % 500}")])


def page(workspace: Workspace) -> Rewrite:
    """The write alone, without the reading and thinking of a command: it meets a save far more often."""
    store = LocalStore(workspace.store.address, fsync="never")

    def again(number: int) -> bool:
        stored = store.get("companies/acme/_index.md")
        text = stored.data.partition(b"\nseen ")[0] + b"\nseen %d\n" % number
        return bool(store.put(stored.key, text, if_match=stored.etag))

    return again


REWRITES = {"page": page, "refresh": refresh, "note": note, "campaign": campaign, "user": user}


def _numbers() -> Iterator[int]:
    for number in itertools.count(1):
        if select.select([sys.stdin], [], [], 0)[0]:
            return
        yield number


def main(what: str, home: str) -> None:
    environ = {"COCLI_DATA_HOME": home, "HOME": home, "PATH": os.defpath}
    written = 0
    with open_workspace(environ, Flags()) as workspace:
        rewrite = REWRITES[what](workspace)
        for number in _numbers():
            with suppress(CocliError):  # half a file was read, or it was away for a moment: a person tries again
                written += rewrite(number)
            if number == 1:
                print("begun", flush=True)
    print(written)


if __name__ == "__main__":
    main(*sys.argv[1:])
