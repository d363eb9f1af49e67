"""The table of kinds: agrees with the namespace, with the documentation, and is complete."""

from __future__ import annotations

from pathlib import Path

import pytest

from cocli.keys import key as namespace
from cocli.keys import paths
from cocli.keys.tile import Tile
from cocli.sync import kinds
from cocli.sync.kinds import KINDS, SyncPart, SyncRule, index_of, kind_of, original_of
from cocli.sync.selection import Selection

ROOT = Path(__file__).parents[2]
UUID = "01234567-89ab-3def-8123-456789abcdef"
SHA = "ab" * 32
DOC = "uploads/acct/web/source/https%3A%2F%2Fexample.com%2F"
INDEX = paths.IndexRef("prospects", "c")

EXAMPLES: list[tuple[object, kinds.SyncKind]] = [
    (paths.CampaignConfigKey("c"), kinds.CONFIG),
    (paths.TaskKey("c", "gm-list", "t"), kinds.QUEUE_STATE),
    (paths.LeaseKey("c", "gm-list", "t"), kinds.QUEUE_STATE),
    (paths.SidelinedKey("c", "gm-list", "blocked", "t"), kinds.QUEUE_STATE),
    (paths.QueueCountKey("c", "gm-list"), kinds.QUEUE_STATE),
    (paths.QueueTallyKey("c", "gm-list", "pi-1"), kinds.QUEUE_STATE),
    (paths.CompletedKey("c", "gm-list", "t"), kinds.COMPLETION),
    (paths.ProspectKey("c", "0123456789abcdef"), kinds.LOOSE),
    (paths.EmailKey.of("c", "a@example.com"), kinds.LOOSE),
    (paths.DomainKey.of("example.com"), kinds.LOOSE),
    (paths.TargetTileKey("c", Tile.parse("33.7", "-118.3"), "plumber"), kinds.LOOSE),
    (paths.TileRollKey("c", Tile.parse("33.7", "-118.3"), "plumber", "overture"), kinds.LOOSE),
    (paths.StandingKey("c", "4bf3bc18bdf336e3"), kinds.LOOSE),
    (paths.ChangeKey("c", "4bf3bc18bdf336e3"), kinds.LOOSE),
    (paths.RefreshRoundKey("c", "20261117", 1), kinds.QUEUE_STATE),
    (paths.QueuedRoundKey("c", "20261117", 1), kinds.QUEUE_STATE),
    (paths.WatchStateKey("c", "closed"), kinds.QUEUE_STATE),
    (paths.RetentionKey("c", "20261117", SHA), kinds.PROOF),
    (paths.HarvestedTileKey("c", Tile.parse("33.7", "-118.3"), "plumber", "overture"), kinds.LOOSE),
    ("indexes/scraped-tiles/33.7/-118.3/plumber.csv", kinds.LOOSE),
    ("indexes/scraped-tiles/33.7/-118.3/plumber/overture.csv", kinds.LOOSE),
    ("campaigns/c/categories.csv", kinds.CONFIG),
    (paths.WalKey(INDEX, "20261116", SHA), kinds.BATCH),
    (paths.ShardKey(INDEX, SHA), kinds.VERSION),
    (paths.ManifestKey(INDEX, 7, SHA), kinds.VERSION),
    (paths.LatestKey(INDEX), kinds.VERSION),
    (paths.LatestKey(paths.IndexRef("domains")), kinds.VERSION),
    (paths.DatapackageKey(INDEX), kinds.DESCRIPTION),
    (paths.CompanyKey("acme"), kinds.MARKDOWN),
    (paths.NoteKey("acme", "call"), kinds.MARKDOWN),
    (paths.MeetingKey("acme", "lunch"), kinds.MARKDOWN),
    (paths.PersonKey("jane"), kinds.MARKDOWN),
    (paths.HeartbeatKey("pi"), kinds.HEARTBEAT),
    (paths.CampaignHeartbeatKey("pi", "c"), kinds.HEARTBEAT),
    (paths.MachineAccessKey("pi"), kinds.MACHINE),
    (paths.EvictionKey("pi"), kinds.MACHINE),
    (paths.RevocationKey("0123456789abcdef"), kinds.MACHINE),
    (paths.SubscriptionKey("acct", "ds", "staging"), kinds.MACHINE),
    (paths.ExtractorQualityKey("c", "pi"), kinds.REPORT),
    (paths.ImportMappingKey("c", "shape"), kinds.REPORT),
    (paths.ReportKey("c"), kinds.REPORT),
    (paths.UpkeepKey("c"), kinds.REPORT),
    ("campaigns/c/quality/google-maps.json", kinds.REPORT),
    (paths.ExportKey("c", "list.csv"), kinds.REPORT),
    (paths.SuppressionKey("email", SHA), kinds.LEFT_ALONE),
    (paths.ForgottenKey(SHA), kinds.LEFT_ALONE),
    (paths.CatalogChangesKey("0123456789abcdef", 7, SHA), kinds.CATALOG),
    (f"{DOC}/intake/{UUID}.pb", kinds.DOCUMENT),
    (f"{DOC}/main/{UUID}.pb", kinds.DOCUMENT),
    (f"{DOC}/intake/{UUID}/{SHA}.pb", kinds.DOCUMENT_VERSION),
    (f"{DOC}/main/{UUID}/{SHA}.pb", kinds.DOCUMENT_VERSION),
    (f"{DOC}/blobs/{SHA}.bin", kinds.DOCUMENT_VERSION),
    (f"{DOC}/main/{UUID}.{SHA}.damaged", kinds.DOCUMENT_VERSION),
    ("probes/x/y", kinds.PROBE),
    ("README.md", kinds.OTHER),
    ("campaigns/c/notes.md", kinds.OTHER),
]


