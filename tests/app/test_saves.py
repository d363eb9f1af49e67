"""A person's save is never overwritten by a command that rewrites the same file in the same moment."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cocli.app.campaigns.campaign import new_campaign
from cocli.app.companies.companies import make_company
from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags
from cocli.keys.identities import company_hash
from cocli.models.company import CompanyFacts
from cocli.results.companies.drafts import new_company
from tests.kit.editors import SAVES
from tests.kit.effort import effort

REWRITER = Path(__file__).with_name("rewriter.py")
NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
SAVED, SAVED_QUICKLY = effort(30), effort(200)
PATIENCE = 30.0


def page(number: int) -> bytes:
    facts = CompanyFacts(
        company_hash=company_hash("domain:acme.example"), updated_at=datetime(2026, 11, 15, 12, tzinfo=UTC)
    )
    head = new_company(tags=("plumbers",), facts=facts)
    return head + b"\n" + mark(number) + b"\n" + b"What was said on the telephone.\n" * 60


def note(number: int) -> bytes:
    return b"---\ntitle: A talk\ndate: 2026-11-15\n---\n\n" + mark(number) + b"\n" + b"More was said.\n" * 60


def campaign(number: int) -> bytes:
    return b'[campaign]\nname = "plumbers"\n\n# ' + mark(number) + b"\n[fetch]\nrate = 2.0\n" + b"# why so\n" * 60


def user(number: int) -> bytes:
    return b"# " + mark(number) + b"\n[fetch]\nrate = 2.0\n" + b"# why so\n" * 60


def mark(number: int) -> bytes:
    return b"save %06d" % number


FILES = {
    "page": ("companies/acme/_index.md", page),
    "refresh": ("companies/acme/_index.md", page),
    "note": ("companies/acme/notes/2026-11-15-a-talk.md", note),
    "campaign": ("campaigns/plumbers/config.toml", campaign),
    "user": (".config/cocli/config.toml", user),
}


@contextmanager
def rewritten(what: str, home: Path) -> Iterator[None]:
    program = subprocess.Popen(
        [sys.executable, REWRITER, what, home], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert program.stdout
        assert program.stdout.readline() == "begun\n"
        yield
    finally:
        said, _ = program.communicate("", timeout=60)
    assert program.returncode == 0
    assert int(said) > 1


def is_kept(path: Path, wanted: bytes) -> bool:
    """The file, or a copy beside it, has the text. It may be away for the moment of an exchange."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        for file in (path, *path.parent.glob(f"{path.name}.saved-*")):
            try:
                if wanted in file.read_bytes():
                    return True
            except FileNotFoundError:
                continue
        time.sleep(0.001)
    return False


def wait_for_rewrite(path: Path, text: bytes) -> None:
    """Until a command has written to what was saved: then it is at work again, and the next save comes in between."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            if path.read_bytes() != text:
                return
        except FileNotFoundError:
            continue
        time.sleep(0.0005)
    raise AssertionError("nothing rewrites the file")


@pytest.mark.parametrize("what", FILES)
def test_no_save_is_lost_while_commands_rewrite_the_file(tmp_path: Path, what: str) -> None:
    name, text = FILES[what]
    path = tmp_path / name
    with open_workspace({"COCLI_DATA_HOME": str(tmp_path), "HOME": str(tmp_path)}, Flags()) as workspace:
        new_campaign(workspace, "plumbers")
        make_company(workspace.store, "acme", [], {})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text(0))
    rng = random.Random(17)
    with rewritten(what, tmp_path):
        for number in range(1, 1 + (SAVED_QUICKLY if what == "page" else SAVED)):
            manner = rng.choice(list(SAVES))
            SAVES[manner](path, text(number))
            time.sleep(rng.random() * 0.002)
            assert is_kept(path, mark(number)), f"save {number}, {manner}, was lost"
            wait_for_rewrite(path, text(number))
