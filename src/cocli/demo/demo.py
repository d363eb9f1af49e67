"""The demo: the main job on a made-up town, offline, from the plan to the report, and measured against the truth.

`make demo` runs it, and `cocli demo`. It stands beside the layers: the town is a test double, the rest is the product.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from cocli.app.goal.goal import Achieved, GoalSettings, GoalWatcher, achieve_goal
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.results.exports import ExportOptions, export_to_file
from cocli.app.results.report import with_businesses, write_html
from cocli.app.why.trace import untraced
from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags
from cocli.demo.town import build_town, serve_maps, serve_websites, truth_of
from cocli.demo.town.campaign import CAMPAIGN, TownHome, found_campaign
from cocli.demo.town.score import businesses_of, score_of
from cocli.errors import CocliError
from cocli.fleet.drain import Drain, obeying_signals
from cocli.pipeline.sources.google_maps.browser.session import check_browser
from cocli.results.reports.figure_words import figure_line, figure_rows, unread_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.app.goal.progress import GoalStanding
    from cocli.app.workspace import Workspace
    from cocli.demo.town.business import TownSource
    from cocli.demo.town.score import Score

REPORT, SPREADSHEET = "report.html", f"{CAMPAIGN}.xlsx"
_MARKER = ".cocli-demo"
_HANG_SECONDS = 2.0
"""Seconds after which the silent websites of the town hang up: nobody wants to wait a minute for them."""
_SHOWN = 3
_MAPS_SETTINGS = (
    'prospecting.sources=["google-maps"]',
    "google_maps.pause_seconds=0",
    "google_maps.pages_per_day=100000",
)
"""The map is our own: nobody has to be spared."""


def main(arguments: list[str]) -> int:
    """Run the demo in the folder that is named, or in one that is removed afterwards."""
    try:
        return _main(_options(arguments))
    except CocliError as error:
        print(f"error: {error.message}", *([f"hint: {error.hint}"] if error.hint else []), sep="\n", file=sys.stderr)
        return int(error.exit_code)


def _main(options: argparse.Namespace) -> int:
    if options.maps:
        check_browser(os.environ.get("COCLI_BROWSER"))  # before anything is begun
    folder = os.path.abspath(options.folder or tempfile.mkdtemp(prefix="cocli-demo-"))
    try:
        _fresh_folder(folder)
    except OSError as error:
        print(f"error: {error.strerror}: {folder}", file=sys.stderr)
        return 1
    kept = options.folder is not None or options.keep
    try:
        figures = run(folder, say=_say, maps=options.maps)
    finally:
        if not kept:
            shutil.rmtree(folder, ignore_errors=True)
    if kept:
        _say(f"\nLook at it yourself:\n  export {' '.join(_variables(folder))}")
        _say(f"  cocli company ls -c {CAMPAIGN}\n  cocli campaign coverage {CAMPAIGN}")
        _say(f"  cocli web -c {CAMPAIGN}     (the town in a browser)\n")
        for what, name in (("The report", REPORT), ("The spreadsheet", SPREADSHEET)):
            _say(f"{what}: {os.path.join(folder, name)}")
        _say(f"Next: cocli campaign retry {CAMPAIGN}")
    print(json.dumps(figures), flush=True)
    if _holds(figures):
        return 0
    return 1


def run(folder: str, say: Callable[[str], None], *, maps: bool = False) -> dict[str, float]:
    """Plan, search, read websites, make pages and a report; then count what was found of what there is."""
    started = time.perf_counter()
    town, home = build_town(), TownHome(Path(folder), variables=_browser())
    truth = truth_of(town)
    source: TownSource = "google-maps" if maps else "overture"
    with ExitStack() as stack:
        websites = stack.enter_context(serve_websites(town, hang_seconds=_HANG_SECONDS))
        settings = list(_MAPS_SETTINGS) if maps else []
        if maps:
            settings.append(f"google_maps.url={stack.enter_context(serve_maps(town)).url}")
        # What fails once in the town fails always: a second try would only take time.
        found_campaign(home, town, websites, ["queue.attempts=1", *settings])
        say(f"A town of {len(town.businesses)} businesses and {len(town.sites)} websites, on this machine alone.")
        with open_workspace(home.environ, Flags()) as workspace:
            drain = Drain()
            with obeying_signals(drain):
                achieved = achieve_goal(workspace, CAMPAIGN, GoalSettings(), drain, _watcher(say))
            score = score_of(businesses_of(workspace, CAMPAIGN), truth, source)
            traced = untraced(workspace, CAMPAIGN)
            exported = _results(workspace, achieved, folder)
    _tell(achieved, score, say)
    unseen = sum(source not in business.listings for business in truth.businesses)
    say(f"({unseen} businesses of the town are unknown to {source}.)")
    say(f"Values: {traced.values:,}, of which {traced.count:,} lead to no document.")
    say(f"The spreadsheet has {exported:,} rows.")
    figures = achieved.standing.figures
    return {
        "demo.searches_planned": figures.searches.planned,
        "demo.searches_read": figures.searches.read,
        "demo.businesses": figures.businesses,
        "demo.websites_known": figures.websites.known,
        "demo.websites_read": figures.websites.read,
        "demo.emails": figures.emails,
        "demo.rows_exported": exported,
        "demo.businesses_recall": score.businesses_recall,
        "demo.email_recall": score.email_recall,
        "demo.email_precision": score.email_precision,
        "demo.untraced_values": traced.count,
        "demo.seconds": round(time.perf_counter() - started, 3),
    }


def _holds(figures: dict[str, float]) -> bool:
    """What the demo promises. Whoever ends it early sees it fail."""
    return (
        figures["demo.businesses_recall"] == 1.0
        and figures["demo.email_recall"] >= 0.97
        and figures["demo.email_precision"] >= 0.99
        and figures["demo.untraced_values"] == 0
    )


def _browser() -> dict[str, str]:
    """What a browser needs of the caller's environment, where it names one."""
    return {name: os.environ[name] for name in ("COCLI_BROWSER", "PATH") if name in os.environ}


