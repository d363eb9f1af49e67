"""`cocli backup` as a person uses it: snapshots, versions, damage, and getting back what was lost."""

from __future__ import annotations

import os
import re
import shutil
import stat
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs" / "backup.md"


def files(folder: Path) -> dict[str, bytes]:
    """What a backup takes: neither the store's own files, nor how many tasks there are, which is counted anew."""
    found = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in found.items() if "#" not in name and "/count/" not in name}


@pytest.fixture
def backup(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COCLI_BACKUP", str(home / "backup"))
    return home / "backup"


def test_everything_comes_back_and_is_found(plumbers: Any, write_prospects: Any, home: Path, backup: Path) -> None:
    """A campaign with prospects, tasks and pages, on a machine that has never seen it: no catalogue, no cache."""
    write_prospects("acme.example", "beta.example")
    assert plumbers("index", "compact", "-c", "plumbers").code == 0
    assert plumbers("queue", "put", "gm-list", "a", "-c", "plumbers").code == 0
    assert plumbers("documents", "save", "-", "--doc", "page", "-c", "plumbers", stdin=b"<p>hello").code == 0
    assert plumbers("company", "new", "Acme").code == 0
    made = plumbers("backup", "create", "--json")
    assert made.code == 0, made.err
    assert made.json["snapshot"]["objects"] == len(files(home / "data"))
    assert stat.S_IMODE(os.stat(backup).st_mode) == 0o700

    assert plumbers("backup", "restore", "--to", str(home / "new")).code == 0
    assert files(home / "new") == files(home / "data")
    assert stat.S_IMODE(os.stat(home / "new").st_mode) == 0o700
    shutil.rmtree(home / "data")
    for place in (".cache", ".local"):
        shutil.rmtree(home / place, ignore_errors=True)
    os.rename(home / "new", home / "data")
    assert plumbers("index", "check", "-c", "plumbers").code == 0
    assert plumbers("documents", "fsck", "-c", "plumbers").code == 0
    pages = plumbers("documents", "ls", "-c", "plumbers", "--json").json
    assert ([row["doc"] for row in pages["states"]], pages["unseen"]) == (["page"], 0)
    queues = plumbers("queue", "status", "-c", "plumbers", "--json").json["queues"]
    assert {queue["queue"]: queue["pending"] for queue in queues}["gm-list"] == 1
    assert [row["slug"] for row in plumbers("company", "ls", "--json").json["companies"]] == ["acme"]


def test_time_travel_for_one_page(plumbers: Any, home: Path, backup: Path) -> None:
    page = home / "data" / "people" / "jo-doe.md"
    assert plumbers("person", "new", "Jo Doe").code == 0
    was = page.read_bytes()
    first = plumbers("backup", "create").out.strip()
    page.write_text("by mistake")
    second = plumbers("backup", "create").out.strip()
    versions = plumbers("backup", "ls", "people/jo-doe.md", "--json").json["versions"]
    assert [version["snapshot"] for version in versions] == [first, second]
    restore = ("backup", "restore", first, "--to", str(home / "data"), "--only", "people/jo-doe.md")
    refused = plumbers(*restore, "--json")
    assert (refused.code, refused.error["code"]) == (5, "restore_refused")
    planned = plumbers(*restore, "--dry-run", "--json").json
    assert (planned["different"], planned["missing"]) == (["people/jo-doe.md"], 0)
    assert page.read_text() == "by mistake"
    assert plumbers(*restore, "--overwrite").code == 0
    assert page.read_bytes() == was
    assert plumbers("backup", "ls", "people/nobody.md").code == 4
    held = plumbers("backup", "ls", "people/", "--snapshot", "latest", "--json").json["entries"]
    assert [entry["key"] for entry in held] == ["people/jo-doe.md"]


def test_one_campaign(plumbers: Any, home: Path, backup: Path) -> None:
    assert plumbers("campaign", "new", "bakers", "--query", "baker", "--location", "Springfield, IL").code == 0
    assert plumbers("backup", "create").code == 0
    assert plumbers("backup", "restore", "--only", "campaigns/bakers/", "--to", str(home / "new")).code == 0
    assert list(files(home / "new")) == ["campaigns/bakers/config.toml"]


def test_damage_is_named_and_the_rest_comes_back(plumbers: Any, home: Path, backup: Path) -> None:
    assert plumbers("company", "new", "Acme").code == 0
    assert plumbers("backup", "create").code == 0
    assert plumbers("company", "new", "Beta").code == 0
    assert plumbers("backup", "create").code == 0
    assert plumbers("backup", "verify").code == 0
    (lost,) = [path for path in (backup / "packs").rglob("*") if path.is_file() and path.stat().st_size < 100]
    lost.unlink()
    for words in (("verify",), ("verify", "--quick")):
        found = plumbers("backup", *words, "--json")
        assert found.code == 8
        (damage,) = found.json["damage"]
        assert damage["object"] == str(lost.relative_to(backup))
        assert damage["keys"] == ["companies/beta/_index.md"]
    shown = plumbers("backup", "verify")
    assert "lost: companies/beta/_index.md" in shown.out
    refused = plumbers("backup", "restore", "--to", str(home / "new"))
    assert refused.code == 8
    assert str(lost.relative_to(backup)) in refused.err
    assert files(home / "new") == {}
    rest = plumbers("backup", "restore", "--to", str(home / "new"), "--keep-going", "--json")
    assert rest.code == 8
    assert files(home / "data").keys() - files(home / "new").keys() == {"companies/beta/_index.md"}
    assert rest.json["damage"][0]["keys"] == ["companies/beta/_index.md"]


def test_prune_asks_and_waits(plumbers: Any, backup: Path) -> None:
    for _ in range(3):
        assert plumbers("backup", "create").code == 0
    assert plumbers("backup", "prune").code == 2
    assert "--yes" in plumbers("backup", "prune", "--keep-last", "1").err
    before = files(backup)
    planned = plumbers("backup", "prune", "--keep-last", "1", "--dry-run", "--json").json
    assert (len(planned["kept"]), len(planned["forgotten"])) == (1, 2)
    assert files(backup) == before
    waited = plumbers("backup", "prune", "--keep-last", "1", "--yes", "--json").json
    assert (waited["removed"]["objects"], waited["condemned"]["objects"]) == (0, 2)
    gone = plumbers("backup", "prune", "--keep-last", "1", "--grace-hours", "0", "--yes", "--json").json
    assert gone["removed"]["objects"] == 2
    assert len(plumbers("backup", "ls", "--json").json["snapshots"]) == 1
    assert plumbers("backup", "verify").code == 0


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("create", "-b", "{home}/data/backup"), 5, "lie in each other"),
        (("create", "-b", "{home}"), 5, "lie in each other"),
        (("create", "-b", "{home}/no/where"), 2, "mkdir -p"),
        (("create", "-b", ""), 2, "COCLI_BACKUP"),
        (("ls", "-b", "{home}/nothing"), 4, "cocli backup create"),
        (("restore", "-b", "{home}/nothing", "--to", "{home}/x"), 4, "There is no backup"),
    ],
)
def test_places_that_are_refused(words: tuple[str, ...], code: int, said: str, plumbers: Any, home: Path) -> None:
    before = sorted(os.listdir(home))
    result = plumbers("backup", *(word.format(home=home) for word in words))
    assert (result.code, said in result.err) == (code, True), result.err
    assert sorted(os.listdir(home)) == before
    assert not (home / "data" / "backup").exists()


def test_the_commands_of_the_page(plumbers: Any, home: Path, backup: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/backup.md, from top to bottom: every line of its first block is run."""
    monkeypatch.chdir(home)
    assert plumbers("company", "new", "Acme").code == 0
    block = re.search(r"```sh\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)
    assert block is not None
    lines = [line.partition("  #")[0].strip() for line in block[1].splitlines()]
    ran = 0
    for line in lines:
        if not line.startswith("cocli "):
            continue
        words = line.replace("/srv/backup", str(backup)).split()[1:]
        result = plumbers(*words)
        assert result.code == 0, f"{line}: {result.err}"
        ran += 1
    assert ran >= 6
    assert files(home / "restored") == files(home / "data")
