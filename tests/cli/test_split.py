"""`cocli company split`: a wrong merge is undone by the command line, and nothing brings it back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from cocli.index.cache import MemoryCache
from cocli.index.reader import open_reader
from cocli.index.writer import IndexWriter
from cocli.keys.paths import IndexRef
from cocli.models.prospect import Prospect
from cocli.pipeline.indexes import open_index
from cocli.pipeline.merge import move_prospect
from cocli.store import open_store
from tests.kit.servers import S3Server

HEAD = "name,street,city,postcode,website,phone,latitude,longitude,email\n"
STAG = "Goldener Hirsch,Marktplatz 3,Weimar,99423,https://hirsch.de/,+49 3643 801234,50.98,11.32,info@hirsch.de\n"
CELLAR = (
    "Weinkeller Hubertus,Marktplatz 3,Weimar,99423,https://hirsch.de/,+49 3643 801234,50.98001,11.32,wein@hirsch.de\n"
)
THIRD = "Hubertus Weinkeller,Marktplatz 3,Weimar,99423,https://hirsch.de/,+49 3643 801234,50.98002,11.32,\n"


@pytest.fixture(params=["folder", "s3"])
def at(request: pytest.FixtureRequest, cocli: Any, home: Path, tmp_path: Path) -> tuple[str, ...]:
    """A campaign in a folder or in a bucket, with two businesses that were taken for one."""
    if request.param == "s3":
        server: S3Server = request.getfixturevalue("seaweedfs")
        words = ("--store", server.url("cocli-data-test", f"split-{tmp_path.name}"))
    else:
        (home / "data").mkdir()
        words = ("--store", str(home / "data"))
    made = cocli("campaign", "new", "inns", "--query", "inn", "--location", "Weimar,50.98,11.32", *words)
    assert made.code == 0, made.err
    imported(cocli, home, words, HEAD + STAG + CELLAR)
    assert len(businesses(words)) == 1
    return words


def imported(cocli: Any, home: Path, at: tuple[str, ...], rows: str) -> None:
    (home / "rows.csv").write_text(rows, "utf-8")
    done = cocli("import", str(home / "rows.csv"), "-c", "inns", "--no-visit", *at)
    assert done.code == 0, done.err
    settled(cocli, at)


def settled(cocli: Any, at: tuple[str, ...]) -> None:
    done = cocli("campaign", "settle", "inns", *at)
    assert done.code == 0, done.err


@contextmanager
def index_at(at: tuple[str, ...]) -> Iterator[Any]:
    with closing(open_store(at[1])) as store:
        yield open_index(store, IndexRef("prospects", "inns"), MemoryCache())


def businesses(at: tuple[str, ...]) -> list[Prospect]:
    with index_at(at) as index:
        found = [record for record in open_reader(index, fresh=True).scan() if record.merged_into is None]
    return sorted(found, key=lambda record: record.name)


def split(cocli: Any, at: tuple[str, ...]) -> None:
    done = cocli("company", "split", "hirsch.de", "Weinkeller Hubertus", "-c", "inns", "--yes", "--json", *at)
    assert done.code == 0, done.err
    assert done.json["status"] == "split"
    assert done.json["part"]["name"] == "Weinkeller Hubertus"


def assert_apart(at: tuple[str, ...]) -> None:
    stag, cellar = businesses(at)
    assert (stag.name, cellar.name) == ("Goldener Hirsch", "Weinkeller Hubertus")
    assert (stag.lat, cellar.lat) == (50.98, 50.98001)
    assert "wein@hirsch.de" not in stag.all_emails
    assert "info@hirsch.de" not in cellar.all_emails
    assert stag.company_hash in cellar.split_from


def test_a_split_stays(cocli: Any, home: Path, at: tuple[str, ...]) -> None:
    """Settled again, imported again, seen anew under another id and name, brought back by somebody who was late."""
    shown = cocli("company", "split", "hirsch.de", "-c", "inns", "--dry-run", "--json", *at).json
    assert [part["name"] for part in shown["parts"]] == ["Goldener Hirsch", "Weinkeller Hubertus"]
    assert len(businesses(at)) == 1, "a dry run changes nothing"
    mixed = businesses(at)[0]
    split(cocli, at)
    assert_apart(at)
    settled(cocli, at)
    assert_apart(at)
    imported(cocli, home, at, HEAD + CELLAR + STAG)
    assert_apart(at)
    imported(cocli, home, at, HEAD + THIRD)
    stag, cellar = businesses(at)
    assert (len(stag.source_ids), len(cellar.source_ids)) == (1, 2), "what is seen of a part goes to the part"
    pointing, _ = move_prospect(cellar, stag.company_hash, reason="same domain", at=cellar.updated_at)
    with index_at(at) as index:
        IndexWriter(index).append(sorted([pointing, mixed], key=lambda record: record.company_hash))
    assert len(businesses(at)) == 1, "an older copy came back"
    settled(cocli, at)
    stag, cellar = businesses(at)
    assert not {*stag.source_ids} & {*cellar.source_ids}
    assert cellar.merged_into is None


def test_a_split_survives_sync_and_promotion(cocli: Any, home: Path, tmp_path: Path, seaweedfs: S3Server) -> None:
    (home / "data").mkdir()
    here = ("--store", str(home / "data"))
    there = ("--store", seaweedfs.url("cocli-data-test", f"split-sync-{tmp_path.name}"))
    made = cocli("campaign", "new", "inns", "--query", "inn", "--location", "Weimar,50.98,11.32", *here)
    assert made.code == 0, made.err
    imported(cocli, home, here, HEAD + STAG + CELLAR)
    assert cocli("sync", "push", *there).code == 0
    assert len(businesses(there)) == 1
    split(cocli, here)
    both = cocli("sync", "both", *there)
    assert both.code == 0, both.err
    assert_apart(there)
    settled(cocli, there)
    assert_apart(there)
    assert cocli("sync", "both", *there).code == 0
    assert_apart(here)
    for words in (("replay", "--edition", "next"), ("promote", "next"), ("promote", "main")):
        done = cocli("documents", *words, "-c", "inns", *here)
        assert done.code == 0, done.err
    assert_apart(here)
    settled(cocli, here)
    assert_apart(here)


@pytest.mark.parametrize("at", ["folder"], indirect=True)
def test_what_cannot_be_split_says_why(cocli: Any, at: tuple[str, ...]) -> None:
    nobody = cocli("company", "split", "hirsch.de", "Nobody", "-c", "inns", "--yes", *at)
    assert nobody.code == 2
    assert "names 0 of the parts: Goldener Hirsch [" in nobody.err
    unclear = cocli("company", "split", "hirsch.de", "-c", "inns", "--yes", *at)
    assert "2 businesses were merged: Goldener Hirsch [" in unclear.err
    split(cocli, at)
    alone = cocli("company", "split", "Goldener Hirsch", "-c", "inns", "--yes", *at)
    assert alone.code == 2
    assert "nothing was merged into" in alone.err
