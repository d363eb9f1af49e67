"""What holds for every command: streams, JSON, errors, interruption, completion, and the reference."""

from __future__ import annotations

import json
import os
import re
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from cocli.cli.kit.json_documents import DOCUMENTS, OLDER_DOCUMENTS
from cocli.cli.kit.reference import commands, error_classes, pages
from cocli.cli.root import run
from cocli.config.schema import settings
from cocli.exit_codes import ExitCode
from cocli.formats.safe_text import safe_line, safe_text

ROOT = Path(__file__).parents[2]


# --- the reference ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reference() -> dict[str, str]:
    return pages()


@pytest.mark.parametrize("name", ["cli.md", "configuration.md", "exit-codes.md", "json.md"])
def test_the_reference_is_what_the_code_says(name: str, reference: dict[str, str]) -> None:
    committed = (ROOT / "docs" / "reference" / name).read_text("utf-8")
    assert committed == reference[name], "run: .venv/bin/python -m cocli.cli.kit.reference"


def test_everything_is_documented(reference: dict[str, str]) -> None:
    documented = reference
    for path, _, _ in commands():
        assert f"## {path}\n" in documented["cli.md"]
    for setting in settings():
        assert f"| `{setting.name}` |" in documented["configuration.md"]
        assert f"`{setting.variable}`" in documented["configuration.md"]
    for code in ExitCode:
        assert f"| {code.value} | `{code.name}` |" in documented["exit-codes.md"]
    for kind in error_classes():
        assert f"| `{kind.code}` |" in documented["json.md"]


def leaves(*, hidden: bool = False) -> Iterator[tuple[str, Any, Any]]:
    """What can be run: commands, and nouns that do something without a verb."""
    for path, command, context in commands(hidden=hidden):
        if hasattr(command, "default_command"):
            yield path, command.default_command(), context
        elif not hasattr(command, "list_commands"):
            yield path, command, context


@pytest.mark.parametrize("path", [path for path, _, _ in leaves()])
def test_every_command_has_an_example_that_is_a_command(path: str, cocli: Any) -> None:
    result = cocli(*path.split()[1:], "--help")
    assert result.code == 0
    examples = result.out.partition("Examples:\n")[2].splitlines()
    assert examples, path
    assert any(path in line for line in examples)
    options = set(re.findall(r"--[a-z-]+", result.out.partition("Examples:")[0]))
    for line in examples:
        assert set(re.findall(r"(?<!\S)--[a-z-]+", line)) <= options, line


def test_every_command_that_reads_or_changes_has_json() -> None:
    with_json = {path for path, command, _ in leaves() if any("--json" in param.opts for param in command.params)}
    assert with_json == set(DOCUMENTS)
    assert {path for path, _, _ in leaves(hidden=True)} - {path for path, _, _ in leaves()} == set(OLDER_DOCUMENTS)
    assert {path for path, _, _ in leaves()} - with_json == {
        "cocli store cat",
        "cocli completion",
        "cocli documents serve",
        "cocli documents module",
        "cocli enrichment serve",
        "cocli demo",  # its last line is JSON
        "cocli infra policy",  # these two print JSON and nothing else
        "cocli infra template",
        "cocli suppress export",  # it writes a CSV file
        "cocli web",
        "cocli mcp",
    }


