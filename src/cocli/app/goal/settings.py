"""What somebody wants of a run, who watches it, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from cocli.app.goal.crew import CrewSettings
from cocli.app.goal.progress import Goal

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.app.goal.progress import GoalStanding
    from cocli.app.results.report import MadeReport

Ending = Literal["met", "exhausted", "budget", "interrupted"]


@dataclass(frozen=True, slots=True)
class GoalTiming:
    """How often a run looks at what was done. Seconds; each look waits longer where looking takes long."""

    count: float = 1.0
    settle: float = 20.0
    share: float = 5.0
    """A look is taken again after so many times its own length, at least."""


@dataclass(frozen=True, slots=True)
class GoalSettings:
    goal: Goal = field(default_factory=Goal)
    budget: float | None = None
    """Seconds, with everything that is done at the end."""
    source: str | None = None
    """`open-places` or `google-maps`; what the campaign's file says where it is not given."""
    crew: CrewSettings = field(default_factory=CrewSettings)
    sync: bool = True
    """Whether a copy is brought together with its bucket before and after."""
    timing: GoalTiming = field(default_factory=GoalTiming)


@dataclass(frozen=True, slots=True)
class Achieved:
    """How a run ended. `missing` is what the goal lacks; `report` is where the report was kept, if it could be."""

    campaign: str
    ending: Ending
    standing: GoalStanding
    missing: dict[str, int]
    report: MadeReport | None
    whole: bool
    skipped: tuple[str, ...] = ()
    """What the budget had no time for, with the command that does it."""
    ended: int = 0
    """Tasks that ended meanwhile, whoever had them."""

    @property
    def met(self) -> bool:
        return self.ending == "met"


@dataclass(frozen=True, slots=True)
class GoalWatcher:
    """Whoever wants to know how it goes: every new standing, and lines that are worth keeping."""

    standing: Callable[[GoalStanding], None] = lambda _: None
    say: Callable[[str], None] = lambda _: None
