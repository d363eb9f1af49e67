"""The parts underneath, held against simple models of themselves: search, rewriting of runs, sums, fingerprints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from tests.kit.effort import effort

from cocli.formats import usv
from cocli.index.cache import MemoryCache
from cocli.index.care.verification import verify
from cocli.index.compaction import Compactor
from cocli.index.index import Index
from cocli.index.keys import Fingerprints, KeySum
from cocli.index.reader import open_reader
from cocli.index.rows import mapped, render_header, standard_header
from cocli.index.shards import Shard
from cocli.index.writer import IndexWriter
from cocli.keys.paths import IndexRef
from cocli.keys.tile import Tile
from cocli.models.domain import Domain
from cocli.models.witness import TargetTile
from cocli.pipeline.indexes import open_index
from cocli.store.memory import MemoryStore

REF = IndexRef("domains")
names = st.integers(0, 60).map(lambda number: f"shop-{number}.com")
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


def small_index() -> Index[Domain]:
    index: Index[Domain] = open_index(MemoryStore(), REF, MemoryCache())
    return replace(index, spec=replace(index.spec, shard_rows=4, fold_rows=8))


@given(st.sets(names, min_size=1), names)
def test_a_key_is_found_exactly_if_it_is_there(there: set[str], wanted: str) -> None:
    spec = small_index().spec
    records = sorted((Domain(domain=name) for name in there), key=spec.key_of)
    shard = Shard(spec, usv.render(Domain, records), file="f")
    line = shard.find(spec.key_text(wanted))
    assert (line is not None) == (wanted in there)
    assert line is None or shard.rows.record(line).domain == wanted
    assert [key for key, _ in shard.lines()] == [spec.key_of(record) for record in records]


@given(st.lists(texts, min_size=1, max_size=5, unique=True))
def test_keys_of_several_columns_survive_any_text(phrases: list[str]) -> None:
    index: Index[TargetTile] = open_index(MemoryStore(), IndexRef("target-tiles", "c"), MemoryCache())
    at = MemoryStore().now()
    records = [TargetTile(tile=Tile(0, 0), phrase=phrase or "-", campaign="c", planned_at=at) for phrase in phrases]
    IndexWriter(index).append(records)
    Compactor(index).compact()
    reader = open_reader(index)
    for record in records:
        found = reader.get(index.spec.key_of(record))
        assert found is not None
        assert found.phrase == record.phrase


@given(st.sets(st.text(st.characters(codec="ascii"), min_size=1)), st.randoms())
def test_a_sum_does_not_depend_on_the_order_and_can_be_taken_back(keys: set[str], random: object) -> None:
    one, other = KeySum(), KeySum()
    for key in sorted(keys):
        one.add(key)
    for key in sorted(keys, reverse=True):
        other.add(key)
    assert str(one) == str(other)
    other.add("another")
    assert str(one) != str(other)
    other.remove("another")
    assert str(KeySum(str(one))) == str(other)


def test_fingerprints_know_every_key_and_hardly_any_other() -> None:
    keys = [f"{number:016x}" for number in range(8000)]
    prints = Fingerprints(Fingerprints.render(keys))
    assert all(prints.may_hold(key) for key in keys)
    taken = sum(prints.may_hold(f"other-{number}") for number in range(20_000))
    assert taken < 60, "one in 2,000 is expected"
    assert not Fingerprints(Fingerprints.render([])).may_hold("x")


@given(st.lists(texts, min_size=1, max_size=4), st.permutations(standard_header(Domain)))
def test_lines_are_the_same_records_under_another_header(versions: list[str], order: list[str]) -> None:
    records = [
        Domain(domain=f"shop-{number}.com", scraper_version=f"v{version}" if version.isalnum() else None)
        for number, version in enumerate(versions)
    ]
    body = usv.render(Domain, records).split(b"\n", 1)[1]
    moved = mapped(Domain, body, standard_header(Domain), tuple(order))
    assert list(usv.read(Domain, render_header(tuple(order)) + b"\n" + moved)) == records


def test_a_column_that_a_shard_lacks_gets_its_default_when_it_is_rewritten() -> None:
    header = ("domain",)
    wanted = standard_header(Domain)
    moved = mapped(Domain, b"one.com\n", header, wanted)
    assert list(usv.read(Domain, render_header(wanted) + b"\n" + moved)) == [Domain(domain="one.com")]


class IndexMachine(RuleBasedStateMachine):
    """An index beside a dictionary: whatever is done, both say the same."""

    def __init__(self) -> None:
        super().__init__()
        self.index = small_index()
        self.model: dict[str, Domain] = {}
        self.minutes = 0

    @rule(some=st.dictionaries(names, st.sampled_from(["1.1.1.1", "2.2.2.2", None]), min_size=1, max_size=15))
    def append(self, some: dict[str, str | None]) -> None:
        records = [Domain(domain=name, ip=ip) for name, ip in some.items()]
        IndexWriter(self.index).append(records)
        self._remember(records)

    @rule(name=names, mx=st.lists(st.sampled_from(["a.com", "b.com"]), max_size=1))
    def put(self, name: str, mx: list[str]) -> None:
        """Everything that is observed has its time, so that no two observations are the same."""
        self.minutes += 1
        record = Domain(domain=name, mx=tuple(mx), last_crawled=NOON + timedelta(minutes=self.minutes))
        IndexWriter(self.index).put(record)
        self._remember([record])

    @rule(rows=st.integers(1, 20), fold=st.integers(0, 20), round_records=st.integers(1, 30))
    def compact(self, rows: int, fold: int, round_records: int) -> None:
        spec = replace(self.index.spec, shard_rows=rows, fold_rows=fold)
        Compactor(replace(self.index, spec=spec), round_records=round_records).compact()

    @rule(some=st.sets(names, max_size=10))
    def remove(self, some: set[str]) -> None:
        spec = self.index.spec
        report = Compactor(self.index).remove(spec.key_text(name) for name in some)
        assert report.removed == len(some & set(self.model))
        for name in some:
            self.model.pop(name, None)

    @invariant()
    def the_same(self) -> None:
        fresh = open_reader(self.index, fresh=True)
        assert {record.domain: record for record in fresh.scan()} == self.model
        assert verify(self.index).problems == []
        packed = list(open_reader(self.index).scan())
        keys = [self.index.spec.key_of(record) for record in packed]
        assert keys == sorted(set(keys))

    def _remember(self, records: list[Domain]) -> None:
        for record in records:
            known = self.model.get(record.domain)
            self.model[record.domain] = self.index.spec.merge(known, record) if known else record


TestIndexMachine = IndexMachine.TestCase
TestIndexMachine.settings = settings(max_examples=effort(25), stateful_step_count=12, deadline=None)


def test_what_is_put_again_after_its_removal_is_there() -> None:
    """Observed again, or in a batch. The very same file cannot be told from one that was left behind."""
    index, record = small_index(), Domain(domain="shop.com", last_crawled=NOON)
    key = index.spec.key_of(record)
    for again in (record.with_changes(last_crawled=NOON + timedelta(seconds=1)), None):
        IndexWriter(index).put(record)
        assert Compactor(index).remove([key]).removed == 1
        if again is None:
            IndexWriter(index).append([record])
        else:
            IndexWriter(index).put(again)
        assert open_reader(index, fresh=True).get(key) == (again or record)
        Compactor(index).remove([key])


def test_a_batch_that_was_removed_before_it_was_packed_can_be_written_again() -> None:
    index, records = small_index(), [Domain(domain=f"shop-{number}.com", ip="1.1.1.1") for number in range(5)]
    for _ in range(2):
        IndexWriter(index).append(records)
        assert Compactor(index).remove(index.spec.key_of(record) for record in records).removed == len(records)
    IndexWriter(index).append(records)
    assert len(list(_all(index))) == len(records)


def test_a_range_is_scanned_with_both_ends(tmp_path: object) -> None:
    index = small_index()
    IndexWriter(index).append([Domain(domain=f"shop-{number}.com") for number in range(40)])
    Compactor(index).compact()
    IndexWriter(index).append([Domain(domain="more.com")])
    keys = sorted(index.spec.key_of(record) for record in _all(index))
    found = [index.spec.key_of(record) for record in open_reader(index, fresh=True).scan(keys[3], keys[17])]
    assert found == keys[3:18]


def _all(index: Index[Domain]) -> Iterator[Domain]:
    return open_reader(index, fresh=True).scan()
