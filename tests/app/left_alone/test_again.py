"""A restore brings back who was forgotten: `forget --again` removes them once more, by the proofs alone."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from cocli.app.documents.care import DocumentsCheck, fsck
from cocli.app.documents.documents import opened_documents
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.workspace import open_workspace
from cocli.cli.main import main
from cocli.config.resolve import Flags
from cocli.demo.town.campaign import TownHome
from cocli.index.care.verification import verify
from tests.app.left_alone.conftest import ADDRESS, CAMPAIGN, DOMAIN
from tests.app.left_alone.test_forget import INDEXES, left, records


@pytest.fixture
def typed(home: TownHome, monkeypatch: pytest.MonkeyPatch) -> TownHome:
    for name, value in home.environ.items():
        monkeypatch.setenv(name, value)
    return home


def cocli(*words: str) -> tuple[int, str]:
    before = sys.stdin, sys.stdout, sys.stderr
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    sys.stdin, sys.stdout, sys.stderr = io.TextIOWrapper(io.BytesIO()), out, out
    try:
        code = main(list(words))
        out.flush()
        return code, out.buffer.getvalue().decode()
    finally:
        sys.stdin, sys.stdout, sys.stderr = before


@pytest.mark.parametrize("subject", [ADDRESS, DOMAIN])
def test_after_a_restore_they_are_forgotten_again(typed: TownHome, subject: str, tmp_path: Path) -> None:
    backup = str(tmp_path / "backup")
    assert cocli("backup", "create", "--backup", backup)[0] == 0
    assert cocli("forget", subject, "--notes", "--yes")[0] == 0
    assert left(typed, subject) == []
    kept = records(typed, old_versions=False)
    code, shown = cocli("backup", "restore", "--to", str(typed.data), "--backup", backup, "--overwrite")
    assert code == 0, shown
    assert left(typed, subject), "the restore brought them back"
    code, shown = cocli("forget", "--again")
    assert (code, "1 were looked for again" in shown) == (0, True), shown
    assert left(typed, subject) == []
    assert records(typed, old_versions=False) == kept
    with open_workspace(typed.environ, Flags()) as workspace:
        indexes = campaign_indexes(workspace, CAMPAIGN)
        assert all(verify(indexes.open_whole(indexes.ref(name))).ok for name in INDEXES)
        with opened_documents(workspace, CAMPAIGN) as documents:
            assert not fsck(documents, DocumentsCheck()).findings
