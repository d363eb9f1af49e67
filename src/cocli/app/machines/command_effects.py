"""What each command does: to the campaign's file, and to what follows from it.

All of it can be done twice: then the second time finds it done, and says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cocli.app.campaigns.campaign import edit_campaign
from cocli.app.campaigns.harvest import harvest_campaign
from cocli.app.campaigns.mission import queue_mission
from cocli.app.campaigns.places import parse_place
from cocli.app.campaigns.plan import build_targets
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.queues.queues import opened_queue
from cocli.config.edit import ConfigChange, Operator
from cocli.errors import PlanningError, UsageError, WorkerError
from cocli.fleet.commands import WORKED, CommandRequest, exclusion_of, grammar_of, scale_of
from cocli.models.command import Acknowledgement, Command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from cocli.app.workspace import Workspace
    from cocli.config.template import TemplatePlace
    from cocli.fleet.supervisor import Supervisor
    from cocli.models.command import Verb

_QUERIES = ("prospecting", "queries")
_LOCATIONS = ("prospecting", "locations")
_PAUSED = ("queue", "paused")


class Execution:
    """What each command does. All of it can be done twice: then the second time finds it done."""

    def __init__(
        self,
        workspace: Workspace,
        campaign: str,
        host: str,
        supervisor: Supervisor,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        self._workspace = workspace
        self._campaign = campaign
        self._host = host
        self._supervisor = supervisor
        self._on_change = on_change
        """Called when something has changed that is counted in reports."""

    def __call__(self, command: Command) -> Acknowledgement:
        grammar_of(command.verb)  # refuses one that only a newer sender knows
        effect = EFFECTS[command.verb]
        done, message = effect.do(self, command)
        if done and effect.is_counted:
            self._on_change()
        return Acknowledgement(
            command=str(CommandRequest(command.verb, command.arguments)),
            sent_by=command.sent_by,
            sent_at=command.sent_at,
            outcome="done" if done else "already",
            message=message,
            host=self._host,
        )

    # --- one method a verb; `EFFECTS` below names them

    def add_query(self, command: Command) -> tuple[bool, str]:
        return self._planned(self._listed(_QUERIES, command.arguments, add=True))

    def remove_query(self, command: Command) -> tuple[bool, str]:
        return self._listed(_QUERIES, command.arguments, add=False)

    def add_location(self, command: Command) -> tuple[bool, str]:
        return self._planned(self._add_locations([parse_place(place) for place in command.arguments]))

    def remove_location(self, command: Command) -> tuple[bool, str]:
        return self._remove_location(command.arguments[0])

    def add_exclude(self, command: Command) -> tuple[bool, str]:
        kind, value = exclusion_of(command.arguments[0])
        return self._listed(("exclude", kind), (value,), add=True)

    def remove_exclude(self, command: Command) -> tuple[bool, str]:
        kind, value = exclusion_of(command.arguments[0])
        return self._listed(("exclude", kind), (value,), add=False)

    def pause(self, command: Command) -> tuple[bool, str]:
        return self._pause(command.arguments or WORKED, pause=True)

    def resume(self, command: Command) -> tuple[bool, str]:
        return self._pause(command.arguments or WORKED, pause=False)

    def scale(self, command: Command) -> tuple[bool, str]:
        return self._scale(dict(map(scale_of, command.arguments)), command.host)

    def restart(self, command: Command) -> tuple[bool, str]:
        count = self._supervisor.restart(command.arguments)
        return count > 0, f"{count} workers are replaced"

    def recover(self, command: Command) -> tuple[bool, str]:
        queue, *category = command.arguments
        return self._recover(queue, category[0] if category else None)

    def refresh_report(self, command: Command) -> tuple[bool, str]:  # noqa: ARG002  every effect has this signature
        return self._refresh_report()

    # --- the campaign's file

    def _data(self, path: tuple[str, ...]) -> Any:
        """What the file itself says at a path; None where it says nothing."""
        value: Any = self._workspace.campaign(self._campaign).file.data
        for part in path:
            value = value.get(part) if isinstance(value, dict) else None
        return value

    def _edit(self, changes: list[ConfigChange]) -> None:
        edit_campaign(self._workspace, self._campaign, changes)

    def _listed(self, path: tuple[str, ...], values: Iterable[str], *, add: bool) -> tuple[bool, str]:
        """Values of a list are there afterwards, or are not."""
        known, name = self._data(path) or [], ".".join(path)
        changed = [value for value in values if (value in known) != add]
        operator, done, already = Operator.REMOVE, f"removed from {name}", f"{name} does not have it"
        if add:
            operator, done, already = Operator.APPEND, f"added to {name}", f"{name} has it already"
        if not changed:
            return False, already
        self._edit([ConfigChange(path, operator, value) for value in changed])
        return True, f"{', '.join(changed)}: {done}"

    def _pause(self, queues: Sequence[str], *, pause: bool) -> tuple[bool, str]:
        known = self._data(_PAUSED) or []
        changed = [queue for queue in queues if (queue in known) != pause]
        done, already = ("paused", "paused already") if pause else ("resumed", "not paused")
        if not changed:
            return False, f"{', '.join(queues)}: {already}"
        self._listed(_PAUSED, changed, add=pause)
        return True, f"{', '.join(changed)}: {done}"

    def _add_locations(self, places: list[TemplatePlace]) -> tuple[bool, str]:
        known = {location["name"]: location for location in self._data(_LOCATIONS) or []}
        values = [
            {"name": place.name, "lat": place.lat, "lon": place.lon, "radius_miles": place.radius_miles}
            for place in places
        ]
        for value in values:
            other = known.get(value["name"])
            if other is not None and any(other.get(key, 25.0) != value[key] for key in ("lat", "lon", "radius_miles")):
                raise UsageError(
                    reason=f"There is a location {value['name']} already, elsewhere or of another size",
                    hint=f'Remove it first: cocli remote send "remove-location {value["name"]}"',
                )
        new = [value for value in values if value["name"] not in known]
        if not new:
            return False, "prospecting.locations has it already"
        self._edit([ConfigChange(_LOCATIONS, Operator.APPEND, value) for value in new])
        return True, f"{'; '.join(str(value['name']) for value in new)}: added to prospecting.locations"

    def _remove_location(self, name: str) -> tuple[bool, str]:
        known = self._data(_LOCATIONS) or []
        found = [location for location in known if location["name"] == name]
        if not found:
            return False, f"there is no location {name}"
        changes = [ConfigChange(_LOCATIONS, Operator.REMOVE, location) for location in found]
        if len(found) == len(known):  # an empty list would stay in the file
            changes = [ConfigChange(_LOCATIONS, Operator.UNSET)]
        self._edit(changes)
        return True, f"{name}: removed from prospecting.locations"

    def _scale(self, counts: Mapping[str, int], host: str | None) -> tuple[bool, str]:
        known: Mapping[str, Mapping[str, int]] = self._data(("workers",)) or {}
        hosts = [host] if host is not None else list(known)
        if not hosts:
            raise UsageError(reason="The campaign has no [workers.HOST]: which host is meant?")
        changes = [
            ConfigChange(("workers", target, queue), Operator.SET, count)
            for target in hosts
            for queue, count in counts.items()
            if known.get(target, {}).get(queue) != count
        ]
        if not changes:
            return False, "it is so already"
        self._edit(changes)
        return True, "; ".join(f"{change.path[1]}: {change.path[2]} = {change.value}" for change in changes)

    # --- what follows from it

    def _planned(self, edited: tuple[bool, str]) -> tuple[bool, str]:
        """What is looked for now is planned and queued at once. Also where the file said so already: whoever wrote it
        may have died before this."""
        done, message = edited
        campaign, indexes = self._workspace.campaign(self._campaign), campaign_indexes(self._workspace, self._campaign)
        try:
            build_targets(indexes, campaign)
            harvested = harvest_campaign(self._workspace, self._campaign).tiles
            queued = queue_mission(indexes, campaign).queued
        except (UsageError, PlanningError) as error:
            return done, f"{message}; nothing is planned: {error.message}"
        if harvested:
            message = f"{message}; {harvested:,} tiles harvested"
        return done or queued + harvested > 0, f"{message}; {queued:,} tasks queued"

    def _recover(self, name: str, category: str | None) -> tuple[bool, str]:
        with opened_queue(self._workspace.campaign(self._campaign), name) as queue:
            found = [task for task in queue.recover(category=category) if task.outcome == "recovered"]
        return bool(found), f"{len(found):,} tasks of {name} brought back"

    def _refresh_report(self) -> tuple[bool, str]:
        from cocli.app.results.report import make_report  # a supervisor that is never asked for one does not load it

        made = make_report(self._workspace, self._campaign)
        if made.path is None:
            raise WorkerError(queue="commands", reason=f"the report could not be kept: {made.problem}")
        return True, f"written: {made.path}"


@dataclass(frozen=True, slots=True)
class VerbEffect:
    """What a verb does."""

    do: Callable[[Execution, Command], tuple[bool, str]]
    """Whether something changed, and what is said about it."""
    is_counted: bool = False
    """Whether it changes something that is counted in reports."""


EFFECTS: dict[Verb, VerbEffect] = {
    "add-query": VerbEffect(Execution.add_query, is_counted=True),
    "remove-query": VerbEffect(Execution.remove_query, is_counted=True),
    "add-location": VerbEffect(Execution.add_location, is_counted=True),
    "remove-location": VerbEffect(Execution.remove_location, is_counted=True),
    "add-exclude": VerbEffect(Execution.add_exclude, is_counted=True),
    "remove-exclude": VerbEffect(Execution.remove_exclude, is_counted=True),
    "scale": VerbEffect(Execution.scale),
    "pause": VerbEffect(Execution.pause),
    "resume": VerbEffect(Execution.resume),
    "restart": VerbEffect(Execution.restart),
    "recover": VerbEffect(Execution.recover, is_counted=True),
    "refresh-report": VerbEffect(Execution.refresh_report),
}
"""Verb → what it does. How it is written is the entry of the same name in `cocli.fleet.commands`."""
