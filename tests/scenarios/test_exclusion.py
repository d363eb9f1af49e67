"""Whoever is excluded after the fact is nowhere any more: report, figures, export, map, list and search."""

from __future__ import annotations

import json

import psutil
import pytest

from tests.scenarios.conftest import Machine, Machines, wait_until

LIST = """name,website,city,lat,lon
Keep Bakery,https://keep-bakery.example,Harrowmere,38.45,-101.15
Drop Bakery,https://drop-bakery.example,Harrowmere,38.46,-101.16
"""


@pytest.mark.timeout(900)
def test_excluded_after_the_fact_though_the_power_fails(machine: Machines, place: str) -> None:
    laptop = machine("laptop", store=place)
    cocli = laptop.cocli
    cocli("campaign", "new", "bakers")
    (laptop.folder / "list.csv").write_text(LIST)
    cocli("import", "list.csv", "-c", "bakers", "--no-visit")
    cocli("company", "refresh", "-c", "bakers")

    def shown() -> tuple[int, int, int, set[str], bool, set[str]]:
        report = cocli("report", "bakers", "--json").json
        cocli("export", "bakers", "--out", "all.json")
        cocli("export", "bakers", "--out", "all.kml")
        names = {row["name"] for row in json.loads((laptop.folder / "all.json").read_text())}
        pages = {page["name"] for page in cocli("company", "ls", "-c", "bakers", "--json").json["companies"]}
        on_map = "Drop Bakery" in (laptop.folder / "all.kml").read_text()
        figures = report["figures"]
        return figures["businesses"], figures["excluded"], figures["websites"]["known"], names, on_map, pages

    everybody = {"Keep Bakery", "Drop Bakery"}
    assert shown() == (2, 0, 2, everybody, True, everybody)
    killed_at_work(laptop, "company", "exclude", "drop-bakery", "-c", "bakers")
    cocli("company", "exclude", "drop-bakery", "-c", "bakers")
    for words in (("report", "bakers"), ("export", "bakers", "--out", "all.json")):
        killed_at_work(laptop, *words)
    found = cocli("find", "bakery", "-c", "bakers", "--json").json["matches"]
    assert {match["title"] for match in found} == {"Keep Bakery"}
    assert shown() == (1, 1, 1, {"Keep Bakery"}, False, {"Keep Bakery"})
    cocli("company", "exclude", "drop-bakery", "-c", "bakers", "--undo")
    assert shown() == (2, 0, 2, everybody, True, everybody)


def killed_at_work(laptop: Machine, *words: str) -> None:
    """A command whose power fails when it has been at work for a moment; on which step, nobody knows."""
    begun = laptop.start(*words)
    watched = psutil.Process(begun.pid)
    wait_until(lambda: begun.poll() is not None or sum(watched.cpu_times()[:2]) > 0.3, "it has begun")
    laptop.kill(begun)
