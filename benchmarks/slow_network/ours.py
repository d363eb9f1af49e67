"""Ours: the commands that a person types, from a list to records in a folder, with nothing set but where names lead."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.slow_network.program import Spent, run_watched
from benchmarks.slow_network.server import NetworkServer
from cocli.demo.town.campaign import TownHome
from cocli.demo.town.websites.site import TownSite
from cocli.pipeline.websites.fetch.hosts_file import EVERY_OTHER

CAMPAIGN = "network"


@dataclass(frozen=True, slots=True)
class Worked:
    """What a worker took, and what it said at its end."""

    spent: Spent
    told: dict[str, Any]


class Machine:
    """A home with a campaign whose list is imported. Its worker is not started yet."""

    def __init__(self, folder: Path, server: NetworkServer, *, knows_companies: bool = False) -> None:
        """The list has websites alone; or companies, as every source of places knows them."""
        self._home = TownHome(folder)
        self._home.data.mkdir(parents=True)
        hosts = {**server.hosts(), EVERY_OTHER: None}
        (folder / "hosts.json").write_text(json.dumps(hosts), "utf-8")
        settings = f"[fetch]\nhosts_file = {json.dumps(str(folder / 'hosts.json'))}\n"
        (folder / "config.toml").write_text(settings + 'allow_networks = ["127.0.0.0/8"]\n', "utf-8")
        with (folder / "leads.csv").open("w", encoding="utf-8", newline="") as opened:
            rows = [_company(listed.site) if knows_companies else _website(listed.site) for listed in server.sites]
            writer = csv.DictWriter(opened, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        self._cocli("campaign", "new", CAMPAIGN)
        self._cocli("import", "leads.csv", "-c", CAMPAIGN)

    def work(self) -> Worked:
        """`cocli worker enrichment --once`: until no website is left that can be read now."""
        spent = run_watched(
            [self._command("worker", "enrichment", "--once", "-c", CAMPAIGN, "--json", "--quiet")],
            [""],
            environ=self._environ,
            folder=self._home.folder,
        )
        return Worked(spent, json.loads(spent.outputs[0]))

    def queue_again(self, batch: str = "again", *, brief: bool = True) -> None:
        """All websites once more, as a second visit: the pages that have the contacts, or every page."""
        how = ["--brief"] if brief else []
        self._cocli("campaign", "retry", CAMPAIGN, "--sites", "leads.csv", "--batch", batch, *how)

    def refresh(self, within: str) -> None:
        """What is due within so long from now, as if that time had passed."""
        self._cocli("campaign", "refresh", CAMPAIGN, "--within", within)

    def keep_fresh(self, every: str) -> None:
        """How old a reading may become. The day's budget is no limit here."""
        self._cocli("campaign", "edit", CAMPAIGN, "--set", f"refresh.every={every}", "--set", "refresh.budget=10000000")

    def settle(self) -> None:
        """What supervisors do when a campaign has come to its end: records are brought together and packed."""
        self._cocli("campaign", "settle", CAMPAIGN)

    def forget_robots(self) -> None:
        """As if a day had passed: what robots.txt files said is not known any more."""
        for path in self._home.folder.rglob("robots.sqlite3*"):
            path.unlink()

    @property
    def _environ(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
        return {**self._home.environ, **kept}

    def _command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "cocli", *words]

    def _cocli(self, *words: str) -> None:
        command = self._command(*words, "--quiet")
        subprocess.run(command, env=self._environ, cwd=self._home.folder, stdout=subprocess.DEVNULL, check=True)


def _website(site: TownSite) -> dict[str, str]:
    return {"website": site.url, "country": "US"}


def _company(site: TownSite) -> dict[str, str]:
    street, _, place = (site.address or "").partition(", ")
    city, _, postcode = place.partition(", KS ")
    known = {"name": site.name, "phone": site.phone or "", "street": street, "city": city, "state": "KS"}
    return {**known, "postcode": postcode, **_website(site)}