RUNS: dict[str, tuple[str, ...]] = {
    "cocli init": (),
    "cocli campaign new": ("roofers",),
    "cocli campaign list": (),
    "cocli campaign show": ("plumbers",),
    "cocli campaign edit": ("plumbers", "--set", "fetch.rate=2"),
    "cocli campaign rm": ("plumbers", "--dry-run"),
    "cocli campaign build-mission-index": ("plumbers",),
    "cocli campaign queue-mission": ("plumbers", "--dry-run"),
    "cocli campaign plan": ("plumbers", "--queue", "--limit", "5"),
    "cocli campaign coverage": ("plumbers",),
    "cocli campaign migrate": ("plumbers", "."),
    "cocli campaign settle": ("plumbers",),
    "cocli campaign achieve-goal": ("plumbers", "--companies", "1", "--watch"),
    "cocli campaign missing-emails": ("plumbers",),
    "cocli campaign enqueue-batch": ("plumbers", "again.csv", "--batch", "again"),
    "cocli campaign evaluate-batch": ("plumbers", "again"),
    "cocli campaign re-extract": ("plumbers",),
    "cocli campaign retry": ("plumbers",),
    "cocli campaign changes": ("plumbers",),
    "cocli campaign refresh": ("plumbers",),
    "cocli campaign tell": ("plumbers",),
    "cocli schedule": ("plumbers", "--cron"),
    "cocli campaign publish": ("plumbers",),
    "cocli web deploy": ("plumbers", "--to", "www", "--public"),
    "cocli campaign use": ("plumbers",),
    "cocli config show": (),
    "cocli config set": ("fetch.rate", "2"),
    "cocli config unset": ("fetch.rate",),
    "cocli doctor": (),
    "cocli locate": ("campaign", "plumbers"),
    "cocli worker": ("enrichment", "--once", "-c", "plumbers"),
    "cocli supervisor": ("--for", "1s", "--poll", "0.2", "--host", "h", "-c", "plumbers"),
    "cocli remote send": ("add-query drain cleaner", "-c", "plumbers"),
    "cocli remote ls": ("-c", "plumbers"),
    "cocli remote show": ("2", "-c", "plumbers"),
    "cocli cluster status": ("plumbers",),
    "cocli cluster top": ("plumbers",),
    "cocli cluster evict": ("pi1", "--dry-run"),
    "cocli cluster admit": ("pi1",),
    "cocli queue status": ("plumbers",),
    "cocli queue ls": ("gm-list", "-c", "plumbers"),
    "cocli queue show": ("gm-list", "a", "-c", "plumbers"),
    "cocli queue put": ("gm-list", "b", "-c", "plumbers"),
    "cocli queue release": ("gm-list", "a", "-c", "plumbers"),
    "cocli queue recover": ("gm-list", "--all", "-c", "plumbers"),
    "cocli queue sideline": ("gm-list", "a", "-c", "plumbers", "--reason", "x"),
    "cocli queue purge": ("gm-list", "-c", "plumbers", "--state", "completed", "--dry-run"),
    "cocli index status": ("-c", "plumbers"),
    "cocli index get": ("prospects", "acme.example", "-c", "plumbers"),
    "cocli index history": ("prospects", "-c", "plumbers"),
    "cocli index diff": ("prospects", "1", "-c", "plumbers"),
    "cocli index verify": ("-c", "plumbers"),
    "cocli index audit": ("-c", "plumbers"),
    "cocli index check": ("-c", "plumbers"),
    "cocli index query": ("select name, city from prospects", "-c", "plumbers"),
    "cocli index compact": ("-c", "plumbers"),
    "cocli index consolidate": ("-c", "plumbers"),
    "cocli index backfill": ("-c", "plumbers"),
    "cocli index migrate": ("older", "-c", "plumbers"),
    "cocli index gc": ("-c", "plumbers"),
    "cocli index repair": ("prospects", "-c", "plumbers"),
    "cocli index purge": ("--foreign-campaign", "-c", "plumbers", "--yes"),
    "cocli documents save": ("-", "--doc", "b", "-c", "plumbers"),
    "cocli documents get": ("a", "-c", "plumbers"),
    "cocli documents states": ("a", "-c", "plumbers"),
    "cocli documents ls": ("-c", "plumbers"),
    "cocli documents rm": ("a", "-c", "plumbers"),
    "cocli documents restore": ("a", "-c", "plumbers"),
    "cocli documents purge": ("a", "-c", "plumbers", "--yes"),
    "cocli documents fsck": ("-c", "plumbers"),
    "cocli documents replay": ("-c", "plumbers"),
    "cocli documents seed": ("x", "-c", "plumbers", "--edition", "staging"),
    "cocli documents compare": ("main", "staging", "-c", "plumbers"),
    "cocli documents promote": ("main", "-c", "plumbers", "--dry-run"),
    "cocli documents jobs": ("-c", "plumbers"),
    "cocli documents job": ("last", "-c", "plumbers"),
    "cocli documents token": ("-c", "plumbers"),
    "cocli documents revoke": ("0123456789abcdef", "-c", "plumbers"),
    "cocli documents revocations": ("-c", "plumbers"),
    "cocli documents work": ("page", "-c", "plumbers", "--until-empty"),
    "cocli enrich": ("gmail.com",),
    "cocli source add": ("shops.json",),
    "cocli source ls": (),
    "cocli source rm": ("shops.json", "--yes"),
    "cocli source check": ("shops.json",),
    "cocli source fetch": ("overture", "--bbox", "5.1,52.0,5.2,52.1", "--from", "bucket"),
    "cocli source categories": ("farm shop",),
    "cocli find": ("acme",),
    "cocli company ls": (),
    "cocli company show": ("acme",),
    "cocli company new": ("Beta",),
    "cocli company tag": ("acme", "vip"),
    "cocli company untag": ("acme", "vip"),
    "cocli company exclude": ("acme", "--by", "name", "-c", "plumbers"),
    "cocli company refresh": ("-c", "plumbers"),
    "cocli company edit": ("acme", "--set", "status=called"),
    "cocli company merge": ("acme", "x", "--yes"),
    "cocli company split": ("x", "-c", "plumbers", "--dry-run"),
    "cocli company rm": ("acme", "--with-notes", "--yes"),
    "cocli company restore": ("x",),
    "cocli person rm": ("jo-doe", "--yes"),
    "cocli note edit": ("acme", "Call", "--text", "called again"),
    "cocli note rm": ("acme", "Call", "--yes"),
    "cocli meeting rm": ("acme", "Offer", "--yes"),
    "cocli person ls": (),
    "cocli person show": ("jo-doe",),
    "cocli person new": ("Jo Doe", "--email", "jo@acme.example"),
    "cocli note add": ("acme", "called"),
    "cocli note ls": ("acme",),
    "cocli meeting add": ("acme", "2031-01-01 10:00"),
    "cocli meeting ls": (),
    "cocli meeting next": (),
    "cocli export": ("plumbers",),
    "cocli import": ("leads.csv", "-c", "plumbers", "--dry-run"),
    "cocli run": ("leads.csv",),
    "cocli campaign kml": ("plumbers", "--what", "prospects"),
    "cocli report": ("plumbers",),
    "cocli why": ("acme.example", "name", "-c", "plumbers"),
    "cocli sync push": ("--store", "memory://"),
    "cocli sync pull": ("--store", "memory://"),
    "cocli sync both": ("--store", "memory://"),
    "cocli sync status": ("--store", "memory://"),
    "cocli sync resolve": ("--store", "memory://"),
    "cocli sync": ("plumbers", "--store", "memory://"),
    "cocli backup create": ("-b", "backup"),
    "cocli backup ls": ("-b", "backup"),
    "cocli backup verify": ("-b", "backup"),
    "cocli backup restore": ("-b", "backup", "--to", "restored"),
    "cocli backup prune": ("-b", "backup", "--keep-last", "1"),
    "cocli register": ("plumbers",),
    "cocli retention show": ("plumbers",),
    "cocli retention apply": ("plumbers", "--yes"),
    "cocli retention proofs": ("plumbers",),
    "cocli documents quarantine": ("-c", "plumbers"),
    "cocli documents release": ("--all", "-c", "plumbers"),
    "cocli documents events": ("-c", "plumbers"),
    "cocli documents subscribe": ("9a6fbd55f7df4b88", "-c", "plumbers"),
    "cocli documents unsubscribe": ("9a6fbd55f7df4b88", "-c", "plumbers"),
    "cocli documents subscriptions": ("-c", "plumbers"),
    "cocli documents recrawl": ("9a6fbd55f7df4b88", "--dry-run", "-c", "plumbers"),
    "cocli suppress add": ("jo@firm.example",),
    "cocli suppress rm": ("jo@firm.example",),
    "cocli suppress list": (),
    "cocli suppress check": ("jo@firm.example",),
    "cocli suppress import": ("unsubscribed.csv",),
    "cocli forget": ("jo@firm.example", "--dry-run"),
    "cocli subject-access": ("jo@firm.example",),
    "cocli store ls": (),
    "cocli store put": ("k", "-"),
    "cocli store rm": ("campaigns", "-r", "--dry-run"),
    "cocli store du": (),
    "cocli self check": ("--workers",),
}


