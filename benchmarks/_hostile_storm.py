"""The main job before a town with hostile websites, without and with kills: part of `benchmarks.hostile`."""

from __future__ import annotations

import tempfile
import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tests.chaos.conftest import Field

from cocli.demo.ports import free_ports
from cocli.demo.town import build_town
from cocli.demo.town.http_server import running
from cocli.demo.town.websites.server import WebsiteServer

if TYPE_CHECKING:
    from tests.kit.town_records import TownOutcome

    from cocli.demo.town.websites.replies import Reply

_SECONDS = 900.0
_ONE_IN = 6
"""So many websites are one hostile one."""
_PHRASES = ("bakery",)
_WORKERS = 2
_GROWTH = 1.05
"""Of the time between two kills: a busy machine starts no process within two seconds, and would never end."""


@dataclass(frozen=True, slots=True)
class StormOutcome:
    """What is different after the storm from what it is without one."""

    differences: list[str]
    kills: int
    records: int
    hostile: int


@dataclass(slots=True)
class HostileServer(WebsiteServer):
    """The town's websites; behind what some pages say, they are hostile."""

    page: bytes = b""
    hostile: set[str] = field(default_factory=set)

    def _reply(self, host: str, path: str) -> Reply:
        reply = WebsiteServer._reply(self, host, path)
        if b"</body>" not in reply.body or zlib.crc32(host.encode()) % _ONE_IN:
            return reply
        self.hostile.add(host)
        return replace(reply, body=reply.body.replace(b"</body>", self.page + b"</body>"))


def lost_in_a_storm(page: bytes, seed: int) -> StormOutcome:
    town = build_town()
    server = HostileServer(town, lambda _: 0.0, 0.2, refusing_port=free_ports(1)[0], page=page)
    with tempfile.TemporaryDirectory() as folder, running(server.answer, 0, "hostile") as server.port:
        calm = _ended(Field(town, server, _made(folder, "calm"), _PHRASES, workers=_WORKERS), seed, 1e9)
        stormy = _ended(Field(town, server, _made(folder, "storm"), _PHRASES, workers=_WORKERS), seed, 2.0)
        (undisturbed, _), (after, kills) = calm, stormy
        records = sum(len(rows) for rows in undisturbed.records.values())
        return StormOutcome(after.differences(undisturbed), kills, records, len(server.hostile))


def _made(folder: str, name: str) -> Path:
    made = Path(folder) / name
    made.mkdir()
    return made


def _ended(place: Field, seed: int, period: float) -> tuple[TownOutcome, int]:
    """What the job came to, and how many processes were killed."""
    home = place.machine("home")
    storm = place.storm(place.goal(home), seed=seed, period=period, growth=_GROWTH)
    if not storm.rage(_SECONDS):
        raise AssertionError(f"the job did not end: {storm.log_of('goal')[-2000:]}")
    return place.outcome(home), len(storm.kills)
