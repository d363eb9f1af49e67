"""Whoever is on the do-not-contact list is in no output: every one that there is, found by the registries, is searched.

An output that is new is tried by itself (formats, files, routes, tools) or has to be named here (commands).
"""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import pytest

import cocli
from cocli.app.campaigns.campaign import edit_campaign, new_campaign
from cocli.app.campaigns.publish import PublishOptions, publish_campaign
from cocli.app.indexes.indexes import campaign_indexes, index_names
from cocli.app.results.exports import ExportOptions, export_to_file
from cocli.app.web.deploy.published import PublishedSite
from cocli.app.web.deploy.redaction import Redaction
from cocli.app.web.prospects.files import prospect_files
from cocli.app.web.shell import WebShell
from cocli.app.web.site import DataSite
from cocli.app.workspace import open_workspace
from cocli.cli.kit.reference import commands
from cocli.cli.kit.writing import writes
from cocli.cli.main import main
from cocli.config.edit import parse_change
from cocli.config.resolve import Flags
from cocli.demo.town.campaign import TownHome
from cocli.index.compaction import Compactor
from cocli.index.writer import IndexWriter
from cocli.keys.identities import company_hash
from cocli.keys.tile import Tile
from cocli.models.campaign import WatchedField
from cocli.models.email import EmailEntry
from cocli.models.freshness.change import BusinessChange, ChangeKind
from cocli.models.freshness.roll import ListedPlace, TileRoll
from cocli.models.freshness.standing import BusinessStanding
from cocli.models.prospect import StaffMember
from cocli.results.exports.kinds import KINDS
from cocli.service.mcp.server import READING, make_server
from cocli.service.web.access import Role
from cocli.service.web.server import WebSettings, serving_web
from tests.cli.conftest import NOON, a_prospect
from tests.kit.residue import residue
from tests.kit.web import RunningWeb
from tests.kit.webhooks import receiver

ADDRESS, NUMBER, DOMAIN, PLACE, NAME = (
    "quiet.jo@plumb.example", "+12175550177", "hushed.example", "ChIJyUzh2kXqwoARUtNFG8VjnYQ", "Silent Night Plumbing",
)  # fmt: skip
HIDDEN = [ADDRESS, "2175550177", "217 555 0177", "217) 555-0177", DOMAIN, PLACE, NAME, "Tacit Pipes", "Reticent Lane"]
NAME_OF = "plumbers"

