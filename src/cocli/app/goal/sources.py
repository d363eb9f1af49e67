"""The sources of a run: those of the campaign's file, or the one that somebody names instead."""

from __future__ import annotations

import json
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from cocli.app.sources.sources import library_of, opening_of
from cocli.app.workspace import open_workspace
from cocli.errors import SourceMissing, UsageError
from cocli.pipeline.sources.registry import OPEN_PLACES, asked_sources, source_choices, source_named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.app.workspace import Campaign, Workspace

_SOURCES_VARIABLE = "COCLI_PROSPECTING_SOURCES"


@contextmanager
def of_source(workspace: Workspace, name: str, source: str | None) -> Iterator[Workspace]:
    """The workspace as if the campaign's file named these sources; worker processes inherit it."""
    if source is None:
        yield workspace
        return
    settings = workspace.settings
    names = _named(workspace, name, source)
    environ = {**settings.environ, _SOURCES_VARIABLE: json.dumps(names)}
    with open_workspace(environ, settings.flags) as chosen:
        yield chosen


def _named(workspace: Workspace, name: str, source: str) -> list[str]:
    known = source_choices()
    if source not in known:
        raise UsageError(reason=f'There is no source "{source}"', hint=f"There are: {', '.join(known)}.")
    if source != OPEN_PLACES:
        return [source]
    configured = workspace.campaign(name).settings.model().prospecting.sources
    library = library_of(workspace.settings.environ)
    on_file = [asked.name for asked in asked_sources() if asked.reads_files]
    names = [name for name in configured if name in on_file]
    names = names or [name for name in on_file if library.files(name)]
    if not names:
        raise SourceMissing(source="open places")
    return names


def check_sources(workspace: Workspace, campaign: Campaign) -> None:
    """Say now what the workers would say one after the other."""
    opening = opening_of(workspace, campaign, "goal")
    for source in map(source_named, campaign.settings.model().prospecting.sources):
        if source.reads_files:
            with closing(source.opened(opening)):
                pass
