"""Groups in the help, the names of today, and the older ones that still work."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

from cocli.cli.nouns import GROUPS, NOUNS, overview
from cocli.cli.older_names import KEPT, OLDER_NAMES, RENAMED, in_new_words
from cocli.store import open_store

KML = "{http://www.opengis.net/kml/2.2}"


def test_the_help_has_groups_and_no_older_name() -> None:
    lines = overview().splitlines()
    assert [line[:-1] for line in lines if line[:-1] in GROUPS] == list(GROUPS)
    names = {name for name, _, _, _ in NOUNS}
    assert not names & {older for older, _ in OLDER_NAMES}
    assert {group for _, group, _, _ in NOUNS} == set(GROUPS)


def test_an_older_name_is_read_as_the_new_one() -> None:
    assert in_new_words(["fz", "acme", "--json"]) == ["find", "acme", "--json"]
    assert in_new_words(["campaign", "queue-scrapes", "a"]) == ["campaign", "plan", "--queue", "a"]
    assert in_new_words(["company", "new", "fz"]) == ["company", "new", "fz"]
    assert in_new_words([]) == []
    assert in_new_words(["documents", "replay", "--cluster=x"]) == ["documents", "replay", "--edition=x"]
    assert in_new_words(["queue", "ls", "--cluster=x"]) == ["queue", "ls", "--cluster=x"]


def test_help_of_a_noun_hides_the_older_names(cocli: Any) -> None:
    for older, _ in KEPT:
        noun, verb = older.split()
        listed = cocli(noun, "--help").out.partition("Commands:")[2]
        assert f"\n  {verb} " not in listed
        assert cocli(noun, verb, "--help").code == 0
    for older, newer in RENAMED:
        assert cocli(*older.split(), "--help").out == cocli(*newer.split(), "--help").out


def test_plan_writes_targets_and_queues_only_when_asked(plumbers: Any, home: Path) -> None:
    planned = plumbers("campaign", "plan", "plumbers", "--json").json
    assert planned["targets"]["added"] == planned["targets"]["targets"] > 10
    assert (planned["mission"], planned["estimate"]) == (None, None)
    assert not list((home / "data/campaigns/plumbers").rglob("task.json"))
    assert "hint: cocli campaign plan plumbers --queue --dry-run" in plumbers("campaign", "plan", "plumbers").err
    queued = plumbers("campaign", "plan", "plumbers", "--queue", "--limit", "3", "--json").json
    assert queued["mission"]["outcomes"] == {"queued": 3}
    assert len(list((home / "data/campaigns/plumbers").rglob("task.json"))) == 3
    refused = plumbers("campaign", "plan", "plumbers", "--limit", "3")
    assert (refused.code, "Add --queue." in refused.err) == (2, True)


def test_coverage_writes_tiles_and_prospects_as_kml(plumbers: Any, write_prospects: Any, home: Path) -> None:
    write_prospects("acme.example", lat=39.8, lon=-89.65)
    assert plumbers("campaign", "plan", "plumbers").code == 0

    def placemarks(*options: str) -> int:
        file = home / "map.kml"
        assert plumbers("campaign", "coverage", "plumbers", "--kml", str(file), *options).code == 0
        return len(list(fromstring(file.read_bytes()).iter(f"{KML}Placemark")))

    tiles = placemarks("--what", "coverage")
    assert tiles > 10
    assert placemarks("--what", "prospects") == 1
    assert placemarks() == tiles + 1


def test_a_map_that_cannot_be_made_prints_no_half_of_it(plumbers: Any) -> None:
    failed = plumbers("campaign", "kml", "plumbers", "--out", "-")
    assert (failed.code, failed.out) == (2, "")


def test_sync_without_a_verb_brings_what_is_needed(plumbers: Any, home: Path) -> None:
    bucket = home / "bucket"
    bucket.mkdir()
    words = ("--store", str(bucket))
    dry = plumbers("sync", "--dry-run", "-c", "plumbers", *words, "--json").json
    assert [step["key"] for step in dry["steps"]] == ["campaigns/plumbers/config.toml"]
    assert plumbers("sync", "plumbers", *words).code == 0
    assert (bucket / "campaigns/plumbers/config.toml").exists()
    unknown = plumbers("sync", "plumbrs", *words)
    assert unknown.code == 4
    wrong = plumbers("sync", "--nope")
    assert wrong.code == 2
    assert "hint: See: cocli sync --help\n" in wrong.err
    assert plumbers("sync", "push", "--dry-run", *words).code == 0


def test_check_finds_damage_and_fix_mends_it(plumbers: Any, write_prospects: Any, home: Path) -> None:
    write_prospects("acme.example", "bolt.example")
    assert plumbers("index", "compact", "-c", "plumbers").code == 0
    sound = plumbers("index", "check", "-c", "plumbers", "--fix", "--json")
    assert (sound.code, sound.json["ok"]) == (0, True)
    assert {index["repair"] for index in sound.json["indexes"]} == {None}
    store = open_store(str(home / "data"))
    shards = [found.key for found in store.list("campaigns/plumbers/indexes/prospects/shards/")]
    whole = {key: store.get(key).data for key in shards}
    for key in shards:
        store.put(key, whole[key][:-30])
    assert plumbers("index", "query", "from prospects", "-c", "plumbers", "-q").code in (0, 8)
    found = plumbers("index", "check", "prospects", "-c", "plumbers")
    assert found.code == 8
    assert "damaged" in found.out
    assert "is not what its name says" in found.out
    assert "hint: cocli index check prospects -c plumbers --fix" in found.err
    dry = plumbers("index", "check", "prospects", "-c", "plumbers", "--fix", "--dry-run", "--json")
    assert (dry.code, dry.json["indexes"][0]["repair"]) == (8, None)
    assert plumbers("index", "check", "prospects", "--files", "-c", "plumbers").code == 8
    mended = plumbers("index", "check", "prospects", "-c", "plumbers", "--fix", "--json")
    assert mended.json["indexes"][0]["repair"]["lost_rows"] == 0
    assert (mended.code, mended.json["ok"]) == (0, True)
    assert plumbers("index", "check", "-c", "plumbers").code == 0


def test_rows_that_fix_cannot_find_are_said_by_the_exit_code(plumbers: Any, write_prospects: Any, home: Path) -> None:
    write_prospects("acme.example")
    assert plumbers("index", "compact", "-c", "plumbers").code == 0
    for file in (home / ".cache").rglob("*.usv"):
        file.unlink()
    store = open_store(str(home / "data"))
    for found in list(store.list("campaigns/plumbers/indexes/prospects/shards/")):
        store.delete(found.key)
    mended = plumbers("index", "check", "prospects", "-c", "plumbers", "--fix", "--json")
    assert mended.code == 8, mended.err
    assert mended.out, mended.err
    assert not mended.json["ok"]
    assert mended.json["indexes"][0]["repair"]["lost_rows"] == 1
