"""`cocli index`, as a person uses it: words in, an exit code and two streams out, on real indexes in a folder."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from cocli.formats import usv
from cocli.keys.identities import company_hash, place_id_from_feature_id
from cocli.keys.paths import ProspectKey
from cocli.models.completion import Ok
from cocli.models.prospect import Prospect
from cocli.pipeline.migrate.prospects import FIFTY_SIX
from cocli.queue.base import NewTask
from cocli.queue.leased.queue import LeasedQueue
from cocli.store import Store, open_store

ESCAPE = "\x1b]0;owned\x07\u202e"
WITHOUT_ESCAPE = "]0;owned"
NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


@pytest.fixture
def store(home: Path) -> Store:
    return open_store(str(home / "data"))


@pytest.fixture
def index(plumbers: Any) -> Callable[..., Any]:
    """`cocli index VERB …` for the campaign."""

    def run(verb: str, *words: str) -> Any:
        return plumbers("index", verb, *words, "-c", "plumbers")

    return run


@pytest.fixture
def packed(index: Any, write_prospects: Any) -> Callable[..., Any]:
    """The same, with two versions of the prospects: two, then three and one of them changed."""
    write_prospects("acme.example", city="Springfield", all_emails=("info@acme.example",))
    write_prospects("bolt.example", city="Austin")
    assert index("compact").code == 0
    write_prospects("coil.example", city="Austin")
    write_prospects("bolt.example", city="Austin", phone_e164="+12175550100")
    assert index("compact", "prospects").code == 0
    return index  # type: ignore[no-any-return]


def rows(result: Any) -> list[dict[str, Any]]:
    assert result.code == 0, result.err
    found = result.json
    return found.get("rows", found.get("indexes"))  # type: ignore[no-any-return]


def status_of(index: Any, name: str) -> dict[str, Any]:
    return rows(index("status", name, "--json"))[0]


def shards(store: Store, name: str = "prospects") -> list[str]:
    folder = f"campaigns/plumbers/indexes/{name}/shards/"
    return [info.key for info in store.list(folder) if store.get(info.key).data.startswith(b"company_hash")]


def everything(store: Store) -> dict[str, bytes]:
    return {info.key: store.get(info.key).data for info in store.list()}


# --- status, history, diff, get


def test_an_empty_campaign_says_so_everywhere(index: Any, store: Store) -> None:
    names = [row["index"] for row in rows(index("status", "--json"))]
    assert names[:4] == ["prospects", "emails", "target-tiles", "harvested-tiles"]
    assert {"rolls", "changes", "standings", "domains", "scraped-tiles"} <= set(names)
    assert "completions-gm-list" in names
    assert "empty" in index("status").out
    assert "Nothing was packed yet." in index("history", "prospects").err
    asked = index("query", "select count(*) as n from prospects")
    assert asked.out.split() == ["n", "0"]
    assert "Nothing is packed yet in: prospects." in asked.err
    assert "hint: cocli index compact -c plumbers" in asked.err
    for verb in ("compact", "verify", "audit", "gc", "consolidate"):
        assert index(verb, "--json").code == 0
    assert index("backfill", "--json").json["status"] == "already_filled"
    assert index("purge", "--foreign-campaign", "--yes").out == "already_gone\n"
    assert index("repair", "prospects").out == "already_sound\n"
    assert index("diff", "prospects", "1").code == 4
    assert list(everything(store)) == ["campaigns/plumbers/config.toml"], "looking begins no index"


def test_status_counts_what_waits_and_what_is_packed(packed: Any, write_prospects: Any) -> None:
    write_prospects("dash.example")
    found = status_of(packed, "prospects")
    assert found["published"].endswith("Z")
    assert (found["rows"], found["version"], found["unpacked"], found["damaged"]) == (3, 2, 1, 0)
    assert (found["shards"] >= 1, found["bytes"] > 0, found["problem"], found["has_copy"]) == (True, True, None, False)
    assert "hint: cocli index compact -c plumbers" in packed("status").err
    packed("consolidate")
    assert status_of(packed, "prospects")["has_copy"]


def test_completions_are_an_index_too(index: Any, store: Store) -> None:
    queue = LeasedQueue(store, "plumbers", "gm-list", worker="pi-1")
    queue.put_many(NewTask(name) for name in ("a", "b"))
    queue.ack(queue.claim(), Ok(count=3))  # type: ignore[arg-type]
    queue.close()
    assert status_of(index, "completions-gm-list")["unpacked"] == 1
    fresh = rows(index("query", "select queue, worker from completions", "--fresh", "--json"))
    assert fresh == [{"queue": "gm-list", "worker": "pi-1"}]
    index("compact")
    assert status_of(index, "completions-gm-list")["unpacked"] == 0
    assert rows(index("query", "select verdict->>'count' as n from completions_gm_list", "--json")) == [{"n": "3"}]
    (audited,) = index("audit", "completions-gm-list", "--json").json["indexes"]
    assert audited["rows"] == 1  # packed, and still there: it is counted once
    assert (
        "pi-1"
        in index("get", "completions-gm-list", rows(index("query", "from completions", "--json"))[0]["task_id"]).out
    )


def test_get_finds_a_record_by_whatever_a_person_calls_it(packed: Any, plumbers: Any) -> None:
    by_domain = packed("get", "prospects", "bolt.example", "--json").json
    assert (by_domain["record"]["phone_e164"], by_domain["version"]) == ("+12175550100", 2)
    by_hash = packed("get", "prospects", by_domain["record"]["company_hash"], "--json").json
    assert by_hash == by_domain
    earlier = packed("get", "prospects", "bolt.example", "--as-of", "1", "--json").json
    assert earlier["record"]["phone_e164"] is None
    assert packed("get", "prospects", "nobody.example").code == 4
    assert packed("get", "prospects", "!!").code == 2
    assert packed("get", "scraped-tiles", "39.8_-89.7").code == 2
    assert "39.8_-89.7/plumber/overture" in packed("get", "scraped-tiles", "39.8_-89.7/plumber").err
    assert "--fresh" in packed("get", "prospects", "nobody.example").err
    shared = plumbers("index", "get", "domains", "acme.example")
    assert shared.code == 4
    assert "--campaign NAME" in plumbers("index", "get", "prospects", "acme.example").err


def test_what_waits_is_seen_fresh(packed: Any, write_prospects: Any) -> None:
    write_prospects("acme.example", rating=4.5)
    write_prospects("dash.example")
    assert packed("get", "prospects", "dash.example").code == 4
    assert packed("get", "prospects", "dash.example", "--fresh").code == 0
    count = "select count(*) as n, max(rating) as best from prospects"
    assert rows(packed("query", count, "--json")) == [{"n": 3, "best": None}]
    assert rows(packed("query", count, "--fresh", "--json")) == [{"n": 4, "best": 4.5}]
    packed("consolidate")
    assert rows(packed("query", count, "--fresh", "--json")) == [{"n": 4, "best": 4.5}]
    assert packed("query", count, "--fresh", "--json").json["unpacked"] == {"prospects": 2}


def test_history_and_diff_tell_what_happened(packed: Any) -> None:
    versions = packed("history", "prospects", "--json").json["versions"]
    assert [(version["version"], version["rows"]) for version in versions] == [(2, 3), (1, 2)]
    text = packed("history", "prospects")
    assert "+1" in text.out
    assert "hint: cocli index diff prospects 1 -c plumbers" in text.err
    assert packed("history", "prospects", "--limit", "1", "--json").json["truncated"]
    found = packed("diff", "prospects", "1", "--json").json
    assert (found["old"], found["new"], found["counts"]) == (1, 2, {"added": 1, "removed": 0, "changed": 1})
    changed = next(difference for difference in found["differences"] if difference["kind"] == "changed")
    assert changed["fields"]["phone_e164"] == [None, "+12175550100"]
    back = packed("diff", "prospects", "2", "1")
    assert "removed" in back.out
    assert "1 changed" in back.err
    assert packed("diff", "prospects", "1", "9").code == 4
    assert "Kept versions: 1 to 2" in packed("diff", "prospects", "1", "9").err


# --- query


def test_a_query_over_several_indexes(packed: Any) -> None:
    assert packed("backfill").code == 0
    joined = packed("query", "select p.name, email from prospects p join emails using (company_hash)", "--json")
    assert rows(joined) == [{"name": "Acme", "email": "info@acme.example"}]
    assert joined.json["versions"] == {"emails": 1, "prospects": 2}
    assert [column["type"] for column in joined.json["columns"]] == ["VARCHAR", "VARCHAR"]
    tables = {row["name"] for row in rows(packed("query", "show tables", "--json"))}
    assert {"prospects", "prospects_all", "emails", "domains", "target_tiles", "scraped_tiles"} <= tables
    assert {"completions", "completions_gm_details"} <= tables


def test_values_keep_their_types(packed: Any) -> None:
    sql = (
        "select first_seen, all_emails, lat, [1.5, 2] as list, {'a': date '2026-11-15'} as struct,"
        " 1.50::decimal(4,2) as d, 'nan'::double as nan, 3 as n, 4 as n, true as yes, time '12:00' as t,"
        " 'x'::blob as b, interval 1 day as i from prospects where domain = 'acme.example'"
    )
    assert rows(packed("query", sql, "--json")) == [
        {
            "first_seen": "2026-11-15T12:00:00Z", "all_emails": ["info@acme.example"], "lat": None, "list": [1.5, 2.0],
            "struct": {"a": "2026-11-15"}, "d": 1.5, "nan": "nan", "n": 3, "n_1": 4, "yes": True, "t": "12:00:00",
            "b": "78", "i": "1 day, 0:00:00",
        }
    ]  # fmt: skip
    assert "2026-11-15 12:00:00Z" in packed("query", sql).out


def test_rows_with_escapes_come_out_as_they_went_in(index: Any, write_prospects: Any) -> None:
    name = 'a\\nb\nc\td\x1f"e"\\N, \\'
    write_prospects("acme.example", name=name, street="\\N")
    index("compact")
    assert rows(index("query", "select name, street from prospects", "--json")) == [{"name": name, "street": "\\N"}]
    index("consolidate")
    assert rows(index("query", "select name, street from prospects", "--json")) == [{"name": name, "street": "\\N"}]


def test_scraped_text_can_harm_neither_terminal_nor_spreadsheet(
    index: Any, write_prospects: Any, on_terminal: Any
) -> None:
    write_prospects("acme.example", name=f"=HYPERLINK(1){ESCAPE}", phone="+1 217", city="-2", lat=-2.5)
    index("compact")
    sql = "select name, phone, city, lat, 'plain' as plain from prospects"
    assert "\x1b" not in index("query", sql).out
    safe = next(csv.DictReader(io.StringIO(index("query", sql, "--csv").out)))
    assert safe == {
        "name": f"'=HYPERLINK(1){WITHOUT_ESCAPE}", "phone": "'+1 217", "city": "'-2", "lat": "-2.5", "plain": "plain",
    }  # fmt: skip
    raw = next(csv.DictReader(io.StringIO(index("query", sql, "--csv", "--raw").out)))
    assert (raw["name"], raw["phone"]) == (f"=HYPERLINK(1){ESCAPE}", "+1 217")
    assert index("query", sql, "--json").out.isascii()
    for words in ((), ("--csv",), ("--csv", "--raw")):
        screen = on_terminal("index", "query", sql, "-c", "plumbers", *words).screen
        assert "HYPERLINK" in screen
        assert ESCAPE not in screen
        assert "\x1b]" not in screen


def test_parquet_is_a_file_that_others_can_read(packed: Any, home: Path) -> None:
    file = home / "it's.parquet"
    done = packed("query", "select name, first_seen from prospects order by 1", "--parquet", str(file))
    assert (done.code, done.out) == (0, f"{file}\n")
    assert "Wrote 3 rows" in done.err
    names = duckdb.read_parquet(str(file)).fetchall()
    assert [name for name, _ in names] == ["Acme", "Bolt", "Coil"]
    assert [path.name for path in home.glob("*parquet*")] == [file.name]
    assert packed("query", "select 1", "--parquet", str(home / "no" / "x.parquet")).code == 2
    assert packed("query", "select nope from prospects", "--parquet", str(home / "y.parquet")).code == 2
    assert not list(home.glob("y.parquet*"))


def test_time_travel_by_version_and_by_time(packed: Any) -> None:
    count = "select count(*) as n from prospects"
    assert rows(packed("query", count, "--as-of", "1", "--json")) == [{"n": 2}]
    assert rows(packed("query", count, "--as-of", "prospects=1", "--json")) == [{"n": 2}]
    first = packed("history", "prospects", "--json").json["versions"][-1]["created_at"]
    assert rows(packed("query", count, "--as-of", first, "--json")) == [{"n": 2}]
    assert rows(packed("query", count, "--as-of", "2999-01-01", "--json")) == [{"n": 3}]
    for words, code in (
        (("--as-of", "7"), 4),
        (("--as-of", "2001-01-01"), 4),
        (("--as-of", "soon"), 2),
        (("--as-of", "propsects=1"), 4),
        (("--as-of", "1", "--as-of", "2026-01-01"), 2),
        (("--as-of", "1", "--fresh"), 2),
    ):
        assert packed("query", count, *words).code == code, words
    two = packed("query", "select * from prospects, emails", "--as-of", "1")
    assert two.code in (2, 4)


def test_a_prospect_that_was_merged_is_hidden(packed: Any, write_prospects: Any) -> None:
    winner = packed("get", "prospects", "acme.example", "--json").json["record"]["company_hash"]
    write_prospects("bolt.example", merged_into=winner)
    packed("compact")
    assert rows(packed("query", "select count(*) as n from prospects", "--json")) == [{"n": 2}]
    both = "select (select count(*) from prospects) as some, (select count(*) from prospects_all) as every"
    assert rows(packed("query", both, "--json")) == [{"some": 2, "every": 3}]


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("select * from propsects", "Did you mean: prospects"),
        ("select nmae from prospects", '"name"'),
        ("selct 1", "syntax error"),
        ("", "found 0"),
        ("select 1; select 2", "expected one statement, found 2"),
        ("drop view prospects", "found DROP"),
        ("insert into prospects values (1)", "found INSERT"),
        ("copy prospects to 'x.csv'", "found COPY"),
        ("set enable_external_access = true", "found SET"),
        ("attach 'x.db'", "found ATTACH"),
        ("install httpfs", "found"),
        ("pragma database_list", "found"),
        ("select * from '/etc/passwd'", "there is no view"),
        ("select * from read_text('/etc/passwd')", "A query reads the views of the indexes and nothing else."),
        ("select * from read_csv('https://example.com/x.csv')", "nothing else"),
        ("select * from glob('*')", "nothing else"),
        ("select 'x'::int from prospects", "Could not convert"),
    ],
)
def test_a_query_reads_the_indexes_and_nothing_else(packed: Any, sql: str, said: str) -> None:
    result = packed("query", sql)
    assert result.code == 2, result.out
    assert said in result.err
    assert "hint: " in result.err
    assert packed("query", sql, "--json").error["code"] == "query"


def test_options_that_do_not_go_together(packed: Any) -> None:
    assert packed("query", "select 1", "--csv", "--json").code == 2
    assert packed("query", "select 1", "--raw").code == 2
    assert packed("status", "propsects").code == 4
    assert "Did you mean: prospects" in packed("status", "propsects").err
    assert packed("purge", "--yes").code == 2


def test_long_answers_are_cut_and_say_so(packed: Any) -> None:
    short = packed("query", "from range(30)", "--limit", "3")
    assert (len(short.out.splitlines()), "there are more" in short.err) == (4, True)
    assert packed("query", "from range(30)", "--limit", "3", "--json").json["truncated"]
    assert len(rows(packed("query", "from range(3000)", "--limit", "0", "--json"))) == 3000


def test_no_campaign_is_a_question(plumbers: Any) -> None:
    assert plumbers("campaign", "new", "roofers").code == 0
    asked = plumbers("index", "query", "select 1")
    assert (asked.code, "Known campaigns: plumbers, roofers" in asked.err) == (2, True)
    assert plumbers("index", "status", "-c", "nobody").code == 4
    assert plumbers("index", "verify", "domains").code == 0


# --- compact


def test_compact_says_what_it_did_and_what_it_set_aside(index: Any, store: Store, write_prospects: Any) -> None:
    write_prospects("acme.example")
    store.put("campaigns/plumbers/indexes/prospects/a/aaaaaaaaaaaaaaaa.usv", b"not a record\n")
    before = everything(store)
    assert rows(index("compact", "--dry-run", "--json"))[0] == {
        "index": "prospects",
        "status": "would_pack",
        "waiting": 2,
    }
    assert everything(store) == before
    done = index("compact", "prospects")
    assert done.code == 0
    assert "Set aside: campaigns/plumbers/indexes/prospects/a/aaaaaaaaaaaaaaaa.usv, line 1: " in done.err
    assert "hint: cocli index check -c plumbers" in done.err
    again = rows(index("compact", "prospects", "--json"))[0]
    assert (again["status"], again["version"], again["rows"]) == ("already_packed", 1, 1)
    found = status_of(index, "prospects")
    assert (found["set_aside"], found["rows"]) == (1, 1)


# --- verify, repair, damage


def test_damage_is_named_and_repaired(packed: Any, store: Store, home: Path) -> None:
    whole, damaged = everything(store), shards(store)
    for key in damaged:
        store.put(key, store.get(key).data[:-30])
    assert status_of(packed, "prospects")["damaged"] >= 1
    checked = packed("verify", "prospects")
    assert checked.code == 8
    assert "is not what its name says" in checked.out
    assert "hint: cocli index check prospects -c plumbers --fix" in checked.err
    assert not packed("verify", "--json").json["ok"]
    assert "is not what its name says" in packed("repair", "prospects", "--dry-run").out
    mended = packed("repair", "prospects")
    assert (mended.code, mended.out) == (0, "repaired\n")
    assert packed("verify").code == 0
    assert status_of(packed, "prospects")["damaged"] == 0
    assert sum(store.get(key).data == whole[key] for key in damaged) >= 1, "put back as it was"
    assert len(rows(packed("query", "from prospects", "--json"))) == 3


def test_lost_rows_are_said_by_the_exit_code_and_keep_collection_away(packed: Any, store: Store, home: Path) -> None:
    for file in (home / ".cache").rglob("*"):
        if file.is_file():
            file.unlink()
    for key in shards(store):
        store.delete(key)
    mended = packed("repair", "prospects", "--json")
    assert mended.code == 8
    assert mended.json["lost_rows"] == 3
    refused = packed("gc", "prospects")
    assert refused.code == 8
    assert "has lost 3 rows" in refused.err
    assert "cocli index gc prospects -c plumbers --accept-losses" in refused.err
    assert packed("gc", "prospects", "--dry-run").code == 0
    assert packed("gc", "prospects", "--accept-losses").code == 0


def test_a_damaged_shard_stops_a_query_unless_it_may_be_left_out(packed: Any, store: Store, home: Path) -> None:
    for file in (home / ".cache").rglob("*.usv"):
        file.unlink()
    for key in shards(store):
        store.put(key, b"junk\n")
    stopped = packed("query", "select count(*) as n from prospects")
    assert stopped.code == 8
    assert "cocli index check prospects -c plumbers --fix" in stopped.err
    served = packed("query", "select count(*) as n from prospects", "--skip-damaged")
    assert (served.code, served.out.split()) == (0, ["n", "0"])
    assert "Left out: shard " in served.err
    assert packed("query", "select count(*) as n from prospects", "--skip-damaged", "--json").json["damaged"]


def test_a_lost_pointer_is_an_error_with_the_command_that_helps(packed: Any, store: Store) -> None:
    store.delete("campaigns/plumbers/indexes/prospects/LATEST")
    for words in (("query", "from prospects"), ("get", "prospects", "acme.example"), ("compact",)):
        failed = packed(*words)
        assert failed.code == 8
        assert "cocli index check prospects -c plumbers --fix" in failed.err
    assert status_of(packed, "prospects")["problem"]
    assert "hint: cocli index check prospects -c plumbers" in packed("status").err
    assert packed("repair", "prospects", "--json").json["pointer"]
    assert len(rows(packed("query", "from prospects", "--json"))) == 3


# --- audit, purge


def foreign(store: Store, home: Path) -> Prospect:
    """A prospect of the roofers, in the folder of the plumbers: an older program did that."""
    record = Prospect(
        company_hash=company_hash("domain:roof.example"), slug="roof", name="Roof", campaign="roofers",
        first_seen=NOON, updated_at=NOON,
    )  # fmt: skip
    store.put(str(ProspectKey("plumbers", record.company_hash)), usv.render(Prospect, [record]))
    return record


def test_audit_and_purge_of_foreign_records(packed: Any, store: Store, home: Path) -> None:
    assert packed("audit").code == 0
    foreign(store, home)
    found = packed("audit", "--json")
    assert found.code == 8
    prospects = found.json["indexes"][0]
    assert prospects["counts"] == {"foreign": 1}
    assert "roofers" in prospects["examples"]["foreign"][0]["detail"]
    text = packed("audit", "prospects")
    assert "hint: cocli index purge --foreign-campaign -c plumbers --dry-run" in text.err
    packed("compact")
    assert packed("audit").code == 8
    before = everything(store)
    planned = packed("purge", "--foreign-campaign", "--dry-run", "--json").json
    assert planned["indexes"] == [{"index": "prospects", "rows": 0, "files": 1, "kept": 0, "campaigns": {"roofers": 1}}]
    assert everything(store) == before
    assert packed("purge", "--foreign-campaign").code == 2
    assert packed("purge", "--foreign-campaign", "--yes", "--json").json["removed"] == 1
    assert packed("audit").code == 0
    assert len(rows(packed("query", "from prospects", "--json"))) == 3


def test_purge_asks_on_a_terminal(packed: Any, store: Store, home: Path, on_terminal: Any) -> None:
    record = foreign(store, home)
    words = ("index", "purge", "--foreign-campaign", "-c", "plumbers")
    refused = on_terminal(*words, typed=[("[y/N]", "n\r")])
    assert "Nothing was removed." in refused.screen
    agreed = on_terminal(*words, typed=[("[y/N]", "y\r")])
    assert "removed" in agreed.screen
    assert str(ProspectKey("plumbers", record.company_hash)) not in everything(store)


# --- backfill, consolidate, gc


def test_backfill_fills_what_is_missing_and_only_that(packed: Any, write_prospects: Any, store: Store) -> None:
    before = everything(store)
    planned = packed("backfill", "--dry-run", "--json").json
    assert (planned["status"], planned["emails"], planned["domains"]) == ("would_fill", 1, 3)
    assert everything(store) == before
    done = packed("backfill", "--json").json
    assert (done["status"], done["prospects"], done["emails"], done["domains"]) == ("filled", 3, 1, 3)
    email = packed("get", "emails", "info@acme.example", "--json").json["record"]
    acme = packed("get", "prospects", "acme.example", "--json").json["record"]
    assert (email["company_hash"], email["domain"]) == (acme["company_hash"], "acme.example")
    again = packed("backfill")
    assert again.out == "already_filled\n"
    write_prospects("dash.example", all_emails=("info@acme.example", "hi@dash.example"))
    assert packed("backfill", "--json").json["emails"] == 1
    assert packed("get", "emails", "info@acme.example", "--json").json["record"] == email


def test_consolidate_makes_copies_and_the_list_of_domains(packed: Any, home: Path, write_prospects: Any) -> None:
    packed("backfill")
    write_prospects("acme.example", name="=Acme", updated_at="2026-11-16T12:00:00Z")
    packed("compact")
    done = packed("consolidate", "--json").json
    assert {copy["index"]: copy["status"] for copy in done["copies"]} == {
        "prospects": "built", "emails": "built", "domains": "built",
    }  # fmt: skip
    assert done["searched"] == 3
    master = Path(done["domains_path"])
    assert master == home / "data" / "campaigns" / "plumbers" / "exports" / "domains_master.csv"
    table = {row["domain"]: row for row in csv.DictReader(io.StringIO(master.read_text()))}
    assert set(table) == {"acme.example", "bolt.example", "coil.example"}
    assert table["bolt.example"]["phone"] == "+12175550100", "a plus and digits is a number, and no formula"
    assert not table["acme.example"]["company"].startswith("=")
    again = packed("consolidate", "--json").json
    assert {copy["status"] for copy in again["copies"]} == {"already_current"}
    rebuilt = packed("consolidate", "prospects", "--rebuild", "--json").json
    assert [copy["status"] for copy in rebuilt["copies"]] == ["built"]
    files = list((home / ".cache").rglob("prospects/*.parquet"))
    assert len(files) == 1


def test_a_query_uses_the_copy_and_never_an_old_one(packed: Any, home: Path, write_prospects: Any) -> None:
    count = "select count(*) as n from prospects"
    assert rows(packed("query", count, "--derived", "--json")) == [{"n": 3}]
    (copy,) = (home / ".cache").rglob("prospects/*.parquet")
    connection = duckdb.connect()
    connection.execute(f"copy (select * from read_parquet('{copy}') limit 1) to '{copy}.new' (format parquet)")
    connection.close()
    Path(f"{copy}.new").rename(copy)
    assert rows(packed("query", count, "--json")) == [{"n": 1}], "the copy is not what was read"
    write_prospects("dash.example")
    packed("compact", "prospects")
    assert rows(packed("query", count, "--json")) == [{"n": 4}], "an old copy was read"


def test_gc_names_first_and_deletes_later(packed: Any, store: Store) -> None:
    old = ("--keep-versions", "1", "--keep-days", "0", "--grace-hours", "0")
    before = everything(store)
    looked = packed("gc", *old, "--dry-run", "--json").json
    assert looked["status"] == "would_collect"
    assert everything(store) == before
    assert packed("gc", "--json").code == 0
    for _ in range(3):
        done = packed("gc", *old)
        assert done.code == 0, done.err
    assert packed("verify").code == 0
    assert len(rows(packed("query", "from prospects", "--json"))) == 3


# --- migrate


def old_prospects(folder: Path, names: list[str]) -> None:
    """A file as an older version wrote it: 56 columns, no header."""
    rows = []
    for number, name in enumerate(names):
        values = {
            "place_id": place_id_from_feature_id(f"0x80c2000000000001:0x{number + 1:x}") if name != "Bad" else "!",
            "name": name,
            "company_slug": "x", "keyword": "plumber", "created_at": "2026-01-05T08:00:00+00:00",
            "updated_at": "2026-02-05T09:30:00+00:00", "version": "1", "processed_by": "worker-3",
        }  # fmt: skip
        rows.append("\x1f".join(values.get(column.name, "") for column in FIFTY_SIX) + "\n")
    file = folder / "data" / "campaigns" / "plumbers" / "indexes" / "google_maps_prospects" / "prospects.checkpoint.usv"
    file.parent.mkdir(parents=True)
    file.write_text("".join(rows))


def test_migrate_counts_first_and_then_does_it(packed: Any, home: Path, store: Store) -> None:
    old = home / "old"
    old_prospects(old, ["Anchor", "Bad", "Beacon", "Cove"])
    before = everything(store)
    planned = packed("migrate", str(old), "--dry-run", "--json").json
    assert (planned["status"], planned["plan"]["rows"], planned["plan"]["records"]) == ("would_migrate", 4, 3)
    looked = packed("migrate", str(old), "--dry-run")
    assert "Nothing was written." in looked.err
    assert "1 row would be set aside" in looked.err
    assert f"hint: cocli index migrate {old} -c plumbers\n" in looked.err
    assert everything(store) == before
    done = packed("migrate", str(old), "--json").json
    assert done["status"] == "migrated"
    assert (done["rows"]["before"]["prospects"], done["rows"]["after"]["prospects"]) == (3, 6)
    rejected = Path(done["report"]["rejected_file"])
    assert rejected == home / "old.migration-plumbers" / "rejected.jsonl"
    assert len(rejected.read_text().splitlines()) == 1
    assert len(rows(packed("query", "from prospects where name in ('Anchor', 'Beacon', 'Cove')", "--json"))) == 3
    again = packed("migrate", str(old), "--apply")
    assert (again.code, "kept in" in again.err) == (0, True)
    assert status_of(packed, "prospects")["rows"] == 6
    assert packed("audit").code == 0


def test_migrate_says_what_is_wrong(packed: Any, home: Path) -> None:
    assert packed("migrate", str(home / "nowhere")).code == 2
    assert packed("migrate", str(home), "--witnesses-until", "soon").code == 2
    old = home / "old"
    old_prospects(old, ["Anchor"])
    (home / "file").write_text("x")
    blocked = packed("migrate", str(old), "--work", str(home / "file"))
    assert (blocked.code, "--work DIR" in blocked.err) == (2, True)


def test_hints_are_commands(packed: Any, plumbers: Any) -> None:
    """Whatever a hint names can be typed."""
    hints = re.findall(r"hint: cocli (index .*)", packed("status").err + packed("history", "prospects").err)
    assert hints
    for hint in hints:
        assert plumbers(*hint.split()).code == 0


def test_json_of_every_reader_is_one_line_of_errors_or_a_document(packed: Any) -> None:
    failed = packed("query", "from nowhere", "--json")
    assert failed.out == ""
    assert json.loads(failed.err)["error"]["code"] == "query"
