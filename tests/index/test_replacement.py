"""Replacing records: exactly what is given is said, and what others write meanwhile is not lost."""

from __future__ import annotations

from datetime import UTC, datetime

from cocli.index.cache import MemoryCache
from cocli.index.compaction import Compactor
from cocli.index.index import Index
from cocli.index.reader import open_reader
from cocli.index.replacement import replace_records
from cocli.index.versions import version
from cocli.index.writer import IndexWriter
from cocli.keys.paths import IndexRef
from cocli.models.email import EmailEntry
from cocli.pipeline.indexes import open_index
from cocli.store.memory import MemoryStore

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


def entry(name: str, page: str | None = None) -> EmailEntry:
    email = f"{name}@example.com"
    return EmailEntry(email=email, domain="example.com", source_page=page, first_seen=NOON, last_seen=NOON)


def emails() -> Index[EmailEntry]:
    index = open_index(MemoryStore(), IndexRef("emails", "demo"), MemoryCache())
    IndexWriter(index).append([entry("a", "https://old/"), entry("b")])
    Compactor(index).compact()
    return index


def said(index: Index[EmailEntry]) -> dict[str, str | None]:
    return {one.email.partition("@")[0]: one.source_page for one in open_reader(index, fresh=True).scan()}


def keyed(index: Index[EmailEntry], *entries: EmailEntry) -> dict[str, EmailEntry]:
    return {index.spec.key_of(one): one for one in entries}


def test_records_are_said_as_given_and_others_go() -> None:
    index = emails()
    gone = list(keyed(index, entry("b")))
    assert replace_records(index, version(index).version, keyed(index, entry("a"), entry("c")), gone)
    assert said(index) == {"a": None, "c": None}, "a value that is not given is not kept"
    number = version(index).version
    assert replace_records(index, number, keyed(index, entry("a"), entry("c")), gone)
    assert version(index).version == number, "what is so already is no new version"
    Compactor(index).compact()
    assert said(index) == {"a": None, "c": None}, "what was consumed before does not come back"


def test_what_waits_comes_on_top_and_another_version_is_not_overwritten() -> None:
    index = emails()
    number = version(index).version
    IndexWriter(index).put(entry("d"))
    assert replace_records(index, number, keyed(index, entry("a")), list(keyed(index, entry("b"))))
    assert said(index) == {"a": None, "d": None}
    Compactor(index).compact()
    assert said(index) == {"a": None, "d": None}
    assert not replace_records(index, number, keyed(index, entry("x")), ())
    assert said(index) == {"a": None, "d": None}


def test_a_batch_that_a_killed_compactor_left_behind_does_not_come_back() -> None:
    index = open_index(MemoryStore(), IndexRef("emails", "demo"), MemoryCache())
    (batch,) = IndexWriter(index).append([entry("a", "https://old/"), entry("b")])
    data = index.store.get(batch).data
    Compactor(index).compact()
    index.store.put(batch, data)
    assert replace_records(index, version(index).version, keyed(index, entry("a")), list(keyed(index, entry("b"))))
    assert said(index) == {"a": None}
    Compactor(index).compact()
    assert said(index) == {"a": None}