NEED_A_TERMINAL = {"cocli company open", "cocli person open", "cocli config edit"}
"""They start an editor; `test_crm.py` and `test_config.py` run them."""
NEED_A_HOST = {f"cocli deploy{verb}" for verb in ("", " hotfix", " rollback", " status", " logs", " stop", " remove")}
"""They ask a host by ssh; `tests/deploy` runs them."""
NEED_AN_ACCOUNT = {f"cocli infra {verb}" for verb in ("diff", "deploy", "outputs", "check", "user add", "user rm")}
"""They ask AWS; `tests/infra` runs what they do."""


@pytest.mark.parametrize(
    "command", sorted({*DOCUMENTS, *OLDER_DOCUMENTS} - NEED_A_TERMINAL - NEED_A_HOST - NEED_AN_ACCOUNT)
)
def test_json_is_one_document_with_the_documented_keys(
    command: str, plumbers: Any, write_prospects: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_prospects("acme.example")
    monkeypatch.chdir(home)
    if command == "cocli index migrate":
        (home / "older").mkdir()
    if command.startswith(("cocli queue", "cocli index")):
        plumbers("queue", "put", "gm-list", "a", "-c", "plumbers")
    if command.startswith(("cocli index", "cocli find")):
        assert plumbers("index", "compact", "-c", "plumbers").code == 0
    if command.startswith("cocli documents"):
        assert plumbers("documents", "save", "-", "--doc", "a", "-c", "plumbers", stdin=b"x").code == 0
        assert plumbers("documents", "replay", "-c", "plumbers").code == 0
    if command in ("cocli campaign queue-mission", "cocli campaign coverage"):
        assert plumbers("campaign", "build-mission-index", "plumbers").code == 0
    if command in ("cocli campaign enqueue-batch", "cocli campaign evaluate-batch"):
        (home / "again.csv").write_text("domain\nacme.example\nacme.com\n")
    if command == "cocli campaign evaluate-batch":
        assert plumbers("campaign", "enqueue-batch", "plumbers", "again.csv", "--batch", "again").code == 0
    if command == "cocli remote show":
        assert plumbers("remote", "send", "pause", "-c", "plumbers").code == 0
    if command in ("cocli cluster evict", "cocli cluster admit"):
        assert plumbers("campaign", "edit", "plumbers", "--set", "workers.pi1.enrichment=1").code == 0
    if command in ("cocli suppress check", "cocli suppress rm"):
        assert plumbers("suppress", "add", "jo@firm.example").code == 0
    if command == "cocli suppress import":
        (home / "unsubscribed.csv").write_text("Email Address\njo@firm.example\n")
    if command.removeprefix("cocli documents ") in ("subscribe", "unsubscribe", "recrawl"):
        assert plumbers("campaign", "edit", "plumbers", "--set", "documents.events=queue").code == 0
    if command in ("cocli documents unsubscribe", "cocli documents recrawl"):
        assert plumbers("documents", "subscribe", "9a6fbd55f7df4b88", "-c", "plumbers").code == 0
    if command == "cocli config unset":
        assert plumbers("config", "set", "fetch.rate", "2").code == 0
    if command == "cocli documents work":
        assert plumbers("campaign", "edit", "plumbers", "--set", "documents.events=queue").code == 0
    if command == "cocli documents restore":
        assert plumbers("documents", "rm", "a", "-c", "plumbers").code == 0
    if command.startswith(
        ("cocli company", "cocli person", "cocli note", "cocli meeting", "cocli import", "cocli run")
    ):
        _bring_contacts(home, plumbers)
    if command in ("cocli company merge", "cocli company restore"):
        assert plumbers("company", "refresh").code == 0
    if command == "cocli company restore":
        assert plumbers("company", "rm", "x", "--yes").code == 0
    if command in ("cocli note edit", "cocli note rm"):
        assert plumbers("note", "add", "acme", "called", "--title", "Call").code == 0
    if command == "cocli meeting rm":
        assert plumbers("meeting", "add", "acme", "2031-01-01 10:00", "--title", "Offer").code == 0
    if command.startswith("cocli backup"):
        assert plumbers("backup", "create", "-b", "backup").code == 0
    if command.startswith("cocli source"):
        _bring_places(home)
    if command in ("cocli source rm", "cocli source ls"):
        assert plumbers("source", "add", "shops.json").code == 0
    result = plumbers(*command.split()[1:], *RUNS[command], "--json")
    assert result.code == 0, result.err
    assert result.err == ""
    assert result.out.isascii()
    documented = set(re.findall(r'"(\w+)"', {**DOCUMENTS, **OLDER_DOCUMENTS}[command]))
    assert _keys(result.json) <= documented | _free_keys(result.json)
    assert set(result.json) <= documented


def _bring_contacts(home: Path, cocli: Any) -> None:
    assert cocli("company", "new", "Acme", "--website", "acme.example").code == 0
    assert cocli("person", "new", "Jo Doe").code == 0
    (home / "leads.csv").write_text("name\nAcme\n")


def _bring_places(home: Path) -> None:
    """A file of OpenStreetMap, and a folder in the layout of Overture's bucket."""
    shop = {"type": "node", "id": 1, "lat": 52.05, "lon": 5.15, "tags": {"name": "Farm", "shop": "farm"}}
    (home / "shops.json").write_text(json.dumps({"elements": [shop, shop, {**shop, "lat": 95}]}))
    folder = home / "bucket" / "release" / "2026-01-21.0" / "theme=places" / "type=place"
    folder.mkdir(parents=True)
    place = "'a' AS id, {'primary': 'Farm'} AS names, ST_GeomFromWKB(unhex(?)) AS geometry"
    box = "{'xmin': 5.15, 'xmax': 5.15, 'ymin': 52.05, 'ymax': 52.05} AS bbox"
    point = struct.pack("<BIdd", 1, 1, 5.15, 52.05).hex()
    with duckdb.connect(":memory:") as connection:
        connection.execute(f"COPY (SELECT {place}, {box}) TO '{folder}/part.parquet' (FORMAT parquet)", [point])


def _keys(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(_keys, value.values()))
    return set().union(*map(_keys, value)) if isinstance(value, list) else set()


def _free_keys(document: Any) -> set[str]:
    """The keys of a campaign's settings, and values of settings, which are tables themselves; of records; of queues."""
    document = document.get("import", document)  # of a run, which imports first
    for name in ("task", "record", "plan", "versions", "data", "mapping"):
        if name in document:
            return _keys([document[name], *(document.get(part, ()) for part in ("rows", "blobs", "examples"))])
    if isinstance(queues := document.get("queues"), dict):
        return set(queues)
    free = document.get("settings")
    return _keys(free) if isinstance(free, dict) else _keys([row["value"] for row in free or []])


# --- errors ----------------------------------------------------------------------------------------------------------


def test_errors_are_text_or_json(cocli: Any) -> None:
    text = cocli("campaign", "show", "nope")
    assert text.out == ""
    assert text.err.startswith('error: There is no campaign "nope"')
    assert "\nhint: " in text.err
    as_json = cocli("campaign", "show", "nope", "--json")
    assert as_json.out == ""
    assert as_json.code == text.code == 4
    assert as_json.error["code"] == "unknown_campaign"
    assert set(as_json.error) == {"code", "message", "hint", "retryable", "details"}
    assert as_json.err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("campagn",), "Did you mean: cocli campaign"),
        (("xyzzy",), "See: cocli --help"),
        (("campaign", "shw"), "Did you mean 'show'?"),
        (("campaign", "show"), "Which campaign? Known campaigns: none yet."),
        (("campaign", "list", "--jsn"), "No such option: --jsn"),
        (("campaign", "list", "extra"), "unexpected extra argument"),
        (("--store", "x"), "No such option"),
        (("completion", "tcsh"), "bash"),
        (("locate", "unicorn"), "Choose one of: data-home"),
        (("locate", "queue", "gm-list"), "--campaign NAME"),
        (("locate", "campaign"), "Which campaign?"),
    ],
)
def test_a_wrong_command_line_says_what_would_be_right(cocli: Any, words: tuple[str, ...], said: str) -> None:
    result = cocli(*words)
    assert result.code == 2
    assert said in result.err
    assert "hint: " in result.err
    assert result.out == ""
    assert cocli(*words, "--json").error["code"] == "usage"


