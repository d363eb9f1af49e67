"""Names for the shell to complete: campaigns, companies, people. Quickly or not at all, and never a complaint."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cocli.app.workspace import Workspace

_PATIENCE_SECONDS = 1.5
_ENOUGH = 200
"""More names than a person reads; a store may have a hundred thousand companies."""


def complete_campaign(incomplete: str) -> list[str]:
    """The campaigns of the store that is configured."""
    return _found(_campaigns, incomplete)


def complete_company(incomplete: str) -> list[str]:
    """The slugs of companies."""
    return _found(lambda workspace, start: _slugs(workspace, "companies/", start), incomplete)


def complete_person(incomplete: str) -> list[str]:
    """The slugs of people."""
    return _found(lambda workspace, start: _slugs(workspace, "people/", start), incomplete)


def _campaigns(workspace: Workspace, start: str) -> Iterator[str]:
    from cocli.app.campaigns.name import campaign_names

    return (name for name in sorted(campaign_names(workspace.store)) if name.startswith(start))


def _slugs(workspace: Workspace, folder: str, start: str) -> Iterator[str]:
    """Listed from what was typed on, and no further: that is quick, however many there are."""
    before = ""
    for info in workspace.store.list(folder, start_after=f"{folder}{start}" if start else None):
        if not info.key.startswith(f"{folder}{start}"):
            return
        slug = info.key[len(folder) :].partition("/")[0].removesuffix(".md")
        if slug != before:
            yield slug
        before = slug


def _found(collect: Callable[[Workspace, str], Iterator[str]], incomplete: str) -> list[str]:
    """What begins with the word; nothing where the store does not answer in time."""
    # Before the clock runs: on a small machine that takes longer than a store may, and no store is to blame for it.
    import cocli.app.campaigns.name
    import cocli.app.workspace  # noqa: F401

    found: list[str] = []
    # A thread, because a store that does not answer cannot be interrupted: it is left behind when the process ends.
    thread = threading.Thread(target=_collect, args=(collect, incomplete, found), daemon=True)
    thread.start()
    thread.join(_PATIENCE_SECONDS)
    return [] if thread.is_alive() else found


def _collect(collect: Callable[[Workspace, str], Iterator[str]], incomplete: str, found: list[str]) -> None:
    try:
        from cocli.app.workspace import open_workspace
        from cocli.config.resolve import Flags

        with open_workspace(os.environ, Flags()) as workspace:
            found.extend(islice(collect(workspace, incomplete), _ENOUGH))
    except Exception:  # noqa: BLE001  the person is typing: an error here would land in the middle of the prompt
        found.clear()
