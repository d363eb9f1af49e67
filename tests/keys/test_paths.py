"""The namespace: every kind of key goes out and comes back, and nothing else gets in."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cocli.errors import InvalidKey
from cocli.keys import paths
from cocli.keys.identities import place_id_from_feature_id, task_shard
from cocli.keys.key import KINDS, Key
from cocli.keys.parts import MAX_PART_BYTES, ShortenedPart, check_key, decode_part, encode_part, is_key
from cocli.keys.tile import Tile

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60)
LONG_TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=400)
HASH = st.text("0123456789abcdef", min_size=16, max_size=16)
SHA256 = st.text("0123456789abcdef", min_size=64, max_size=64)
PLACE_ID = st.builds(lambda a, b: place_id_from_feature_id(f"0x{a:x}:0x{b:x}"), *[st.integers(1, 2**64 - 1)] * 2)
TASK_ID = TEXT | PLACE_ID
SIZES = st.sampled_from((100, 50, 25))
TILES = SIZES.flatmap(
    lambda size: st.builds(
        lambda lat, lon: Tile(lat * size, lon * size, size),
        st.integers(-90_000 // size, 90_000 // size - 1),
        st.integers(-180_000 // size, 180_000 // size - 1),
    )
)
INDEXES = st.builds(paths.IndexRef, st.sampled_from(["prospects", "emails", "a b"]), TEXT) | st.builds(
    paths.IndexRef, st.sampled_from(sorted(paths.GLOBAL_INDEXES))
)
UUIDS = st.uuids().map(str)
SHORT = st.text(string.ascii_letters + "ä /|", min_size=1, max_size=12)

KEYS = {
    paths.CampaignConfigKey: st.builds(paths.CampaignConfigKey, TEXT),
    paths.CategoriesKey: st.builds(paths.CategoriesKey, TEXT),
    paths.TaskKey: st.builds(paths.TaskKey, TEXT, TEXT, TASK_ID),
    paths.LeaseKey: st.builds(paths.LeaseKey, TEXT, TEXT, TASK_ID),
    paths.CompletedKey: st.builds(paths.CompletedKey, TEXT, TEXT, TASK_ID, st.sampled_from(["json", "usv"])),
    paths.SidelinedKey: st.builds(paths.SidelinedKey, TEXT, TEXT, TEXT, TASK_ID),
    paths.QueueCountKey: st.builds(paths.QueueCountKey, TEXT, TEXT),
    paths.QueueTallyKey: st.builds(paths.QueueTallyKey, TEXT, TEXT, TEXT),
    paths.ProspectKey: st.builds(paths.ProspectKey, TEXT, HASH),
    paths.EmailKey: st.builds(paths.EmailKey, TEXT, st.text("0123456789abcdef", min_size=2, max_size=2), HASH),
    paths.DomainKey: st.builds(paths.DomainKey, HASH),
    paths.WitnessKey: st.builds(paths.WitnessKey, TILES, TEXT, TEXT),
    paths.FormerWitnessKey: st.builds(paths.FormerWitnessKey, TILES, TEXT),
    paths.TargetTileKey: st.builds(paths.TargetTileKey, TEXT, TILES, TEXT),
    paths.HarvestedTileKey: st.builds(paths.HarvestedTileKey, TEXT, TILES, TEXT, TEXT),
    paths.RetentionKey: st.builds(
        paths.RetentionKey, TEXT, st.dates().map(lambda day: f"{day:%Y%m%d}".zfill(8)), SHA256
    ),
    paths.TileRollKey: st.builds(paths.TileRollKey, TEXT, TILES, TEXT, TEXT),
    paths.StandingKey: st.builds(paths.StandingKey, TEXT, HASH),
    paths.ChangeKey: st.builds(paths.ChangeKey, TEXT, HASH),
    paths.WalKey: st.builds(paths.WalKey, INDEXES, st.dates().map(lambda day: f"{day:%Y%m%d}".zfill(8)), SHA256),
    paths.ShardKey: st.builds(paths.ShardKey, INDEXES, SHA256),
    paths.ManifestKey: st.builds(paths.ManifestKey, INDEXES, st.integers(0, 10**12), SHA256),
    paths.LatestKey: st.builds(paths.LatestKey, INDEXES),
    paths.DatapackageKey: st.builds(paths.DatapackageKey, INDEXES),
    paths.CompanyKey: st.builds(paths.CompanyKey, TEXT),
    paths.NoteKey: st.builds(paths.NoteKey, TEXT, TEXT),
    paths.MeetingKey: st.builds(paths.MeetingKey, TEXT, TEXT),
    paths.PersonKey: st.builds(paths.PersonKey, TEXT),
    paths.SuppressionKey: st.builds(paths.SuppressionKey, TEXT, SHA256),
    paths.ForgottenKey: st.builds(paths.ForgottenKey, SHA256),
    paths.HeartbeatKey: st.builds(paths.HeartbeatKey, TEXT),
    paths.CampaignHeartbeatKey: st.builds(paths.CampaignHeartbeatKey, TEXT, TEXT),
    paths.MachineAccessKey: st.builds(paths.MachineAccessKey, TEXT),
    paths.EvictionKey: st.builds(paths.EvictionKey, TEXT),
    paths.RevocationKey: st.builds(paths.RevocationKey, st.text("0123456789abcdef", min_size=16, max_size=16)),
    paths.SubscriptionKey: st.builds(paths.SubscriptionKey, TEXT, TEXT, TEXT),
    paths.ParserQualityKey: st.builds(paths.ParserQualityKey, TEXT, TEXT),
    paths.ImportMappingKey: st.builds(paths.ImportMappingKey, TEXT, TEXT),
    paths.ExtractorQualityKey: st.builds(paths.ExtractorQualityKey, TEXT, TEXT),
    paths.ReportKey: st.builds(paths.ReportKey, TEXT),
    paths.UpkeepKey: st.builds(paths.UpkeepKey, TEXT),
    paths.RefreshRoundKey: st.builds(
        paths.RefreshRoundKey, TEXT, st.dates().map(lambda day: f"{day:%Y%m%d}".zfill(8)), st.integers(0, 10**9)
    ),
    paths.QueuedRoundKey: st.builds(
        paths.QueuedRoundKey, TEXT, st.dates().map(lambda day: f"{day:%Y%m%d}".zfill(8)), st.integers(0, 10**9)
    ),
    paths.WatchStateKey: st.builds(paths.WatchStateKey, TEXT, TEXT),
    paths.ExportKey: st.builds(paths.ExportKey, TEXT, SHORT.filter(lambda t: all(t.split("/")))),
    paths.CatalogChangesKey: st.builds(
        paths.CatalogChangesKey, SHA256.map(lambda text: text[:16]), st.integers(0, 10**9), SHA256
    ),
    paths.IntakeKey: st.builds(paths.IntakeKey, SHORT, SHORT, SHORT, SHORT, UUIDS),
    paths.ClusterStateKey: st.builds(paths.ClusterStateKey, SHORT, SHORT, SHORT, SHORT, SHORT, UUIDS),
    paths.IntakeVersionKey: st.builds(paths.IntakeVersionKey, SHORT, SHORT, SHORT, SHORT, UUIDS, SHA256),
    paths.ClusterVersionKey: st.builds(paths.ClusterVersionKey, SHORT, SHORT, SHORT, SHORT, SHORT, UUIDS, SHA256),
    paths.BlobKey: st.builds(paths.BlobKey, SHORT, SHORT, SHORT, SHORT, SHA256),
    paths.DamagedKey: st.builds(paths.DamagedKey, SHORT, SHORT, SHORT, SHORT, SHORT, UUIDS, SHA256),
}


def test_every_kind_of_key_is_tried_here() -> None:
    assert set(KEYS) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_kind_goes_out_and_comes_back(kind: type[Key]) -> None:
    @given(KEYS[kind])
    def round_trip(key: Key) -> None:
        text = str(key)
        check_key(text)
        parsed = kind.parse(text)
        assert str(parsed) == text
        assert paths.parse(text) == parsed
        if not re.search("[^/]{120}~[0-9a-f]{32}", text):  # what was shortened cannot be read back
            assert parsed == key

    round_trip()


@given(LONG_TEXT)
def test_encoding_is_reversible_and_length_safe(text: str) -> None:
    part = encode_part(text)
    assert is_key(part)
    assert len(part) <= MAX_PART_BYTES
    back = decode_part(part)
    assert back == text or (isinstance(back, ShortenedPart) and len(part) == 153)
    assert encode_part(back) == part


@given(LONG_TEXT, LONG_TEXT)
def test_encoding_is_injective(one: str, other: str) -> None:
    assume(one != other)
    assert encode_part(one) != encode_part(other)


@given(st.text(string.ascii_letters + "~._-", min_size=201, max_size=400))
def test_nothing_short_looks_like_something_long(text: str) -> None:
    """A text that is spelled like a shortened part is another text, and gets another part."""
    shortened = encode_part(text)
    assert encode_part(str(shortened)) != shortened
    assert decode_part(encode_part(str(shortened))) == shortened


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("coffee shop", "coffee%20shop"),
        (".", "%2E"),
        ("..", "%2E%2E"),
        ("...", "..."),
        ("a/b", "a%2Fb"),
        ("A~b@c+d=e,f-g_h.i", "A~b@c+d=e,f-g_h.i"),
        ("50%", "50%25"),
        ("ü\n", "%C3%BC%0A"),
        ("x" * 201, "x" * 120 + "~84a0678c90937f5dcf9994d5866668da"),
    ],
)
def test_frozen_parts(text: str, part: str) -> None:
    assert encode_part(text) == part


@pytest.mark.parametrize("text", ["", "\ud800", "a\udfff"])
def test_texts_that_have_no_key(text: str) -> None:
    with pytest.raises(InvalidKey):
        encode_part(text)


@pytest.mark.parametrize("part", ["a%2f", "a%41", "%", "a b", "%FF", "%C3", ".", ""])
def test_parts_that_nobody_encoded(part: str) -> None:
    with pytest.raises(InvalidKey):
        decode_part(part)


def test_a_hostile_key_does_not_make_the_check_slow() -> None:
    with pytest.raises(InvalidKey):
        check_key("a" * 1000 + "!")
    with pytest.raises(InvalidKey):
        check_key("%41" * 300 + "%")


FROZEN = [
    "campaigns/plumbers/config.toml",
    "campaigns/plumbers/categories.csv",
    "campaigns/plumbers/queues/gm-details/pending/u/ChIJyUzh2kXqwoARUtNFG8VjnYQ/task.json",
    "campaigns/plumbers/queues/gm-list/pending/f/33.7_-118.3_coffee%20shop/lease.json",
    "campaigns/plumbers/queues/enrichment/completed/a/example.com.json",
    "campaigns/plumbers/queues/enrichment/sideline/blocked/a/example.com/task.json",
    "campaigns/plumbers/queues/enrichment/count/count.json",
    "campaigns/plumbers/queues/enrichment/count/tallies/pi-1-3f9a2c-81d0aa42.json",
    "campaigns/plumbers/indexes/prospects/4/4bf3bc18bdf336e3.usv",
    "campaigns/plumbers/indexes/emails/a3/fb1a4757f83b74e5.usv",
    "campaigns/plumbers/indexes/target-tiles/33.7/-118.3/coffee%20shop.csv",
    "campaigns/plumbers/indexes/harvested-tiles/33.7/-118.3/coffee%20shop/google-maps.csv",
    "campaigns/plumbers/indexes/rolls/33.7/-118.3/coffee%20shop/overture.usv",
    "campaigns/plumbers/indexes/standings/4/4bf3bc18bdf336e3.usv",
    "campaigns/plumbers/indexes/changes/f/fb1a4757f83b74e5.usv",
    "campaigns/plumbers/refresh/20261117/00000001.json",
    "campaigns/plumbers/refresh/20261117/00000001.queued",
    "campaigns/plumbers/watches/closed.json",
    "indexes/scraped-tiles/-0.05/0.00/coffee%20shop.csv",
    "indexes/scraped-tiles/-0.05/0.00/coffee%20shop/google-maps.csv",
    "indexes/domains/a3/a379a6f6eeafb9a5.usv",
    f"indexes/domains/wal/20261115/{'0' * 64}.usv",
    f"campaigns/plumbers/indexes/prospects/shards/{'0' * 64}.usv",
    f"campaigns/plumbers/indexes/prospects/manifests/00000042-{'0' * 64}.json",
    "campaigns/plumbers/indexes/prospects/LATEST",
    "indexes/scraped-tiles/datapackage.json",
    "companies/acme/_index.md",
    "companies/acme/notes/2026-11-15%20call.md",
    "companies/acme/meetings/first.md",
    "people/ada.md",
    "status/pi-1.json",
    "access/pi-1.json",
    "evictions/pi-1.json",
    "revocations/0123456789abcdef.json",
    "subscriptions/acct/9a6fbd55f7df4b88/staging.json",
    "campaigns/plumbers/exports/csv/prospects.csv",
    "campaigns/plumbers/quality/google-maps-list.json",
    "campaigns/plumbers/reports/report.json",
    f"campaigns/plumbers/retention/20261117/{'0' * 64}.json",
    f"catalog/0123456789abcdef/00000042-{'0' * 64}.usv",
    "uploads/acct/web/9a6fbd55f7df4b88/doc-abc/intake/a3526da5-c3be-344c-82be-e341d1a7eb75.pb",
    "uploads/acct/web/9a6fbd55f7df4b88/doc-abc/prod/72217190-0e91-3bc8-a109-4f7751b67269.pb",
    f"uploads/acct/web/9a6fbd55f7df4b88/doc-abc/intake/a3526da5-c3be-344c-82be-e341d1a7eb75/{'0' * 64}.pb",
    f"uploads/acct/web/9a6fbd55f7df4b88/doc-abc/prod/72217190-0e91-3bc8-a109-4f7751b67269/{'0' * 64}.pb",
    f"uploads/acct/web/9a6fbd55f7df4b88/doc-abc/blobs/{'0' * 64}.bin",
    f"uploads/acct/web/9a6fbd55f7df4b88/doc-abc/prod/72217190-0e91-3bc8-a109-4f7751b67269.{'0' * 64}.damaged",
]


@pytest.mark.parametrize("key", FROZEN)
def test_frozen_keys(key: str) -> None:
    assert str(paths.parse(key)) == key


@pytest.mark.parametrize(
    "key",
    [
        "campaigns/plumbers/queues/gm-details/pending/c/ChIJyUzh2kXqwoARUtNFG8VjnYQ/task.json",
        "campaigns/plumbers/indexes/prospects/5/4bf3bc18bdf336e3.usv",
        "indexes/domains/a4/a379a6f6eeafb9a5.usv",
        "campaigns/x/indexes/domains/LATEST",
        "indexes/prospects/LATEST",
        "indexes/scraped-tiles/-0.0/0.0/x.csv",
        "indexes/scraped-tiles/33.7/-118.30/x.csv",
        "indexes/scraped-tiles/33.75/-118.32/x.csv",
        "indexes/scraped-tiles/90.0/0.0/x.csv",
        "campaigns/plumbers/queues/q/completed/a/example.com.txt",
        "data/data/queues/x",
        "nothing",
    ],
)
def test_keys_that_do_not_follow_are_refused(key: str) -> None:
    with pytest.raises(InvalidKey) as refused:
        paths.parse(key)
    assert refused.value.details["part"]


def test_a_key_is_a_frozen_value_of_its_kind() -> None:
    key = paths.NoteKey("acme", name="call")
    assert key == paths.NoteKey(name="call", slug="acme")
    assert len({key, paths.NoteKey("acme", "call")}) == 1
    assert key != paths.MeetingKey("acme", "call")
    assert repr(key) == "NoteKey(slug='acme', name='call')"
    with pytest.raises(AttributeError):
        key.slug = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("values", "named"),
    [((), {}), (("a",), {}), (("a", "b", "c"), {}), (("a",), {"title": "b"}), (("a", "b"), {"slug": "c"})],
)
def test_a_key_has_its_fields_and_no_others(values: tuple[str, ...], named: dict[str, str]) -> None:
    with pytest.raises(TypeError, match="NoteKey has the fields slug, name"):
        paths.NoteKey(*values, **named)


def test_double_sharding_is_impossible() -> None:
    """The older system once wrote `2/2/…`, because an id already contained its shard."""
    key = paths.TaskKey("c", "q", "2/example.com")
    assert str(key) == f"campaigns/c/queues/q/pending/{task_shard('2/example.com')}/2%2Fexample.com/task.json"


def test_email_inbox_collisions_are_impossible() -> None:
    """The older system named an address's file by its slug, so that two addresses shared one."""
    one, other = (paths.EmailKey.of("c", email) for email in ("a.b@example.com", "a-b@example.com"))
    assert one != other


