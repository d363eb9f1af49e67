"""A program on a machine that was evicted: what writes is refused, as on the command line; what reads is answered."""

from __future__ import annotations

import inspect
import socket
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import cocli
from cocli.api import CampaignData, Data, DocumentAccess, EditableCompany
from cocli.documents import Document, DocumentSource
from cocli.errors import HostEvicted
from cocli.formats import json_records
from cocli.keys.paths import EvictionKey
from cocli.models.completion import Ok
from cocli.models.heartbeat import Eviction
from cocli.queue.base import NewTask

READING = {
    Data: {"address", "store", "close", "campaigns", "campaign", "index", "companies", "company", "people", "person",
           "documents"},
    CampaignData: {"config", "prospects", "emails", "index", "query", "coverage", "figures", "companies", "company",
                   "queues", "queue", "documents"},
    DocumentAccess: {"account", "repository", "find", "states", "get", "quarantine"},
    EditableCompany: {"slug", "title", "tags", "facts", "problem", "path", "etag", "notes", "meetings", "people"},
}  # fmt: skip
"""What writes nothing. Every other name of the door has a line in `WRITING`."""

WRITING: dict[str, Callable[[Data, Path], object]] = {
    "Data.new_campaign": lambda data, _: data.new_campaign("bakers", queries=["baker"]),
    "Data.new_company": lambda data, _: data.new_company("Other"),
    "Data.save": lambda data, _: data.save(data.company("acme")),
    "Data.add_note": lambda data, _: data.add_note("acme", "hello"),
    "Data.sync": lambda data, _: data.sync(),
    "CampaignData.import_file": lambda data, leads: data.campaign("plumbers").import_file(leads),
    "CampaignData.settle": lambda data, _: data.campaign("plumbers").settle(),
    "CampaignData.export": lambda data, _: data.campaign("plumbers").export(),
    "CampaignData.report": lambda data, _: data.campaign("plumbers").report(),
    "CampaignData.refresh_companies": lambda data, _: data.campaign("plumbers").refresh_companies(),
    "DocumentAccess.save": lambda data, _: data.documents("plumbers").save(_document(data)),
    "DocumentAccess.upload": lambda data, _: data.documents("plumbers").upload(b"x", "page"),
    "DocumentAccess.release": lambda data, _: data.documents("plumbers").release("page"),
    "EditableCompany.save": lambda data, _: data.company("acme").save(),
    "Queue.put": lambda data, _: data.campaign("plumbers").queue("enrichment").put(NewTask("acme.com")),
    "Queue.claim": lambda data, _: data.campaign("plumbers").queue("enrichment").claim(),
}


def _document(data: Data) -> Document:
    source = DocumentSource(uri="https://a.de/", mime_type="text/html", fetched_at=datetime(2026, 11, 15, tzinfo=UTC))
    account = data.documents("plumbers").account
    return Document.intake(account=account, connector="web", doc="a", source=source)


@pytest.fixture(scope="module")
def evicted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Data, Path]]:
    """A store with a campaign and a company, on a machine that was evicted then."""
    folder = tmp_path_factory.mktemp("evicted")
    names = ("HOME", "COCLI_DATA_HOME", "COCLI_CACHE_HOME", "COCLI_STATE_HOME")
    environ = {name: str(folder / name) for name in names} | {"COCLI_CONFIG": str(folder / "config.toml")}
    leads = folder / "leads.csv"
    leads.write_text("name,website\nBest,https://best.example.com/\n", "utf-8")
    (folder / "store").mkdir()
    with cocli.open(folder / "store", environ=environ) as data:
        data.new_campaign("plumbers", queries=["plumber"])
        data.new_company("Acme")
        here = socket.gethostname()
        record = Eviction(hostname=here, evicted_at=datetime(2026, 11, 15, tzinfo=UTC), evicted_by="ann@desk",
                          reason="stolen", sequence=0, nonce="0" * 24)  # fmt: skip
        data.store.put(str(EvictionKey(here)), json_records.render(record))
    with cocli.open(folder / "store", environ=environ) as data:
        yield data, leads


@pytest.mark.parametrize("name", WRITING)
def test_what_writes_is_refused_and_nothing_is_written(evicted: tuple[Data, Path], name: str) -> None:
    data, leads = evicted
    before = _objects(data)
    with pytest.raises(HostEvicted, match="ann@desk"):
        WRITING[name](data, leads)
    assert _objects(data) == before


def _objects(data: Data) -> dict[str, object]:
    return {info.key: info.etag for info in data.store.list()}


def test_what_reads_is_answered(evicted: tuple[Data, Path], tmp_path: Path) -> None:
    data, leads = evicted
    campaign = data.campaign("plumbers")
    assert [page.slug for page in data.companies()] == ["acme"]
    assert campaign.queue("enrichment").stats().pending == 0
    assert campaign.import_file(leads, dry_run=True).rows == 1
    assert campaign.export(path=tmp_path / "out.csv").rows == 1


def test_every_name_of_the_door_is_said_to_read_or_is_tried() -> None:
    for kind, reading in READING.items():
        public = {name for name, _ in inspect.getmembers(kind) if not name.startswith("_")}
        assert public - reading == {name.partition(".")[2] for name in WRITING if name.startswith(f"{kind.__name__}.")}


def test_a_task_that_was_claimed_before_is_not_ended_after(tmp_path: Path, environ: dict[str, str]) -> None:
    with cocli.open("memory://", environ=environ) as data:
        queue: Any = data.new_campaign("plumbers", queries=["plumber"]).queue("enrichment")
        queue.put(NewTask("acme.com"))
        claim = queue.claim()
        queue._gate = _closed
        with pytest.raises(RuntimeError):
            queue.ack(claim, Ok())
        assert queue.stats().completed == 0


def _closed() -> None:
    raise RuntimeError