def _say(text: str) -> None:
    print(text, flush=True)


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m cocli.demo", description=__doc__)
    parser.add_argument("folder", nargs="?", default=None, help="where everything is kept; else it is removed again")
    parser.add_argument("--maps", action="store_true", help="search with Chromium on a map, instead of open data")
    parser.add_argument("--keep", action="store_true", help="keep the temporary folder")
    return parser.parse_args(arguments)


def _fresh_folder(folder: str) -> None:
    """An empty folder. What is there is removed only if an earlier demo made it."""
    if os.path.lexists(folder) and not os.path.isfile(os.path.join(folder, _MARKER)):
        if not os.path.isdir(folder) or os.listdir(folder):
            raise FileExistsError(17, "this is not a demo folder, so it is left alone", folder)
    elif os.path.isdir(folder):
        shutil.rmtree(folder)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, _MARKER), "w", encoding="utf-8") as marker:
        marker.write("Made by `make demo`, which removes this folder when it runs again.\n")


# --- telling


def _watcher(say: Callable[[str], None]) -> GoalWatcher:
    told = ""

    def standing(now: GoalStanding) -> None:
        nonlocal told
        line = f"{figure_line(now.figures)}; waits for {now.waits_for}"
        if line != told:
            told = line
            say(f"  {now.seconds:4.0f} s  {line}")

    return GoalWatcher(standing, say)


def _results(workspace: Workspace, achieved: Achieved, folder: str) -> int:
    """The files that people open: the report, and the spreadsheet. How many rows it has."""
    if achieved.report:
        write_html(with_businesses(workspace, achieved.report), os.path.join(folder, REPORT))
    indexes = campaign_indexes(workspace, CAMPAIGN)
    return export_to_file(indexes, ExportOptions(format="xlsx"), os.path.join(folder, SPREADSHEET)).rows


def _tell(achieved: Achieved, score: Score, say: Callable[[str], None]) -> None:
    for what, count in figure_rows(achieved.standing.figures):
        say(f"  {what:30} {count:>12}")
    for line in unread_lines(achieved.standing.figures):
        say(line)
    say(f"Businesses: {score.found} of {score.planned} that the source shows, each once.")
    say(f"E-mail addresses: {score.addresses} of {score.true_addresses} that can be found; {len(score.wrong)} wrong.")
    for name in ("missing", "twice", "strangers", "confused", "missed", "wrong"):
        for example in getattr(score, name)[:_SHOWN]:
            say(f"  {name}: {example}")


def _variables(folder: str) -> list[str]:
    environ = TownHome(Path(folder)).environ
    return [f"{name}={value}" for name, value in environ.items() if name.startswith("COCLI_")]