_PLUMB = "-c", NAME_OF
COMMANDS: dict[str, tuple[str, ...]] = {
    "campaign list": (), "campaign show": (NAME_OF,), "campaign use": (NAME_OF,), "campaign coverage": (NAME_OF,),
    "source ls": (), "source check": (), "source categories": (),
    "company ls": _PLUMB, "company show": ("plumb", *_PLUMB),
    "person ls": (), "person show": ("quiet-jo",), "note ls": (), "meeting ls": (), "meeting next": (),
    "remote ls": _PLUMB, "remote show": _PLUMB, "sync status": (), "backup ls": (), "backup verify": (),
    "queue status": _PLUMB, "queue ls": ("enrichment", *_PLUMB), "queue show": ("enrichment", DOMAIN, *_PLUMB),
    "index status": _PLUMB, "index get": ("prospects", "plumb.example", *_PLUMB),
    "index history": ("prospects", *_PLUMB),
    "index diff": ("prospects", "1", "2", *_PLUMB), "index check": _PLUMB,
    "index query": ("SELECT * FROM prospects_all", *_PLUMB),
    "documents get": ("page", *_PLUMB), "documents states": ("page", *_PLUMB), "documents ls": _PLUMB,
    "documents jobs": _PLUMB, "documents job": ("none", *_PLUMB), "documents compare": ("page", *_PLUMB),
    "deploy status": (NAME_OF,), "deploy logs": (NAME_OF,),
    "campaign changes": (NAME_OF,), "register": (NAME_OF,), "retention show": (NAME_OF,),
    "retention proofs": (NAME_OF,),
    "campaign refresh": (NAME_OF, "--dry-run"), "campaign tell": (NAME_OF, "--dry-run"), "schedule": (NAME_OF,),
    "campaign missing-emails": (NAME_OF,), "index verify": _PLUMB,
    "index audit": _PLUMB, "documents quarantine": _PLUMB, "documents events": _PLUMB,
    "documents subscriptions": _PLUMB, "documents revocations": _PLUMB, "documents fsck": _PLUMB,
    "retention apply": (NAME_OF, "--dry-run"),
    "company refresh": ("--dry-run", *_PLUMB), "company rm": ("plumb", "--dry-run", *_PLUMB),
    "cluster status": (NAME_OF,),
    "find": ("plumb", *_PLUMB), "export": (NAME_OF, "--out", "-"), "why": ("plumb", *_PLUMB), "report": (NAME_OF,),
}  # fmt: skip
NEED_MORE = {
    "backup ls", "backup verify", "campaign coverage", "deploy logs", "deploy status", "documents compare",
    "documents job", "remote show", "source categories", "source check", "sync status",
}  # fmt: skip
"""They show nothing of a business, or need a host, a plan, a file that there is none of here."""
_CONFIG = ("config set", "config unset", "config edit")
_LOOPBACK = 'web.webhook_networks=["127.0.0.0/8"]'
_TOLD = get_args(WatchedField)
ABOUT_FILES = {
    "store ls",
    "store cat",
    "store du",
    "suppress list",
    "suppress check",
    "suppress export",
    "subject-access",
}
"""They show what lies in the store as it lies there, or the list itself."""
SAY_NOTHING = {
    "doctor", "locate", "init", "config show", "completion", "demo", "self check", "infra diff", "infra check",
    "infra outputs", "infra template", "infra policy", "documents module", "cluster top",
}  # fmt: skip
"""Nothing that was found is in what they say."""
SERVE = {"web serve", "mcp", "documents serve", "documents work", "enrichment serve"}
"""They answer programs. Those of the dashboard and the tools for assistants are tried below, `documents serve` in
`tests/service/test_left_alone.py`."""
WRITE = {
    "run", "campaign new", "campaign edit", "campaign rm", "campaign build-mission-index", "campaign queue-mission",
    "campaign kml", "campaign settle", "campaign publish", "campaign migrate", "campaign retry",
    "campaign enqueue-batch", "campaign evaluate-batch", "campaign re-extract", "campaign achieve-goal", "source add",
    "source rm", "source fetch", "import", "enrich", "company new", "company open", "company tag", "company untag",
    "company exclude", "company edit", "company merge", "company split", "company restore", "person new",
    "person open", "person rm", "note add", "note edit", "note rm", "meeting add", "meeting rm", "web deploy",
    "suppress add", "suppress rm", "suppress import", "forget", "worker", "supervisor", "deploy hosts",
    "deploy hotfix", "deploy rollback", "deploy stop", "deploy remove", "cluster evict", "cluster admit",
    "remote send", "sync push", "sync pull", "sync both", "sync resolve", "backup create", "backup restore",
    "backup prune", "infra deploy", "infra user add", "infra user rm", "queue put", "queue release", "queue recover",
    "queue purge", "sync needed", "campaign plan",
    "queue sideline", "index compact", "index consolidate", "index backfill", "index migrate", "index gc",
    "index repair", "index purge", "documents save", "documents rm", "documents restore", "documents purge",
    "documents replay", "documents seed", "documents promote", "documents token", "documents revoke",
    "documents release", "documents recrawl", "documents subscribe", "documents unsubscribe",
    "store put", "store rm", "config set",
    "config unset", "config edit",
}  # fmt: skip
"""They change something, and say what. All that any command says passes the list on its way to the terminal."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TownHome]:
    """A campaign in which everybody is known, pages and all, and a list that names some of them."""
    made = TownHome(tmp_path_factory.mktemp("left-alone"))
    made.data.mkdir()
    with open_workspace(made.environ, Flags()) as workspace:
        new_campaign(workspace, NAME_OF, ["plumber"])
        indexes = campaign_indexes(workspace, NAME_OF)
        prospects = indexes.open(indexes.ref("prospects"))
        for some in _prospects():
            IndexWriter(prospects).append(some)
            Compactor(prospects).compact()
        fresh: dict[str, list[Any]] = {"changes": _changes(), "standings": _standings(), "rolls": [_roll()]}
        for name, records in fresh.items():
            IndexWriter(indexes.open(indexes.ref(name))).append(records)
            Compactor(indexes.open(indexes.ref(name))).compact()
        emails = indexes.open(indexes.ref("emails"))
        IndexWriter(emails).append([_email(ADDRESS), _email(f"boss@{DOMAIN}"), _email("info@plumb.example")])
        Compactor(emails).compact()
    before = dict(os.environ)
    os.environ.update(made.environ)
    os.environ.pop("CAMPAIGN_NAME", None)
    try:
        for words in _planted():
            assert said(*words)[0] == 0, words
        yield made
    finally:
        os.environ.clear()
        os.environ.update(before)


def _prospects() -> list[list[Any]]:
    jo = StaffMember(name="Quiet Jo", email=ADDRESS, phone="(217) 555-0177")
    found = {"city": "Springfield", "lat": 39.8, "lon": -89.6, "country": "US"}
    plumb = {
        "primary_email": ADDRESS,
        "all_emails": (ADDRESS, "info@plumb.example"),
        "phone": "(217) 555-0177",
        **found,
    }
    return [
        [a_prospect("plumb.example", name="Plumb", slug="plumb", phone_e164=NUMBER, people=(jo,), **plumb),
         a_prospect(DOMAIN, name="Tacit Pipes", slug="tacit", street="1 Reticent Lane", **found)],
        [a_prospect("bolt.example", name="Bolt", slug="bolt", primary_email="info@bolt.example", **found),
         a_prospect("map.example", name="Tacit Pipes", slug="on-a-map", place_id=PLACE,
                    company_hash=company_hash(PLACE), **found),
         a_prospect("named.example", name=NAME, slug="named", street="2 Reticent Lane", **found)],
    ]  # fmt: skip


def _changes() -> list[BusinessChange]:
    """What changed of everybody: of some only the hash tells that they are left alone."""
    rows = [row for some in _prospects() for row in some]
    told: list[tuple[str, ChangeKind, str, str]] = [
        ("Plumb", "email", ADDRESS, "info@plumb.example"), ("Plumb", "phone", "217 555 0177", "+12175550199"),
        ("Bolt", "email", "old@bolt.example", "info@bolt.example"),
    ]  # fmt: skip
    told += [(name, "moved", "3 Reticent Lane", "1 Elm") for name in ("Tacit Pipes", NAME)]
    found = datetime.now(UTC)
    return [
        BusinessChange(
            change_id=f"{number:08x}{row.company_hash[:8]}", campaign=NAME_OF, company_hash=row.company_hash, name=name,
            kind=kind, before=before, after=after, found_at=found,
        )
        for number, (name, kind, before, after) in enumerate(told)
        for row in rows
        if row.name == name
    ]  # fmt: skip


def _standings() -> list[BusinessStanding]:
    return [
        BusinessStanding(
            company_hash=row.company_hash, campaign=NAME_OF, taken_at=NOON, state="listed", name=row.name,
            street=row.street, phone=row.phone, email=row.primary_email, changed_at=NOON, changes=("email",),
        )
        for some in _prospects()
        for row in some
    ]  # fmt: skip


def _roll() -> TileRoll:
    places = dict.fromkeys((PLACE, "overture:1"), ListedPlace(first=NOON, last=NOON))
    return TileRoll(tile=Tile.parse("39.8", "-89.6"), phrase="plumber", source="google-maps", campaign=NAME_OF,
                    read_at=NOON, places=places)  # fmt: skip


def _email(address: str) -> EmailEntry:
    return EmailEntry(email=address, domain=address.rpartition("@")[2], first_seen=NOON, last_seen=NOON)


def _planted() -> list[tuple[str, ...]]:
    page = Path(os.environ["COCLI_DATA_HOME"]).parent / "page.html"
    page.write_text(f"<a href='mailto:{ADDRESS}'>Jo</a> <p>(217) 555-0177 {DOMAIN} {PLACE}</p>")
    return [
        ("company", "refresh", *_PLUMB),
        ("note", "add", "plumb", f"Called {ADDRESS} at 217 555 0177", *_PLUMB),
        ("person", "new", "Quiet Jo", "--company", "plumb", "--email", ADDRESS),
        ("queue", "put", "enrichment", DOMAIN, *_PLUMB),
        ("documents", "save", str(page), "--doc", "page", *_PLUMB),
        ("suppress", "add", ADDRESS, NUMBER, DOMAIN, PLACE),
        ("suppress", "add", NAME, "--kind", "name"),
    ]


def said(*words: str) -> tuple[int, bytes]:
    """Exit code and all that a command writes."""
    before = sys.stdin, sys.stdout, sys.stderr
    out, err = io.BytesIO(), io.BytesIO()
    sys.stdin = io.TextIOWrapper(io.BytesIO())
    sys.stdout, sys.stderr = io.TextIOWrapper(out, "utf-8"), io.TextIOWrapper(err, "utf-8")
    try:
        code = main(list(words))
        sys.stdout.flush()
        sys.stderr.flush()
        return code, out.getvalue() + b"\n" + err.getvalue()
    finally:
        sys.stdin, sys.stdout, sys.stderr = before


def hidden_in(data: bytes, tmp_path: Path) -> list[tuple[str, str]]:
    folder = tmp_path / "output"
    folder.mkdir(exist_ok=True)
    (folder / "file").write_bytes(data)
    return residue([folder], HIDDEN)


OTHERWISE: dict[str, tuple[str, ...]] = {
    "a blob": ("documents", "get", "page", "--blob", "body", *_PLUMB),
    "a company that is hidden": ("company", "show", "tacit", *_PLUMB),
    "why one that is hidden": ("why", "tacit", *_PLUMB),
    "by a name that is hidden": ("find", "tacit", *_PLUMB, "--json"),
    "what it would read": ("company", "refresh", *_PLUMB, "--dry-run", "--json"),
    "a plan of work": ("queue", "recover", "enrichment", *_PLUMB, "--dry-run"),
    "a worker": ("worker", "enrichment", *_PLUMB, "--once"),
    "a table as CSV": ("index", "query", "SELECT * FROM emails", *_PLUMB, "--format", "csv"),
    "records of an index": ("index", "get", "emails", ADDRESS, *_PLUMB),
}
"""Commands that are tried already, with words that make them say something else; each with its whole log."""


@pytest.mark.parametrize("what", sorted(OTHERWISE))
def test_no_output_and_no_log_shows_them(
    home: TownHome, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COCLI_LOG", "debug")
    monkeypatch.setenv("COCLI_LOG_FORMAT", "json" if len(what) % 2 else "text")
    words = OTHERWISE[what]
    _, shown = said(*words)
    assert shown.strip()
    told = [needle for _, needle in hidden_in(shown, tmp_path)]
    assert [needle for needle in told if needle not in " ".join(words).lower()] == []


def every_command() -> set[str]:
    """All that a person can type, whoever wrote it and whenever: also under older names."""
    found = set[str]()
    for path, command, _ in commands(hidden=True):
        default = getattr(command, "default_verb", None)  # `cocli web` is `cocli web serve`
        if default or not hasattr(command, "list_commands"):
            found.add(f"{path.removeprefix('cocli ')} {default or ''}".strip())
    return found


def test_every_command_is_tried_here_or_said_to_show_nothing() -> None:
    kinds = [set(COMMANDS), ABOUT_FILES, SAY_NOTHING, SERVE, WRITE]
    known = set[str]().union(*kinds)
    assert every_command() - known == set(), "a new command: try it in COMMANDS, or say here that it shows nobody"
    assert known - every_command() == set(), "these are no commands any more"
    assert sum(map(len, kinds)) == len(known), "each in one place"
    reading = {name for name in every_command() if not writes(name)}
    assert not reading & WRITE - {"run", "worker", "supervisor", "cluster evict", "cluster admit", *_CONFIG}


@pytest.mark.parametrize("name", index_names())
def test_no_index_shows_them(home: TownHome, name: str, tmp_path: Path) -> None:
    view = name.replace("-", "_")
    for words in ((f"SELECT * FROM {view}",), (f"SELECT * FROM {view}", "--json")):
        code, shown = said("index", "query", *words, *_PLUMB)
        assert code == 0, shown
        assert hidden_in(shown, tmp_path) == []


def test_no_watch_tells_of_them(home: TownHome, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("a long secret of the watch", "utf-8")
    with receiver(200) as (url, got):
        hook = f'webhook = "{url}", secret_file = "{tmp_path / "secret"}"'
        watches = f"watch=[{{name = 'all', digest = true, fields = {list(_TOLD)}, {hook}}}]"
        with open_workspace(home.environ, Flags()) as workspace:
            edit_campaign(workspace, NAME_OF, [parse_change(watches), parse_change(_LOOPBACK)])
        assert said("campaign", "tell", NAME_OF)[0] == 0
    told = tmp_path / "told"
    shutil.copytree(home.data / "campaigns" / NAME_OF / "exports" / "watches", told / "files")
    (told / "call.json").write_bytes(b"".join(body for _, body in got))
    bolt = {name.rpartition(".")[2] for name, _ in residue([told], ["old@bolt.example"])}
    assert bolt == {"csv", "eml", "json"}, "Bolt is told of in all three"
    assert residue([told], HIDDEN) == []


@pytest.mark.parametrize("command", sorted(COMMANDS))
@pytest.mark.parametrize("form", ["text", "json"])
def test_no_command_shows_them(home: TownHome, command: str, form: str, tmp_path: Path) -> None:
    words = (*command.split(), *COMMANDS[command])
    code, shown = said(*words, *(["--json"] if form == "json" else []))
    assert code == 0 or command in NEED_MORE or words[0] == "export", "a file on stdout is no JSON document"
    told = [needle for _, needle in hidden_in(shown, tmp_path)]
    assert [needle for needle in told if needle not in " ".join(words).lower()] == []


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_no_export_has_them(home: TownHome, kind: str, tmp_path: Path) -> None:
    with open_workspace(home.environ, Flags()) as workspace:
        path = tmp_path / KINDS[kind].file
        report = export_to_file(campaign_indexes(workspace, NAME_OF), ExportOptions(format=kind), str(path))
    assert report.rows == 2, "Plumb and Bolt are there, without what is hidden"
    assert residue([tmp_path], HIDDEN) == []


def test_no_publication_has_them(home: TownHome, tmp_path: Path) -> None:
    with open_workspace(home.environ, Flags()) as workspace:
        publish_campaign(workspace, NAME_OF, PublishOptions(str(tmp_path / "published")))
        site = DataSite(workspace, mode="static", campaigns=(NAME_OF,))
        published = PublishedSite(site, WebShell.installed(), Redaction.of(), pages=True)
        for made in published.files():
            path = tmp_path / "deployed" / made.file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(made.file.data)
    assert residue([tmp_path], HIDDEN) == []
    assert residue([tmp_path / "deployed"], ["info@bolt.example"]), "the others are there"


def test_no_data_file_and_no_answer_of_the_dashboard_has_them(home: TownHome, tmp_path: Path) -> None:
    from cocli.models.campaign import AuthSection, WebSection

    with (
        open_workspace(home.environ, Flags()) as workspace,
        serving_web(workspace, WebSettings(WebSection(port=0), AuthSection()), lambda _: None) as served,
    ):
        running = RunningWeb(served, home)
        site = served.application.site
        indexes = campaign_indexes(workspace, NAME_OF)
        names = [f"{NAME_OF}/prospects/{name}" for name in prospect_files(indexes).names()]
        hashes = [row.company_hash for some in _prospects() for row in some]
        paths = [f"/data/{path}" for path in (*site.paths(NAME_OF), *site.shared_paths(), *names)]
        paths += [f"/data/{NAME_OF}/why/{company}.json" for company in hashes]
        for route in served.application.routes():
            if route.method == "GET" and not route.is_async and "{path:path}" not in route.path:
                path = route.path.replace("{campaign}", NAME_OF)
                paths += [path.replace("{company_hash}", company) for company in hashes]
        answers = tmp_path / "answers"
        answers.mkdir()
        fine = 0
        with running.caller(Role.ADMIN) as caller:
            for number, path in enumerate(dict.fromkeys(paths)):
                answer = caller.get(path)
                fine += answer.status_code == 200
                (answers / f"{number}").write_bytes(path.encode() + b"\n" + answer.content)
        assert fine > 20
    assert [found for found in residue([answers], HIDDEN) if "its name" not in found[1]] == []


def test_no_tool_of_an_assistant_answers_with_them(home: TownHome, tmp_path: Path) -> None:
    import anyio

    given: dict[str, dict[str, Any]] = {
        "campaigns": {}, "company": {"company": "plumb.example"}, "why": {"company": "plumb.example"},
        "changes": {"since": 1},
    }  # fmt: skip

    async def answers(server: Any) -> list[str]:
        told = []
        for tool in READING:
            arguments = given.get(tool, {}) if tool == "campaigns" else {"campaign": NAME_OF, **given.get(tool, {})}
            told.append(str(await server.call_tool(tool, arguments)))
        return told

    with open_workspace(home.environ, Flags()) as workspace:
        server = make_server(DataSite(workspace))
        told = anyio.run(answers, server)
    assert len(told) == len(READING)
    assert any("bolt" in text.lower() for text in told)
    assert hidden_in("\n".join(told).encode(), tmp_path) == []


def test_no_program_reads_them_from_the_records(home: TownHome, tmp_path: Path) -> None:
    with cocli.open(str(home.data), environ=home.environ) as data:
        campaign = data.campaign(NAME_OF)
        rows = [
            *(row.model_dump(mode="json") for row in campaign.prospects()),
            *(row.model_dump(mode="json") for row in campaign.emails()),
            *campaign.query("SELECT * FROM prospects_all").rows(),
            *campaign.query("SELECT * FROM emails").rows(),
        ]
    told = json.dumps(rows, default=str)
    assert "info@bolt.example" in told
    assert hidden_in(told.encode(), tmp_path) == []


def test_what_is_taken_off_the_list_is_shown_again(home: TownHome, tmp_path: Path) -> None:
    assert said("suppress", "rm", ADDRESS)[0] == 0
    _, shown = said("company", "show", "plumb", *_PLUMB)
    assert ADDRESS in shown.decode()
    assert said("suppress", "add", ADDRESS)[0] == 0
    _, shown = said("company", "show", "plumb", *_PLUMB)
    assert ADDRESS not in shown.decode()
