"""What a campaign found is put where people open it: in a folder, and in a bucket with links that a browser follows."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from html import unescape
from pathlib import Path
from urllib.parse import urljoin

import httpx2
import pytest
from python_calamine import CalamineWorkbook

from tests.scenarios.conftest import Machine, Machines, wait_until

CAMPAIGN = "bakers"
LIST = """name,phone,website,city,country,lat,lon
Alpha Bakery,+12175550101,https://alpha.example,Springfield,US,39.8,-89.6
"=HYPERLINK(""http://evil.example"")",+12175550102,https://beta.example,Springfield,US,39.7,-89.5
Rival & Sons,+12175550103,https://rival.example,Chatham,US,39.6,-89.7
"""
NAMES = ["=HYPERLINK(\"http://evil.example\")", "Alpha Bakery"]  # fmt: skip


def prepare(laptop: Machine) -> None:
    """A list, of which one business is not to be contacted."""
    (laptop.folder / "list.csv").write_text(LIST)
    laptop.cocli("campaign", "new", CAMPAIGN)
    laptop.cocli("import", "list.csv", "-c", CAMPAIGN, "--no-visit")
    laptop.cocli("campaign", "edit", CAMPAIGN, "--set", "exclude.domains+=rival.example")


def links(page: str) -> dict[str, str]:
    """Name of the file → its link; the report is `report.html`."""
    found = re.findall(r'<a class="(?:open|name)" href="([^"]+)"', page)
    return {re.split(r"[?#]", link)[0].rsplit("/", 1)[-1]: unescape(link) for link in found}


class Browser:
    """Reads pages without any credentials: over HTTP, or from a folder."""

    def __init__(self, start: str) -> None:
        self.start = start

    def read(self, link: str = "") -> bytes:
        where = urljoin(self.start, link)
        if not where.startswith("http"):
            return Path(where).read_bytes()
        answer = httpx2.get(where)
        assert answer.status_code == 200, where
        self.type = answer.headers["content-type"]
        return answer.content

    def whole_set(self) -> dict[str, bytes]:
        """Every file that the page leads to: none is missing, and all are of one publication."""
        return {name: self.read(link) for name, link in links(self.read().decode()).items()}


def names_in(files: dict[str, bytes]) -> list[str]:
    sheet = CalamineWorkbook.from_filelike(io.BytesIO(files[f"{CAMPAIGN}.xlsx"])).get_sheet_by_index(0).to_python()
    in_sheet = sorted(str(row[0]) for row in sheet[1:])
    rows = csv.DictReader(io.StringIO(files[f"{CAMPAIGN}.csv"].decode("utf-8-sig")))
    assert sorted(row["name"].removeprefix("'") for row in rows) == in_sheet
    for other in (f"{CAMPAIGN}.geojson", f"{CAMPAIGN}.kml", "report.html"):
        assert "Rival" not in files[other].decode(), other
    return in_sheet


@pytest.mark.timeout(900)
def test_a_campaign_is_published_and_kept_fresh(machine: Machines, place: str) -> None:
    laptop = machine("laptop", store=place)
    prepare(laptop)
    signed = () if os.path.isdir(place) else ("--presign", "1h")
    told = laptop.cocli("campaign", "publish", CAMPAIGN, *signed, "--json").json
    browser = Browser(told["link"] or told["path"])
    files = browser.whole_set()
    assert names_in(files) == NAMES
    endings = ("xlsx", "csv", "parquet", "geojson", "kml")
    assert [file["name"] for file in told["files"]] == [f"{CAMPAIGN}.{ending}" for ending in endings]
    if signed:
        browser.read()
        assert browser.type.startswith("text/html")
        stable = Browser(told["files"][0]["link"])
        assert stable.read() == files[f"{CAMPAIGN}.xlsx"]

    killed_on_the_way(laptop, browser, signed)
    laptop.cocli("campaign", "edit", CAMPAIGN, "--set", "exclude.names+=Alpha Bakery")
    laptop.cocli("campaign", "publish", CAMPAIGN, *signed)
    fresh = browser.whole_set()
    assert names_in(fresh) == NAMES[:1]
    if signed:
        assert stable.read() == fresh[f"{CAMPAIGN}.xlsx"]


def killed_on_the_way(laptop: Machine, browser: Browser, signed: tuple[str, ...]) -> None:
    """Whoever opens the page finds every file of the earlier publication, or every file of the new one."""
    before = browser.read()
    known = sets(laptop)
    begun = laptop.start("campaign", "publish", CAMPAIGN, *signed, "--quiet")
    wait_until(lambda: sets(laptop) - known or begun.poll() is not None, "the next publication has begun to write")
    laptop.kill(begun)
    assert names_in(browser.whole_set()) == NAMES
    assert browser.read() == before or sets(laptop) - known


def sets(laptop: Machine) -> set[str]:
    """The folders of publications that are in the store."""
    told = laptop.cocli("store", "ls", f"campaigns/{CAMPAIGN}/exports/published/sets/", "--json").json
    return {found.split("/sets/")[1].split("/")[0] for found in re.findall(r"[^\"]*/sets/[^\"]+", json.dumps(told))}
