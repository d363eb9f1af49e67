"""A campaign run to its goal: plans, queues, has workers work, and stops when there is enough.

It works on what the campaign has: a territory that is searched, businesses that somebody imported, or both. Everything
that it knows lies in the store, so it may be killed anywhere: started again, it finds the plan made, the tasks queued
and the work of others done, and goes on from there. One run is `cocli.app.goal.run`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING

from cocli import logs
from cocli.app.goal.budget import GoalBudget
from cocli.app.goal.crew import open_crew
from cocli.app.goal.run import GoalRun
from cocli.app.goal.settings import Achieved, GoalSettings, GoalWatcher
from cocli.app.goal.sources import of_source
from cocli.app.sync_round import synced_around

if TYPE_CHECKING:
    from cocli.app.workspace import Workspace
    from cocli.fleet.drain import Drain

__all__ = ["Achieved", "GoalSettings", "GoalWatcher", "achieve_goal"]


def achieve_goal(
    workspace: Workspace, name: str, settings: GoalSettings, drain: Drain, watcher: GoalWatcher | None = None
) -> Achieved:
    """Work until the goal is met, nothing is left to do, the budget is over, or somebody says stop."""
    watcher, budget = watcher or GoalWatcher(), GoalBudget(settings.budget)
    with logs.bound(campaign=name), ExitStack() as around:
        with budget.measured("pull"):
            bucket = around.enter_context(
                synced_around(
                    workspace,
                    name,
                    wanted=settings.sync,
                    say=watcher.say,
                    may_send=lambda: budget.has_time_for("push"),
                )
            )
        budget.sends = bucket is not None
        chosen = around.enter_context(of_source(workspace, name, settings.source))
        campaign = chosen.campaign(name)
        crew = open_crew(chosen, campaign, settings.crew, watcher.say)
        with ThreadPoolExecutor(1, "look") as looker:
            run = GoalRun(chosen, campaign, settings, crew, drain, watcher, looker, budget)
            run.plan()
            run.look()  # what is there may be enough: then nobody has to start
            whole = crew.run(run.inner, run.tick)
            while not run.is_over():
                whole = crew.run(run.inner, run.tick)
            return run.finish(whole=whole)