def test_a_noun_alone_shows_its_help(cocli: Any) -> None:
    result = cocli("campaign")
    assert result.code == 0
    assert re.search(r"  new +Make a campaign", result.out)


class Haunted(dict[str, str]):
    """An environment in which one variable cannot be read."""

    def get(self, key: str, default: Any = None) -> Any:
        if key == "COCLI_CONFIG":
            raise ZeroDivisionError("boo \x1b[31m")
        return super().get(key, default)


def test_an_unforeseen_error_is_short_and_says_where_to_go(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["campaign", "list"], Haunted()) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ZeroDivisionError: boo \\x1b[31m\nhint: This is a mistake in cocli.")
    assert "Traceback" not in err
    assert run(["campaign", "list"], Haunted(COCLI_DEBUG="1")) == 1
    assert "Traceback" in capsys.readouterr().err
    assert run(["campaign", "list", "--json"], Haunted()) == 1
    assert json.loads(capsys.readouterr().err)["error"]["code"] == "internal"


def test_quiet_leaves_the_talk_out(cocli: Any) -> None:
    loud = cocli("campaign", "new", "one")
    quiet = cocli("campaign", "new", "two", "--quiet")
    assert "hint:" in loud.err
    assert quiet.err == ""
    assert quiet.out


def test_interruption_is_quiet_and_has_its_code(home: Path) -> None:
    pipe = home / "pipe"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [sys.executable, "-m", "cocli", "store", "put", "k", str(pipe)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    writer = _open_once_somebody_reads(pipe)
    time.sleep(0.5)  # until it waits in read(): a signal just before that is only noticed after it
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    os.close(writer)
    assert (process.returncode, out, err) == (130, b"", b"")
    assert not (home / "data" / "k").exists()


def _open_once_somebody_reads(pipe: Path) -> int:
    deadline = time.monotonic() + 30
    while True:
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def test_a_reader_that_goes_away_is_no_error(home: Path) -> None:
    folder = home / "data" / "many" / ("x" * 150)
    folder.mkdir(parents=True)
    for number in range(1500):
        (folder / f"{number:05d}-{'y' * 100}").write_bytes(b"")
    process = subprocess.Popen(
        [sys.executable, "-m", "cocli", "store", "ls", "-r"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.close()
    _, err = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGPIPE
    assert err == b""


def test_a_terminal_without_unicode_does_not_crash(plumbers: Any) -> None:
    plumbers("campaign", "edit", "plumbers", "--set", "prospecting.queries+=Öl 🔧")
    environ = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    done = subprocess.run([sys.executable, "-m", "cocli", "campaign", "list"], env=environ, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert b"\\xd6l \\U0001f527" in done.stdout


# --- harmless text ---------------------------------------------------------------------------------------------------


def test_no_control_character_survives() -> None:
    every = "".join(map(chr, range(0x300))) + "\u061c\u200b\u200e\u2028\u202e\u2066\ufeff\ud800"
    shown = safe_line(every)
    assert all(character.isprintable() or character == "\xa0" for character in shown)
    assert "\n" in safe_text("a\n\tb")
    assert safe_text("a\x1b\n") == "a\\x1b\n"
    assert safe_line("Zoë's “Café” 🔧") == "Zoë's “Café” 🔧"


# --- completion ------------------------------------------------------------------------------------------------------


def completed(line: str, **environ: str) -> tuple[list[str], str]:
    words = line.split(" ")
    done = subprocess.run(
        [sys.executable, "-m", "cocli"],
        env={**os.environ, "_COCLI_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
        | environ,
        capture_output=True,
        text=True,
    )
    return done.stdout.split(), done.stderr


def names(line: str) -> list[str]:
    """What the store is asked for. Where it was too slow there is nothing, so a busy machine is asked again."""
    return next((found for _ in range(20) if (found := completed(line)[0])), [])


def test_completion_knows_nouns_verbs_and_campaigns(plumbers: Any) -> None:
    plumbers("campaign", "new", "painters")
    assert completed("cocli camp") == (["campaign"], "")
    assert completed("cocli campaign ")[0][:5] == ["new", "list", "show", "edit", "rm"]
    assert names("cocli campaign show p") == ["painters", "plumbers"]
    assert names("cocli store ls --campaign pl") == ["plumbers"]
    assert "queue" in completed("cocli locate ")[0]
    assert completed("cocli queue ls gm-d")[0] == ["gm-details"]
    assert "prospects" in completed("cocli index check ")[0]
    assert completed("cocli find")[0] == ["find"]
    assert completed("cocli f")[0] == ["find", "forget"], "older names are not shown"
    assert {"push", "pull"} <= set(completed("cocli sync ")[0])


def test_completion_knows_companies_and_people(plumbers: Any) -> None:
    for name in ("Acme", "Acorn", "Bolt"):
        assert plumbers("company", "new", name).code == 0
        assert plumbers("person", "new", f"Jo {name}").code == 0
    assert names("cocli company show ac") == ["acme", "acorn"]
    assert names("cocli note add b") == ["bolt"]
    assert names("cocli person show jo-a") == ["jo-acme", "jo-acorn"]


@pytest.mark.parametrize("broken", [{"COCLI_STORE": "s3://b?endpoint=http://127.0.0.1:1"}, {"COCLI_STORE": "ftp://x"}])
def test_completion_is_silent_and_quick_when_the_store_is_away(plumbers: Any, broken: dict[str, str]) -> None:
    started = time.monotonic()
    assert completed("cocli campaign show p", **broken) == ([], "")
    assert time.monotonic() - started < 10


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(cocli: Any, shell: str) -> None:
    result = cocli("completion", shell)
    assert result.code == 0
    assert "_COCLI_COMPLETE" in result.out
    if shell == "bash":
        assert subprocess.run(["bash", "-n"], input=result.out, text=True).returncode == 0
