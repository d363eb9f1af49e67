"""A campaign of an older data home, brought here whole: its settings, its records, its company pages, its tasks.

The older files are only read. Everything is created where it is absent, so the same command twice does the rest, and
what a person changed here meanwhile stays. What cannot be taken is named with the reason, never dropped in silence.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cocli.app.campaigns.campaign import edit_campaign, new_campaign
from cocli.app.campaigns.places import resolve_places
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.indexes.migration import apply_migration, planned, work_folder
from cocli.app.queues.queues import opened_queue
from cocli.app.workspace import Progress, no_progress
from cocli.config.edit import parse_change
from cocli.config.template import TemplatePlace
from cocli.errors import CocliError, DataError, UnknownCampaign, UsageError
from cocli.keys.paths import CompanyKey, MeetingKey, NoteKey, PersonKey
from cocli.models.campaign import ProspectingSection
from cocli.pipeline.migrate.older_pages import converted_note, converted_page
from cocli.pipeline.migrate.older_settings import OlderSettings, read_older_settings
from cocli.pipeline.migrate.older_tasks import OLDER_QUEUES, converted_task
from cocli.pipeline.migrate.plan import plan_migration
from cocli.pipeline.migrate.row import Context, slugged
from cocli.pipeline.plan.gazetteer import Gazetteer
from cocli.pipeline.plan.locations import read_locations
from cocli.store import settled
from cocli.store.base import Put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cocli.app.indexes.migration import IndexMigration
    from cocli.app.workspace import Workspace
    from cocli.keys.key import Key
    from cocli.pipeline.migrate.plan import MigrationPlan
    from cocli.queue.base import NewTask

_LOT = 200
_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,100}")


@dataclass
class HomeMigration:
    """What was brought here; in a dry run, what would be."""

    campaign: str
    dry_run: bool
    made_campaign: bool = False
    not_taken: tuple[str, ...] = ()
    """Settings that have no counterpart."""
    plan: MigrationPlan | None = None
    indexes: IndexMigration | None = None
    files: Counter[str] = field(default_factory=Counter)
    """companies, notes, meetings, people: files that were made."""
    already: int = 0
    """Files that are there under that name: they stay as they are."""
    tasks: Counter[str] = field(default_factory=Counter)
    """Queue → tasks that were put."""
    problems: list[str] = field(default_factory=list)
    """`file: reason` of everything that could not be taken."""


def migrate_home(
    workspace: Workspace, folder: str, name: str, *, dry_run: bool = False, progress: Progress = no_progress
) -> HomeMigration:
    """Bring a campaign of an older data home into this store."""
    home = Path(folder).expanduser().absolute()
    if not home.is_dir():
        raise UsageError(reason=f"{home} is not a folder", hint="Give the folder that holds the older data.")
    done = HomeMigration(name, dry_run)
    phrases = _bring_settings(workspace, home, done)
    if dry_run:
        done.plan = plan_migration(home, name, phrases=phrases, progress=progress)
    else:
        indexes = campaign_indexes(workspace, name)
        done.plan = planned(indexes, str(home), progress=progress)
        done.indexes = apply_migration(indexes, done.plan, work_folder(indexes, str(home), None), progress)
    _bring_pages(workspace, home, done)
    _bring_tasks(workspace, home, done, phrases)
    return done


# --- settings


def _bring_settings(workspace: Workspace, home: Path, done: HomeMigration) -> tuple[str, ...]:
    """Make the campaign where there is none; the phrases that it searches."""
    with suppress(UnknownCampaign):
        return workspace.campaign(done.campaign).settings.model().prospecting.queries
    file = home / "campaigns" / done.campaign / "config.toml"
    if not file.is_file():
        raise UsageError(
            reason=f"There is no campaign {done.campaign}, neither here nor in {home}",
            hint=f"Make it first: cocli campaign new {done.campaign}",
        )
    older = read_older_settings(file.read_bytes(), file=str(file))
    places = _places(older, file.parent, done)
    done.made_campaign, done.not_taken = True, older.not_taken
    if not done.dry_run:
        new_campaign(workspace, done.campaign, older.phrases, places)
        for key, value in (("campaign.tag", older.tag), ("campaign.timezone", older.timezone)):
            if value:
                _edit(workspace, done, f"{key}={value}")
    return older.phrases


def _edit(workspace: Workspace, done: HomeMigration, change: str) -> None:
    try:
        edit_campaign(workspace, done.campaign, [parse_change(change)])
    except CocliError as error:
        done.problems.append(f"{change}: {error.message}")


def _places(older: OlderSettings, folder: Path, done: HomeMigration) -> list[TemplatePlace]:
    gazetteer, found = Gazetteer(), dict[str, TemplatePlace]()
    for text in older.places:
        try:
            for place in resolve_places(f"{text},{older.radius_miles:g}", gazetteer):
                found[place.name] = place
        except CocliError as error:
            done.problems.append(f"place {text}: {error.message}")
    if older.table is not None:
        beside = (folder / older.table, folder / "resources" / older.table)
        table = next((path for path in beside if path.is_file()), None)
        try:
            if table is None:
                raise DataError(reason="it is not there")
            for location in read_locations(table.read_bytes(), file=str(table), gazetteer=gazetteer):
                found[location.name] = TemplatePlace(location.name, location.lat, location.lon, older.radius_miles)
        except CocliError as error:
            done.problems.append(f"{older.table}: {error.message}")
    return list(found.values())


# --- pages


def _bring_pages(workspace: Workspace, home: Path, done: HomeMigration) -> None:
    waiting: list[tuple[str, Put]] = []
    for kind, key, file, convert in _older_pages(home, done.campaign):
        try:
            data = convert(file.read_bytes(), _modified(file), file=str(file.relative_to(home)))
        except (CocliError, OSError) as error:
            done.problems.append(f"{file.relative_to(home)}: {error}")
            continue
        waiting.append((kind, Put(str(key), data, if_absent=True)))
        if len(waiting) >= _LOT:
            _write(workspace, waiting, done)
            waiting = []
    _write(workspace, waiting, done)


def _older_pages(home: Path, campaign: str) -> Iterator[tuple[str, Key, Path, Callable[..., bytes]]]:
    """Every file that a person may have written, with its key of today and how it is converted."""
    for folder in sorted(_folders(home / "companies")):
        slug = slugged(folder.name)
        if not _SLUG.fullmatch(slug) or not _is_of(folder, campaign):
            continue
        if (folder / "_index.md").is_file():
            tags = _tags(folder, campaign)
            yield "companies", CompanyKey(slug), folder / "_index.md", partial(_page, tags, campaign)
        for file in sorted((folder / "notes").glob("*.md")):
            yield "notes", NoteKey(slug, file.stem), file, converted_note
        for file in sorted((folder / "meetings").glob("*.md")):
            yield "meetings", MeetingKey(slug, file.stem), file, converted_note
    for file in sorted((home / "people").glob("*.md")):
        yield "people", PersonKey(slugged(file.stem)), file, _as_it_is


def _page(tags: Sequence[str], campaign: str, data: bytes, at: datetime, *, file: str) -> bytes:
    return converted_page(data, tags, campaign, at, file=file)


def _as_it_is(data: bytes, at: datetime, *, file: str) -> bytes:  # noqa: ARG001
    return data


def _folders(parent: Path) -> list[Path]:
    if not parent.is_dir():
        return []
    return [Path(entry.path) for entry in os.scandir(parent) if entry.is_dir(follow_symlinks=False)]


def _is_of(folder: Path, campaign: str) -> bool:
    """Companies of all campaigns lay in one folder: those that are tagged with another one alone are not ours."""
    index, tags = folder / "_index.md", _listed(folder)
    text = index.read_text("utf-8", "replace") if index.is_file() else ""
    return not tags or campaign in tags or re.search(rf"\b{re.escape(campaign)}\b", text) is not None


def _tags(folder: Path, campaign: str) -> tuple[str, ...]:
    tags = _listed(folder)
    return tuple(dict.fromkeys((*tags, campaign))) if tags else ()


def _listed(folder: Path) -> list[str]:
    file = folder / "tags.lst"
    lines = file.read_text("utf-8", "replace").splitlines() if file.is_file() else []
    return [line.strip() for line in lines if line.strip()]


def _modified(file: Path) -> datetime:
    return datetime.fromtimestamp(file.stat().st_mtime, UTC)


def _write(workspace: Workspace, waiting: Sequence[tuple[str, Put]], done: HomeMigration) -> None:
    answers = [""] * len(waiting) if done.dry_run else settled.create_many(workspace.store, [put for _, put in waiting])
    for (kind, put), answer in zip(waiting, answers, strict=True):
        if answer is None:
            done.already += 1
        elif isinstance(answer, str):
            done.files[kind] += 1
        else:
            done.problems.append(f"{put.key}: {answer.message}")


# --- tasks


def _bring_tasks(workspace: Workspace, home: Path, done: HomeMigration, phrases: Sequence[str]) -> None:
    context = Context(done.campaign, datetime.now(UTC), phrases={slugged(phrase): phrase for phrase in phrases})
    sources = _sources(workspace, done.campaign)
    for queue in OLDER_QUEUES:
        folder = home / "campaigns" / done.campaign / "queues" / queue / "pending"
        tasks = list(_older_tasks(home, sorted(folder.rglob("*.json")), queue, context, sources, done))
        if done.dry_run:
            done.tasks[queue] += len({task.task_id for task in tasks})
        elif tasks:
            with opened_queue(workspace.campaign(done.campaign), queue) as opened:
                counts = opened.put_many(tasks).counts
            done.tasks[queue] += sum(count for outcome, count in counts.items() if outcome.value == "queued")


def _sources(workspace: Workspace, campaign: str) -> tuple[str, ...]:
    """Those of the campaign; in a dry run those that it will have."""
    try:
        return workspace.campaign(campaign).settings.model().prospecting.sources
    except UnknownCampaign:
        return ProspectingSection().sources


def _older_tasks(
    home: Path, files: Sequence[Path], queue: str, context: Context, sources: Sequence[str], done: HomeMigration
) -> Iterator[NewTask]:
    for file in files:
        if file.name == "lease.json":
            continue  # whoever held it is gone
        try:
            yield converted_task(queue, file.read_bytes(), context, sources)
        except (DataError, OSError) as error:
            done.problems.append(f"{file.relative_to(home)}: {error}")