@pytest.mark.parametrize(("key", "kind"), EXAMPLES, ids=lambda value: str(value)[:60])
def test_every_key_has_its_kind(key: object, kind: kinds.SyncKind) -> None:
    assert kind_of(str(key)) is kind


def test_immutable_is_what_the_namespace_calls_immutable() -> None:
    for key, _ in EXAMPLES:
        kind = kind_of(str(key))
        if kind.rule is not SyncRule.VERSIONS:
            assert (kind.rule is SyncRule.IMMUTABLE) == paths.is_immutable(str(key)), key


def test_every_kind_of_key_is_tried_here() -> None:
    tried = {type(paths.parse(str(key))) for key, kind in EXAMPLES if kind not in (kinds.OTHER, kinds.PROBE)}
    missing = {kind.__name__ for kind in namespace.KINDS} - {kind.__name__ for kind in tried}
    assert not missing, f"decide what a sync does with {missing}, and add an example"


def test_the_table_in_the_documentation_is_the_one_in_the_code() -> None:
    page = (ROOT / "docs" / "sync.md").read_text("utf-8")
    for kind in KINDS:
        assert f"| {kind.name} | " in page
        (row,) = [line for line in page.splitlines() if line.startswith(f"| {kind.name} | ")]
        assert f"`{kind.rule.value}`" in row, kind.name
        assert f"`{kind.part.value}`" in row, kind.name


def test_conflict_copies_know_their_file() -> None:
    copy = "companies/acme/_index.conflict-laptop-20261116T033000Z.md"
    assert original_of(copy) == "companies/acme/_index.md"
    assert original_of("people/j.conflict-a-20261116T033000Z-0123abcd.md") == "people/j.md"
    assert original_of("people/conflict-of-interest.md") is None
    assert kind_of(copy).rule is SyncRule.PERSON


def test_an_index_is_found_from_its_keys() -> None:
    assert index_of(str(paths.LatestKey(INDEX))) == INDEX.folder
    assert index_of(str(paths.DomainKey.of("example.com"))) == "indexes/domains/"
    assert index_of("companies/acme/_index.md") is None


def test_a_selection_is_about_what_it_says() -> None:
    choose = Selection(campaign="c", exclude=("*.csv",)).chooser()
    assert choose("campaigns/c/config.toml") is kinds.CONFIG
    assert choose("campaigns/other/config.toml") is None
    assert choose("campaigns/cc/config.toml") is None
    assert choose("campaigns/c/exports/list.csv") is None
    assert choose(str(paths.TaskKey("c", "gm-list", "t"))) is None
    assert choose("companies/acme/_index.md~") is None
    assert choose("companies/acme/._index.md.swp") is None
    only = Selection(frozenset({SyncPart.COMPANIES}), include=("people/*",)).chooser()
    assert only("people/jane.md") is kinds.MARKDOWN
    assert only("companies/acme/_index.md") is None
    assert Selection(frozenset({SyncPart.COMPANIES})).folders() == ["companies/", "people/"]
    assert Selection().folders() == [""]
    assert Selection(frozenset({SyncPart.CONFIG}), campaign="c").single_keys() == ["campaigns/c/config.toml"]
