"""The plan of a campaign: from the territory that its file names to the targets in its index.

Queueing what was not read yet is `planning_queue`, how much was read `coverage`, names of places `planning_places`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cocli.app.workspace import no_progress
from cocli.errors import AreaRefused, UsageError
from cocli.index.compaction import Compactor
from cocli.index.completion import complete
from cocli.pipeline.plan.areas import read_areas
from cocli.pipeline.plan.gazetteer import Gazetteer
from cocli.pipeline.plan.locations import read_locations
from cocli.pipeline.plan.targets import target_rows
from cocli.pipeline.plan.territory import Territory

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cocli.app.indexes.indexes import Indexes
    from cocli.app.workspace import Campaign, Progress
    from cocli.index.completion import KeyedLine

TARGETS = "target-tiles"
_TOLD_EVERY = 5000
_SHOWN_SURPLUS = 20


@dataclass(slots=True)
class BuiltPlan:
    """What building the targets did, or would do."""

    places: int
    tiles: int
    phrases: int
    targets: int
    added: int = 0
    already: int = 0
    surplus: int = 0
    """Targets of an earlier plan that the file does not ask for any more."""
    removed: int = 0
    version: int = 0
    dry_run: bool = False
    surplus_examples: list[str] = field(default_factory=list)


def has_territory(campaign: Campaign) -> bool:
    """Whether the campaign's file says what to search for, and where."""
    wanted = campaign.settings.model().prospecting
    return bool(wanted.queries and (wanted.locations or wanted.locations_csv or wanted.area))


def territory_of(campaign: Campaign) -> Territory:
    """The tiles that the campaign's file asks for, by locations, a table of them, or an area."""
    wanted = campaign.settings.model().prospecting
    if wanted.area is not None:
        path, _, names = wanted.area.partition("#")
        data, file = _read_beside(campaign, path, "prospecting.area")
        chosen = [name.strip() for name in names.split(",") if name.strip()]
        return Territory.of_areas(read_areas(data, file=file, chosen=chosen))
    if wanted.locations_csv is not None:
        data, file = _read_beside(campaign, wanted.locations_csv, "prospecting.locations_csv")
        return Territory.of_locations(read_locations(data, file=file, gazetteer=Gazetteer()))
    if not wanted.locations:
        name = campaign.name
        raise UsageError(
            reason=f"Campaign {name} has no territory: no locations, no table of them, no area",
            hint=f'Add a place with: cocli campaign edit {name} --location "Springfield, IL"',
        )
    return Territory.of_locations(wanted.locations)


def build_targets(
    indexes: Indexes,
    campaign: Campaign,
    *,
    prune: bool = False,
    dry_run: bool = False,
    progress: Progress = no_progress,
) -> BuiltPlan:
    """Write the targets that the index lacks. A second time writes nothing. With `prune`, what is not wanted any more
    is removed; else it is counted."""
    phrases = sorted(set(campaign.settings.model().prospecting.queries))
    if not phrases:
        raise UsageError(
            reason=f"Campaign {campaign.name} looks for nothing: it has no queries",
            hint=f"Add one with: cocli campaign edit {campaign.name} --set prospecting.queries+=plumber",
        )
    territory = territory_of(campaign)
    index = indexes.open(indexes.ref(TARGETS))
    built = BuiltPlan(territory.places, len(territory.tiles), len(phrases), len(territory.tiles) * len(phrases))
    built.dry_run = dry_run
    if not dry_run:
        Compactor(index).compact()
    now, surplus = index.store.now(), list[str]()

    def rows() -> Iterator[KeyedLine]:
        made = target_rows(index.spec, territory, phrases, campaign=campaign.name, planned_at=now)
        return _counted(made, progress)

    done = complete(index, rows, on_surplus=surplus.append, dry_run=dry_run)
    built.added, built.already, built.version = done.added, done.there, done.version
    built.surplus, built.surplus_examples = len(surplus), surplus[:_SHOWN_SURPLUS]
    if prune and surplus and not dry_run:
        report = Compactor(index).remove(surplus)
        built.removed, built.version = report.removed, report.version
    return built


def _counted(rows: Iterable[KeyedLine], progress: Progress) -> Iterator[KeyedLine]:
    for number, row in enumerate(rows, start=1):
        if number % _TOLD_EVERY == 0:
            progress(number)
        yield row


def _read_beside(campaign: Campaign, path: str, setting: str) -> tuple[bytes, str]:
    """A file that the campaign's file names: from beside that where it is in a folder, else from the current folder."""
    given = os.path.expanduser(path)
    places = [given] if os.path.isabs(given) else [os.path.abspath(given)]
    if "://" not in campaign.file.name and not os.path.isabs(given):
        places.insert(0, os.path.join(os.path.dirname(campaign.file.name), given))
    for place in places:
        try:
            with open(place, "rb") as file:
                return file.read(), path
        except FileNotFoundError:
            continue  # the other place may have it; if none has, that is the error
        except OSError as error:
            raise AreaRefused(file=path, part="the file", reason=f"it cannot be read: {error.strerror}") from error
    looked = " and ".join(places)
    raise UsageError(reason=f"{setting} names {path}, which is not there (looked for {looked})")
