"""Forgetting: nothing is left, wherever it is cut off, nothing else changed, and every copy does the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cocli.app.documents.care import DocumentsCheck, fsck
from cocli.app.documents.documents import opened_documents
from cocli.app.freshness.changes import read_changes
from cocli.app.freshness.watches import tell_watches
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.left_alone.access import as_html, as_json, subject_access
from cocli.app.left_alone.captures import REDACTED
from cocli.app.left_alone.forget import ForgetOptions, forget, plan
from cocli.app.left_alone.proofs import read_proofs
from cocli.app.left_alone.suppress import SubjectOptions, check, subjects_of
from cocli.app.sync import open_sync
from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags
from cocli.demo.town.campaign import TownHome
from cocli.errors import UsageError
from cocli.index.care.verification import verify
from cocli.index.reader import open_reader
from cocli.index.versions import history
from cocli.store import open_store
from cocli.sync.decision import SyncOptions
from cocli.sync.pair import Direction
from tests.app.left_alone.conftest import ADDRESS, BUSINESS, CAMPAIGN, DOMAIN, LISTED_ID, PERSON
from tests.kit.crashing import CrashPoint
from tests.kit.effort import effort
from tests.kit.faulty_store import Crashed
from tests.kit.residue import residue

NOTES = ForgetOptions(SubjectOptions(), notes=True)
INDEXES = ("prospects", "emails", "domains", "changes", "standings", "rolls")
SUBJECTS = {ADDRESS: PERSON, DOMAIN: BUSINESS}
STRIDE = max(1, 15 // effort(1))


def forgotten(home: TownHome, subject: str, options: ForgetOptions = NOTES, point: CrashPoint | None = None) -> Any:
    with open_workspace(home.environ, Flags()) as workspace:
        if point is not None:
            store = workspace.store
            workspace._stores[str(workspace.settings.store.value)] = point.store(store)
        return forget(workspace, subject, options)


def left(home: TownHome, subject: str) -> list[tuple[str, str]]:
    return residue([home.data, home.folder / "cache", home.folder / "state"], SUBJECTS[subject])


def records(home: TownHome, *, old_versions: bool = True) -> dict[str, Any]:
    found: dict[str, Any] = {}
    with open_workspace(home.environ, Flags()) as workspace:
        indexes = campaign_indexes(workspace, CAMPAIGN)
        for name in INDEXES:
            index = indexes.open_whole(indexes.ref(name))
            for manifest in [None, *(history(index) if old_versions else ())]:
                number = manifest.version if manifest else None
                reader = open_reader(index, number=number, fresh=manifest is None)
                for row in reader.scan():
                    found[f"{name} {number} {index.spec.key_of(row)}"] = row.model_dump(mode="json")
    return found


@pytest.mark.parametrize("subject", sorted(SUBJECTS))
def test_nothing_is_left_and_nothing_else_changed(home: TownHome, subject: str) -> None:
    assert left(home, subject), "there was something to forget"
    before = records(home)
    done = forgotten(home, subject)
    assert left(home, subject) == []
    after = records(home)
    theirs = {key for key, row in before.items() if any(word in str(row) for word in SUBJECTS[subject])}
    assert theirs
    assert {key: row for key, row in before.items() if key not in theirs} == {
        key: row for key, row in after.items() if key not in theirs
    }
    assert done.sweep.objects, "there is a proof"
    with open_workspace(home.environ, Flags()) as workspace:
        assert check(workspace, subjects_of(workspace, subject, SubjectOptions()))
        assert [proof.finished_at is not None for proof in read_proofs(workspace.store)] == [True]
        indexes = campaign_indexes(workspace, CAMPAIGN)
        for name in INDEXES:
            assert verify(indexes.open_whole(indexes.ref(name))).ok
        with opened_documents(workspace, CAMPAIGN) as documents:
            assert not fsck(documents, DocumentsCheck()).findings


def test_a_person_is_taken_out_of_a_page_and_the_rest_can_be_read(home: TownHome) -> None:
    forgotten(home, ADDRESS)
    with open_workspace(home.environ, Flags()) as workspace, opened_documents(workspace, CAMPAIGN) as documents:
        rows = {row.doc: row for row in documents.repository.documents(documents.account).items}
        page = documents.repository.get(
            documents.account, rows["https://www.plumb.example/contact"].reference, blobs=True
        )
        assert b"info@plumb.example" in page.blobs["body"].content
        assert REDACTED in page.source.headers
        cloaked = documents.repository.get(
            documents.account, rows["https://www.plumb.example/team"].reference, blobs=True
        )
        assert cloaked.blobs["body"].content == b"", "whoever reads the page reads the address: nothing of it is kept"
    plumb = next(row for key, row in records(home).items() if key.startswith("prospects None") and "plumb" in str(row))
    assert plumb["all_emails"] == ["info@plumb.example"]
    assert plumb["people"] == []


@pytest.mark.parametrize("subject", sorted(SUBJECTS))
def test_cut_off_anywhere_the_same_command_ends_in_the_same_state(home: TownHome, subject: str) -> None:
    number, cuts = 1, 0
    while True:
        point = CrashPoint(number)
        try:
            forgotten(home, subject, point=point)
        except Crashed:
            cuts += 1
            number = point.number + STRIDE  # some steps further than where the last one ended
            continue
        break
    assert cuts > 5
    assert left(home, subject) == []


def test_what_was_told_of_others_stays_told(home: TownHome) -> None:
    """Changes, standings and rolls lose who is forgotten; a watch tells nobody a second time."""
    forgotten(home, DOMAIN)
    with open_workspace(home.environ, Flags()) as workspace:
        changes = read_changes(campaign_indexes(workspace, CAMPAIGN)).changes
        assert {told.change.name for told in changes} == {"Plumb", "Bolt"}
        told = [(report.new, report.problem) for report in tell_watches(workspace, CAMPAIGN)]
        assert told == [(0, None), (0, None)]
        store = workspace.campaign(CAMPAIGN).store
        tables = [store.get(f"campaigns/{CAMPAIGN}/exports/watches/{name}.csv").data for name in ("all", "names")]
    assert [table.count(b"Bolt") for table in tables] == [1, 1]
    assert [table.count(b"\r\n") for table in tables] == [3, 3], "the heading, and both others"
    (roll,) = [row for key, row in records(home, old_versions=False).items() if key.startswith("rolls ")]
    assert list(roll["places"]) == ["overture:7a7a7a7a"]


def test_a_plan_changes_nothing_and_names_what_people_wrote(home: TownHome) -> None:
    note = home.data / "companies" / "plumb" / "notes" / "call.md"
    note.parent.mkdir(parents=True)
    note.write_text(f"Talk to {ADDRESS}, and to the plumber.\n")
    before = {path: path.read_bytes() for path in home.data.rglob("*") if path.is_file()}
    with open_workspace(home.environ, Flags()) as workspace:
        planned = plan(workspace, ADDRESS, ForgetOptions(SubjectOptions()))
    assert planned.sweep.written == ["companies/plumb/notes/call.md"]
    assert planned.sweep.counts["record", "removed"]
    assert {path: path.read_bytes() for path in home.data.rglob("*") if path.is_file()} == before
    with pytest.raises(UsageError, match="What you wrote"):
        forgotten(home, ADDRESS, ForgetOptions(SubjectOptions()))
    assert {path: path.read_bytes() for path in home.data.rglob("*") if path.is_file()} == before
    forgotten(home, ADDRESS, ForgetOptions(SubjectOptions(), keep_notes=True))
    assert ADDRESS in note.read_text()
    forgotten(home, ADDRESS)
    assert note.read_text() == "Talk to [removed], and to the plumber.\n"
    assert left(home, ADDRESS) == []


def test_what_others_have_too_stays(home: TownHome) -> None:
    with open_workspace(home.environ, Flags()) as workspace:
        indexes = campaign_indexes(workspace, CAMPAIGN)
        from cocli.index.writer import IndexWriter
        from tests.app.left_alone.conftest import a_business

        branch = a_business("other.example", "Other", phone_e164="+12175550188")
        IndexWriter(indexes.open(indexes.ref("prospects"))).append([branch])
        planned = plan(workspace, DOMAIN, NOTES)
    assert planned.identity.shared == ["+12175550188"]
    forgotten(home, DOMAIN)
    assert any("+12175550188" in str(row) for row in records(home).values())


def test_it_does_not_come_back_by_the_next_reading(home: TownHome) -> None:
    from tests.app.left_alone.conftest import _captures, _records

    forgotten(home, ADDRESS)
    with open_workspace(home.environ, Flags()) as workspace:
        _records(workspace)
        _captures(workspace)
    assert residue([home.data], [ADDRESS]) == []


@pytest.mark.parametrize("subject", sorted(SUBJECTS))
def test_every_synced_copy_forgets(home: TownHome, tmp_path: Path, subject: str) -> None:
    laptop, desktop, bucket = home, TownHome(tmp_path / "desktop"), tmp_path / "bucket"
    bucket.mkdir()
    desktop.data.mkdir(parents=True)

    def synced(home: TownHome) -> None:
        with (
            open_workspace(home.environ, Flags(store=str(bucket))) as workspace,
            open_sync(workspace, CAMPAIGN) as sync,
        ):
            report = sync.run(SyncOptions(Direction.BOTH))
        assert not report.failed
        assert not report.conflicts

    synced(laptop)
    synced(desktop)
    assert left(desktop, subject)
    forgotten(laptop, subject)
    assert residue([bucket], SUBJECTS[subject]) == [], "the bucket that is synced with forgets at once"
    synced(desktop)
    kept = [found for found in left(desktop, subject) if not (found[1] == LISTED_ID and "/rolls/shards/" in found[0])]
    assert kept == [], "but for the id of a place in a version of a roll, until the next gc of that machine"
    synced(laptop)
    assert residue([bucket], SUBJECTS[subject]) == []
    assert left(laptop, subject) == []
    for folder in ("uploads/", "suppressed/", "forgotten/"):
        here, there = ({info.key for info in open_store(str(home.data)).list(folder)} for home in (laptop, desktop))
        assert here == there
    assert records(laptop, old_versions=False) == records(desktop, old_versions=False)


def test_all_that_is_held_is_told_and_nothing_in_it_runs(home: TownHome) -> None:
    note = home.data / "companies" / "plumb" / "notes" / "call.md"
    note.parent.mkdir(parents=True)
    note.write_text(f"<script>alert(1)</script> {ADDRESS}\n")
    with open_workspace(home.environ, Flags()) as workspace:
        found = subject_access(workspace, ADDRESS, SubjectOptions())
    page = as_html(found)
    indexes = {(record.index, record.campaign) for record in found.records}
    assert indexes == {(name, CAMPAIGN) for name in ("prospects", "emails", "changes", "standings")}
    keys = " ".join(held.key for held in found.objects)
    assert "notes/call.md" in keys
    assert "plumb.example%2Fcontact" in keys
    assert "<script>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; quiet.jo@plumb.example" in page
    assert as_json(found)["subjects"] == [{"kind": "email", "value": ADDRESS}]
