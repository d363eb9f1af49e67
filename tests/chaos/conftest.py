"""Homes of one or more machines for the demo town, and how a run in them is told from one that nobody disturbed."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.kit import servers
from tests.kit.storm import Job, Storm
from tests.kit.town_records import TownOutcome, outcome_of

from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags
from cocli.demo.town import WebsiteServer, build_town, serve_websites, truth_of
from cocli.demo.town.campaign import CAMPAIGN, TownHome, found_campaign, join_campaign
from cocli.demo.town.score import Score, businesses_of, score_of
from cocli.demo.town.town import Town

COCLI = (sys.executable, "-m", "cocli")
SETTINGS = ("queue.lease_seconds=5", "queue.attempts=100")


@dataclass
class Field:
    """Where a test happens. The town and its servers are shared, the homes are the test's own."""

    town: Town
    websites: WebsiteServer
    folder: Path
    phrases: Sequence[str]
    settings: Sequence[str] = SETTINGS
    store: str | None = None
    workers: int = 1
    """Processes for websites that `goal` starts. Some sites take longer than one of few processes lives."""
    homes: dict[str, TownHome] = field(default_factory=dict)

    def machine(self, name: str, store: str | None = None) -> TownHome:
        """The first one makes the campaign, the others join it."""
        variables = {**servers.credentials_environment(), "AWS_EC2_METADATA_DISABLED": "true"}
        home = TownHome(self.folder / name, store or self.store, variables)
        if self.homes:
            join_campaign(home, self.town, self.websites)
        else:
            found_campaign(home, self.town, self.websites, self.settings, phrases=self.phrases)
        self.homes[name] = home
        return home

    def goal(self, home: TownHome, *words: str) -> Job:
        words = words or ("--work", "--workers", str(self.workers))
        command = (*COCLI, "campaign", "achieve-goal", CAMPAIGN, "--quiet", *words)
        return Job("goal", command, home.environ)

    def supervisor(self, home: TownHome, host: str) -> Job:
        command = (*COCLI, "supervisor", "--campaign", CAMPAIGN, "--host", host, "--heartbeat", "1", "--poll", "1")
        return Job(host, command, home.environ)

    def storm(
        self,
        main: Job,
        others: Sequence[Job] = (),
        *,
        seed: int = 1,
        period: float = 1.0,
        growth: float = 1.0,
    ) -> Storm:
        """`main` has a worker for searches beside those for websites, the others have one of each."""
        crew = 2 + self.workers + 3 * len(others)
        return Storm(main, others, self.folder, random.Random(seed), crew, period, growth)

    def outcome(self, home: TownHome) -> TownOutcome:
        with open_workspace(home.environ, Flags()) as workspace:
            return outcome_of(workspace, CAMPAIGN)

    def score(self, home: TownHome) -> Score:
        with open_workspace(home.environ, Flags()) as workspace:
            return score_of(businesses_of(workspace, CAMPAIGN), truth_of(self.town), "overture", self.phrases)

    def undisturbed(self) -> TownOutcome:
        """What comes of it on one machine, if nothing happens."""
        calm = Field(self.town, self.websites, self.folder / "calm", self.phrases, self.settings)
        home = calm.machine("home")
        storm = calm.storm(calm.goal(home), period=1e9)
        assert storm.rage(600), storm.log_of("goal")
        assert calm.score(home).perfect
        return calm.outcome(home)


@pytest.fixture(scope="session")
def town() -> Town:
    return build_town()


@pytest.fixture(scope="session")
def websites(town: Town) -> Iterator[WebsiteServer]:
    with serve_websites(town, hang_seconds=0.2) as server:
        yield server


@pytest.fixture
def field_of(town: Town, websites: WebsiteServer, tmp_path: Path) -> Field:
    return Field(town, websites, tmp_path, ("bakery",))


@pytest.fixture(scope="session")
def undisturbed(town: Town, websites: WebsiteServer, tmp_path_factory: pytest.TempPathFactory) -> TownOutcome:
    return Field(town, websites, tmp_path_factory.mktemp("undisturbed"), ("bakery",)).undisturbed()


@pytest.fixture(scope="module")
def a_field(town: Town, websites: WebsiteServer, tmp_path_factory: pytest.TempPathFactory) -> Field:
    return Field(town, websites, tmp_path_factory.mktemp("field"), ("bakery",))
