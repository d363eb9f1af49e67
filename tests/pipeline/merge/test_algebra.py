"""What every merge promises, over the real models: order and repetition do not matter, and nothing is hollowed out."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kit.effort import effort

from cocli.errors import MergeError
from cocli.keys.tile import Tile
from cocli.models.completion import Blocked, Completion, Empty, Ok
from cocli.models.domain import Domain
from cocli.models.email import EmailEntry
from cocli.models.freshness.change import BusinessChange
from cocli.models.freshness.roll import ListedPlace, TileRoll
from cocli.models.freshness.standing import BusinessStanding
from cocli.models.harvest import HarvestedTile
from cocli.models.origin import Origin
from cocli.models.place import OpenHours
from cocli.models.prospect import Prospect, StaffMember
from cocli.models.record import Record
from cocli.models.witness import TargetTile, Witness
from cocli.pipeline import merge as merging
from cocli.pipeline.merge.rules import RULES, SOURCES, MergeRule

NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
times = st.integers(0, 3).map(lambda hours: NOON + timedelta(hours=hours))
# Few values: what breaks a merge is that two records agree in part.
texts = st.sampled_from(["", " ", "Acme", "Brill", "Ä\n🎈"])
names = st.sampled_from(["acme", "brill", "céd"])
hashes = st.sampled_from(["0" * 16, "f" * 16])
documents = st.none() | st.sampled_from([f"{digit * 8}-0000-0000-0000-000000000000" for digit in "01"])
sources = st.sampled_from([*SOURCES, "elsewhere"])
extras = st.dictionaries(st.sampled_from(["fax", "socials.x", "\x01", "x"]), st.none() | texts, max_size=2)
numbers = st.sampled_from([0.0, -0.0, 1.5, 4.0])


def maybe(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


@st.composite
def origins(draw: st.DrawFn, model: type[Record]) -> tuple[Origin, ...]:
    """Some fields share an observation, some have none, and some origins speak of nothing that is there."""
    fields = [name for name, rule in RULES[model].items() if rule is not MergeRule.SAME]
    fields += ["socials.facebook", "socials.gone", "fax", "newer_field"] if model is Prospect else ["fax"]
    chosen = draw(st.lists(st.sampled_from(fields), unique=True))
    cut = draw(st.integers(0, len(chosen)))
    parts = [part for part in (chosen[:cut], chosen[cut:]) if part]
    return tuple(
        Origin(
            fields=tuple(part),
            source=draw(sources),
            observed_at=draw(times),
            document=draw(documents),
            reason=draw(maybe(texts)),
        )
        for part in parts
    )


@st.composite
def records(draw: st.DrawFn, model: type[Record]) -> Record:
    values = {name: draw(strategy) for name, strategy in FIELDS[model].items()}
    if "origins" in model.model_fields:
        values["origins"] = draw(origins(model))
    if model is Prospect and (values["lat"] is None) != (values["lon"] is None):
        values["lat"] = values["lon"] = None  # half of a position is none; `test_half_a_position` looks at it
    return model.checked(values).with_extras(draw(extras))


hours = st.builds(OpenHours, day=st.sampled_from(["mo", "su"]), opens=st.just("08:00"), closes=st.just("24:00"))
FIELDS: dict[type[Record], dict[str, st.SearchStrategy[Any]]] = {
    Prospect: {
        "company_hash": st.just("0" * 16),
        "place_id": maybe(st.sampled_from(["ChIJ" + "a" * 23, "ChIJ" + "b" * 23])),
        "slug": names,
        "name": texts,
        "phone": maybe(texts),
        "phone_e164": maybe(st.sampled_from(["+13105550100", "+13105550101"])),
        "website": maybe(texts),
        "domain": maybe(st.sampled_from(["acme.example", "brill.example"])),
        "street": maybe(texts),
        "city": maybe(texts),
        "region": maybe(texts),
        "postcode": maybe(texts),
        "country": maybe(st.sampled_from(["DE", "US"])),
        "lat": maybe(numbers),
        "lon": maybe(numbers),
        "categories": st.lists(texts, max_size=2),
        "rating": maybe(numbers),
        "review_count": maybe(st.integers(0, 2)),
        "hours": st.lists(hours, max_size=2),
        "business_status": maybe(st.sampled_from(["operational", "permanently_closed"])),
        "socials": st.dictionaries(st.sampled_from(["facebook", "x"]), texts, max_size=2),
        "primary_email": maybe(st.sampled_from(["info@acme.example", "a@brill.example"])),
        "all_emails": st.lists(st.sampled_from(["info@acme.example", "a@brill.example"]), max_size=3),
        "tags": st.lists(names, max_size=3),
        "campaign": st.just("roofers"),
        "phrases": st.lists(texts, max_size=2),
        "tiles": st.lists(st.sampled_from(["33.7_-118.3", "33.8_-118.3"]), max_size=2),
        "first_seen": times,
        "updated_at": times,
        "sources": st.lists(sources, max_size=2),
        "source_ids": st.lists(st.sampled_from(["overture:1", "overture:2"]), max_size=2),
        "merged_into": maybe(hashes),
        "split_from": st.lists(st.sampled_from(["0" * 16, "1" * 16]), max_size=2).map(tuple),
        "people": st.lists(st.builds(StaffMember, name=names, role=maybe(texts)), max_size=2),
    },
    EmailEntry: {
        "email": st.just("info@acme.example"),
        "domain": st.sampled_from(["acme.example", "brill.example"]),
        "company_hash": maybe(hashes),
        "source_page": maybe(texts),
        "method": maybe(names),
        "label": maybe(st.sampled_from(["role", "person"])),
        "name": maybe(texts),
        "first_seen": times,
        "last_seen": times,
        "verification": st.sampled_from(["unknown", "syntax", "mx", "deliverable", "undeliverable", "risky"]),
        "tags": st.lists(names, max_size=3),
        "confidence": maybe(st.sampled_from([0.02, 0.89, 0.99])),
    },
    Domain: {
        "domain": st.just("acme.example"),
        "company_hash": maybe(hashes),
        "status": maybe(st.sampled_from(["alive", "dead", "parked", "blocked"])),
        "mx": st.lists(texts, max_size=2),
        "ip": maybe(texts),
        "is_email_provider": st.booleans(),
        "last_crawled": maybe(times),
        "scraper_version": maybe(names),
        "next_check": maybe(times),
    },
    TargetTile: {
        "tile": st.just(Tile(33700, -118300)),
        "phrase": st.just("coffee"),
        "campaign": st.just("roofers"),
        "location": maybe(texts),
        "planned_at": times,
    },
    Witness: {
        "tile": st.just(Tile(33700, -118300)),
        "phrase": st.just("coffee"),
        "source": st.just("overture"),
        "read_at": times,
        "worker": names,
        "campaign": st.sampled_from(["roofers", "plumbers"]),
        "count": st.integers(0, 2),
        "outcome": st.sampled_from(["exhausted", "cut_short", "blocked"]),
        "document": documents,
        "earlier": maybe(st.integers(0, 2)),
        "again": st.none(),
        "digest": maybe(st.sampled_from(["a" * 64, "b" * 64])),
        "release": maybe(names),
        "as_of": maybe(times),
        "meaning": maybe(st.sampled_from(["a" * 16, "b" * 16])),
        "south": maybe(st.floats(-90, 90)),
        "west": maybe(st.floats(-180, 180)),
        "north": maybe(st.floats(-90, 90)),
        "east": maybe(st.floats(-180, 180)),
    },
    HarvestedTile: {
        "tile": st.just(Tile(33_700, -118_300)),
        "phrase": st.just("roofer"),
        "source": st.just("overture"),
        "campaign": st.just("roofers"),
        "read_at": times,
        "outcome": st.sampled_from(["harvested", "missing"]),
        "reason": maybe(texts),
        "document": st.none(),
        "release": maybe(names),
        "as_of": maybe(times),
        "meaning": maybe(st.sampled_from(["a" * 16, "b" * 16])),
        "parser": maybe(names),
        "count": st.integers(0, 3),
        "left_out": st.integers(0, 3),
        "exclusions": st.none(),
        "marked_at": times,
    },
    TileRoll: {
        "tile": st.just(Tile(33_700, -118_300)),
        "phrase": st.just("roofer"),
        "source": st.just("overture"),
        "campaign": st.just("roofers"),
        "begun": maybe(times),
        "read_at": times,
        "release": maybe(names),
        "as_of": maybe(times),
        "meaning": maybe(st.sampled_from(["a" * 16, "b" * 16])),
        "document": documents,
        "readings": st.integers(0, 2),
        "changed": st.integers(0, 2),
        "quiet": st.integers(0, 2),
        "places": st.dictionaries(names, st.builds(ListedPlace, first=times, last=times), max_size=2),
    },
    BusinessStanding: {
        "company_hash": st.just("0" * 16),
        "campaign": st.just("roofers"),
        "taken_at": times,
        "state": st.sampled_from(["listed", "missing", "closed", "unlisted"]),
        "since": maybe(times),
        "reason": maybe(texts),
        "last_seen": maybe(times),
        "missed": st.integers(0, 2),
        "document": documents,
        "name": names,
        "street": maybe(texts),
        "postcode": maybe(texts),
        "city": maybe(texts),
        "lat": maybe(st.floats(-90, 90)),
        "lon": maybe(st.floats(-180, 180)),
        "phone": maybe(texts),
        "email": maybe(st.just("info@acme.example")),
        "website": maybe(texts),
        "documents": st.just({}),
        "observed": st.dictionaries(names, times, max_size=2),
        "sources": st.just(()),
        "changed_at": maybe(times),
        "changes": st.just(()),
    },
    BusinessChange: {
        "change_id": st.just("0" * 16),
        "campaign": st.just("roofers"),
        "company_hash": st.sampled_from(["0" * 16, "1" * 16]),
        "name": names,
        "kind": st.sampled_from(["new", "closed", "phone"]),
        "before": maybe(texts),
        "after": maybe(texts),
        "before_at": maybe(times),
        "after_at": maybe(times),
        "before_document": documents,
        "after_document": documents,
        "source": maybe(names),
        "reason": maybe(texts),
        "found_at": times,
    },
    Completion: {
        "task_id": st.just("acme.example"),
        "queue": st.just("enrichment"),
        "campaign": st.just("roofers"),
        "verdict": st.one_of(
            st.builds(Ok, count=st.integers(0, 1)),
            st.builds(Empty, evidence=names),
            st.builds(Blocked, reason=texts),
        ),
        "token": st.integers(1, 3),
        "attempt": st.integers(1, 3),
        "worker": names,
        "claimed_at": st.just(NOON),
        "finished_at": times,
        "nonce": st.sampled_from(["a" * 8, "b" * 8]),
    },
}
MERGES: dict[type[Record], Callable[[Any, Any], Any]] = {
    Prospect: merging.merge_prospects,
    EmailEntry: merging.merge_emails,
    Domain: merging.merge_domains,
    TargetTile: merging.merge_targets,
    Witness: merging.merge_witnesses,
    HarvestedTile: merging.merge_harvests,
    TileRoll: merging.merge_rolls,
    BusinessStanding: merging.merge_standings,
    BusinessChange: merging.merge_changes,
    Completion: merging.merge_completions,
}
every_model = pytest.mark.parametrize("model", list(MERGES), ids=lambda model: model.__name__)


def is_empty(value: object) -> bool:
    return value in (None, (), {}) or (isinstance(value, str) and not value.strip())


def test_the_strategies_know_every_field() -> None:
    for model, fields in FIELDS.items():
        assert {*fields, "origins"} == {*model.model_fields, "origins"}


@every_model
@given(data=st.data())
@settings(max_examples=effort(25))
def test_order_does_not_matter(model: type[Record], data: st.DataObject) -> None:
    one, two = data.draw(records(model)), data.draw(records(model))
    assert MERGES[model](one, two) == MERGES[model](two, one)


@every_model
@given(data=st.data())
@settings(max_examples=effort(60))
def test_grouping_does_not_matter(model: type[Record], data: st.DataObject) -> None:
    one, two, three = (data.draw(records(model)) for _ in range(3))
    merge = MERGES[model]
    assert merge(merge(one, two), three) == merge(one, merge(two, three))


@every_model
@given(data=st.data())
@settings(max_examples=effort(25))
def test_checkpoint_appended_duplicates_unique_key(model: type[Record], data: st.DataObject) -> None:
    """A record that is met again, alone or within a merge, changes nothing: appending it twice is having it once."""
    one, two = data.draw(records(model)), data.draw(records(model))
    merge = MERGES[model]
    assert merge(one, one) == one
    both = merge(one, two)
    assert merge(both, one) == merge(both, two) == merge(both, both) == both


@every_model
@given(data=st.data())
@settings(max_examples=effort(25))
def test_what_comes_out_is_a_record_of_the_model(model: type[Record], data: st.DataObject) -> None:
    merged = MERGES[model](data.draw(records(model)), data.draw(records(model)))
    assert type(merged) is model
    fields = {name: getattr(merged, name) for name in model.model_fields}
    assert model.checked(fields).with_extras(merged.extras) == merged


@every_model
@given(data=st.data())
@settings(max_examples=effort(25))
def test_hollow_saves_a_null_never_erases(model: type[Record], data: st.DataObject) -> None:
    one, two = data.draw(records(model)), data.draw(records(model))
    merged = MERGES[model](one, two)
    for name, rule in RULES[model].items():
        if rule not in (MergeRule.WHOLE, MergeRule.ORIGINS):
            full = not (is_empty(getattr(one, name)) and is_empty(getattr(two, name)))
            assert is_empty(getattr(merged, name)) != full, name
    for column in {**one.extras, **two.extras}:
        assert column in merged.extras
        full = not (is_empty(one.extras.get(column)) and is_empty(two.extras.get(column)))
        assert is_empty(merged.extras[column]) != full, column


@every_model
@given(data=st.data())
@settings(max_examples=effort(25))
def test_no_value_is_made_up(model: type[Record], data: st.DataObject) -> None:
    one, two = data.draw(records(model)), data.draw(records(model))
    merged = MERGES[model](one, two)
    for name, rule in RULES[model].items():
        if rule in (MergeRule.BEST, MergeRule.PAIRED, MergeRule.OLDEST, MergeRule.SMALLEST, MergeRule.WHOLE):
            assert getattr(merged, name) in (getattr(one, name), getattr(two, name))


@every_model
@given(data=st.data())
@settings(max_examples=effort(10))
def test_results_written_into_the_wrong_campaign(model: type[Record], data: st.DataObject) -> None:
    """Records of two campaigns, or of two keys, are never mixed. The witness is shared by campaigns, by design."""
    one, two = data.draw(records(model)), data.draw(records(model))
    other: dict[str, Any] = {
        "campaign": "elsewhere",
        "company_hash": "a" * 16,
        "email": "other@acme.example",
        "domain": "other.example",
        "tile": Tile(0, 0),
        "phrase": "tea",
        "source": "elsewhere",
        "task_id": "other",
        "change_id": "f" * 16,
        "queue": "gm-list",
    }
    alike = [name for name, rule in RULES[model].items() if rule is MergeRule.SAME]
    assert set(model.key) <= set(alike)
    assert ("campaign" in alike) == ("campaign" in model.model_fields and model is not Witness)
    for name in alike:
        with pytest.raises(MergeError, match=f"{name} differs"):
            MERGES[model](one, two.with_changes(**{name: other[name]}))


def test_records_of_two_models_are_never_mixed() -> None:
    tile = Tile(33700, -118300)
    target = TargetTile(tile=tile, phrase="coffee", campaign="roofers", planned_at=NOON)
    with pytest.raises(TypeError, match="expected Witness, not TargetTile"):
        merging.merge_witnesses(target, target)  # type: ignore[arg-type]