@given(SHORT, SHORT, SHORT, LONG_TEXT, st.none() | SHORT, UUIDS, SHA256)
def test_the_files_of_a_document_have_the_keys_of_their_kinds(
    account: str, connector: str, datasource: str, doc: str, cluster: str | None, uuid: str, digest: str
) -> None:
    owner = (account, connector, datasource, doc)
    files = paths.document_files(paths.document_folder("uploads", *owner), cluster, uuid, digest)
    if cluster is None:
        assert files == (str(paths.IntakeKey(*owner, uuid)), str(paths.IntakeVersionKey(*owner, uuid, digest)))
    else:
        state, version = (
            paths.ClusterStateKey(*owner, cluster, uuid),
            paths.ClusterVersionKey(*owner, cluster, uuid, digest),
        )
        assert files == (str(state), str(version))


def test_a_cluster_cannot_be_called_intake() -> None:
    with pytest.raises(InvalidKey, match="intake"):
        str(paths.ClusterStateKey("a", "b", "c", "d", "intake", "a3526da5-c3be-344c-82be-e341d1a7eb75"))


def test_a_key_that_grows_too_long_says_which_part() -> None:
    parts = dict.fromkeys(("account", "connector", "datasource", "doc_id"), "ü" * 33)
    prefix = "/".join(["p" * 100] * 3)
    with pytest.raises(InvalidKey, match="longer than 1024 bytes"):
        str(paths.IntakeKey(**parts, uuid="a3526da5-c3be-344c-82be-e341d1a7eb75", prefix=prefix))


def test_a_name_with_folders_is_not_shortened() -> None:
    with pytest.raises(InvalidKey, match="longer than 200 bytes"):
        str(paths.ExportKey("c", "folder/" + "x" * 201))


def test_only_what_is_written_once_is_immutable() -> None:
    immutable = {key for key in FROZEN if paths.is_immutable(key)}
    once = ("/wal/", "/shards/", "/manifests/", "/completed/", f"/{'0' * 64}.pb", "/blobs/", ".damaged", "/retention/")
    assert immutable == {key for key in FROZEN if any(part in key for part in once)}
