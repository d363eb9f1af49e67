"""Pages that are brought together: nothing that a person wrote is lost, whatever is merged, refreshed or killed."""

from __future__ import annotations

import itertools
import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cocli.errors import FormatError
from cocli.keys.identities import company_hash
from cocli.models.campaign import ExcludeSection
from cocli.models.prospect import Prospect
from cocli.pipeline.exclusions import Exclusions
from cocli.results.companies.entries import notes
from cocli.results.companies.pages import CompanyPage, file_of, find_pages, load_pages, page_of
from cocli.results.companies.refresh import Refresher
from cocli.results.companies.union import unite
from cocli.store.memory import MemoryStore
from cocli.store.wrapper import WrappedStore

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
NOBODY = Exclusions.of(ExcludeSection())
NUMBERS = itertools.count(1)


def prospect(number: int, **values: Any) -> Prospect:
    given: dict[str, Any] = {
        "company_hash": company_hash(f"domain:c{number}.example"),
        "slug": f"c{number}",
        "name": f"Company {number}",
        "campaign": "plumbers",
        "first_seen": NOON,
        "updated_at": NOON,
    }
    return Prospect(**(given | values))


def page(store: Any, slug: str) -> CompanyPage:
    found = page_of(store, slug)
    assert found is not None
    return found


def refresh(store: Any, *prospects: Prospect) -> None:
    refresher = Refresher(store)
    refresher.refresh(lambda: iter(prospects), NOBODY, "plumbers")
    assert refresher.report.problems == []


def words(chooser: random.Random) -> tuple[str, str]:
    """A word that is written nowhere else, and how it stands in a page."""
    word = f"w{next(NUMBERS)}w"
    shape = chooser.choice(
        [
            "body",
            "body\n",
            "# comment",
            "status: {}",
            "name: {} Inc",
            "tags: [a, {}]",
            "tags:\n  - {}\n  - b",
            "mine: {{a: [{}, 2]}}",
            "when: 2026-11-01  # {}",
            "phone: '{}'",
            "k{}: 1",
            "email: >-\n  {}\n  more",
        ]
    )
    return word, shape


def written_into(data: bytes, chooser: random.Random) -> tuple[bytes, list[str]]:
    """The page with something more of a person's, as an editor would save it."""
    text, said = data.decode(), []
    for _ in range(chooser.randint(0, 3)):
        word, shape = words(chooser)
        if shape.startswith("body"):
            text += f"{word} --- cocli: x ```{shape[4:]}"
        elif shape.startswith("#"):
            text = text.replace("---\n", f"---\n# {word}\n", 1)
        else:
            line = shape.format(word)
            key = line.partition(":")[0]
            if f"\n{key}:" in f"\n{text}":
                continue
            text = text.replace("---\n", f"---\n{line}\n", 1)
        said.append(word)
    return text.encode(), said


def everything(store: Any) -> str:
    return "".join(text_at(store, info.key) for info in store.list(""))


def text_at(store: Any, key: str) -> str:
    return str(store.get(key).data.decode("latin-1"))


def live_files(store: Any) -> dict[str, str]:
    """All but pointers, without the times at which notes were made: those are the machine's own."""
    texts = {info.key: text_at(store, info.key) for info in store.list("")}
    return {
        key: "\n".join(line for line in text.split("\n") if "created_at" not in line)
        for key, text in texts.items()
        if "ended_at" not in text
    }


@pytest.mark.parametrize("seed", range(8))
def test_no_word_is_lost_in_any_order_of_edits_merges_and_refreshes(seed: int) -> None:
    store, chooser = MemoryStore(), random.Random(seed)
    known = [prospect(number) for number in range(4)]
    refresh(store, *known)
    store.put("companies/mine/_index.md", b"---\nname: Mine\n---\n")
    said = ["Mine"]
    for step in range(25):
        pages = list(load_pages(store))
        action = chooser.choice(["edit", "edit", "note", "merge", "refresh", "point", "late"])
        if action == "edit":
            edited = chooser.choice(pages)
            data, more = written_into(edited.stored.data, chooser)
            store.put(edited.key, data)
            said += more
        elif action == "note":
            word = f"w{next(NUMBERS)}w"
            folder = chooser.choice(["notes", "meetings", "files"])
            name = chooser.choice(["a", "b"])  # the same names again and again
            store.put(f"companies/{chooser.choice(pages).slug}/{folder}/{name}{step}.md", word.encode())
            said.append(word)
        elif action == "merge" and len(pages) > 2:
            kept, gone = chooser.sample(pages, 2)
            unite(store, kept, gone, at=NOON)
            assert page(store, gone.slug).slug == kept.slug
        elif action == "point":
            number = chooser.randrange(4)
            into = known[chooser.randrange(4)].company_hash
            if into != known[number].company_hash:
                known[number] = known[number].with_changes(merged_into=into)
        elif action == "late" and (gone_page := file_of(store, f"c{chooser.randrange(4)}")) is not None:
            word = f"w{next(NUMBERS)}w"  # a sync may bring what somebody wrote into a page that has gone
            store.put(gone_page.key, gone_page.stored.data + f"{word}\n".encode())
            said.append(word)
        later = NOON + timedelta(minutes=step)
        refresh(store, *(found.with_changes(updated_at=later, rating=None) for found in known))
        text = everything(store)
        missing = [word for word in said if word not in text]
        assert missing == [], (seed, step, action)
    hashes = [company for found in load_pages(store) for company in found.hashes]
    assert len(set(hashes)) == len(hashes)  # one company, one page


class Killed(WrappedStore):
    """A store behind which the power goes off after some writes."""

    def __init__(self, inner: MemoryStore, writes: int) -> None:
        super().__init__(inner)
        self.writes = writes

    def _spend(self) -> None:
        if not self.writes:
            raise KeyboardInterrupt
        self.writes -= 1

    def put(self, key: str, data: bytes, *, if_absent: bool = False, if_match: str | None = None) -> str:
        self._spend()
        return super().put(key, data, if_absent=if_absent, if_match=if_match)

    def delete(self, key: str, *, if_match: str | None = None) -> None:
        self._spend()
        super().delete(key, if_match=if_match)


def two_pages() -> MemoryStore:
    store = MemoryStore()
    refresh(store, prospect(1), prospect(2))
    store.put("companies/c1/_index.md", store.get("companies/c1/_index.md").data + b"text of one\n")
    two = store.get("companies/c2/_index.md").data.replace(b"---\n", b"---\nstatus: called\n", 1)
    store.put("companies/c2/_index.md", two + b"text of two\n")
    store.put("companies/c1/notes/a.md", b"note of one")
    store.put("companies/c2/notes/a.md", b"note of two")
    store.put("companies/c2/photo.jpg", b"\xff\xd8")
    return store


def test_a_union_that_was_killed_anywhere_is_finished_by_the_next_refresh() -> None:
    moved = prospect(2, merged_into=prospect(1).company_hash)
    whole = two_pages()
    refresh(whole, prospect(1), moved)
    expected = live_files(whole)
    for writes in range(12):
        store = two_pages()
        try:
            refresh(Killed(store, writes), prospect(1), moved)
        except KeyboardInterrupt:
            for text in (b"text of one", b"text of two", b"note of one", b"note of two", b"status: called"):
                assert any(text in store.get(info.key).data for info in store.list("")), writes
        refresh(store, prospect(1), moved)
        assert live_files(store) == expected, writes
        assert "text of two" in everything(store)


def test_a_union_keeps_both_and_leaves_a_pointer() -> None:
    store = two_pages()
    kept, gone = page(store, "c1"), page(store, "c2")
    done = unite(store, kept, gone, at=NOON)
    assert (done.kept, done.gone, done.files) == ("c1", "c2", 2)
    found = page(store, "c2")
    assert found.slug == "c1"
    assert found.company is not None
    assert found.company.status == "called"
    assert found.facts is not None
    assert found.facts.formerly == ("c2",)
    assert set(found.hashes) == {prospect(1).company_hash, prospect(2).company_hash}
    assert found.body.endswith("text of one\n")
    texts = {entry.name: entry.body for entry in notes(store, "c1")}
    assert texts["a"] == "note of one"
    assert texts["a-2"] == "note of two"
    assert any("text of two" in text for text in texts.values())
    assert store.get("companies/c1/photo.jpg").data == b"\xff\xd8"
    assert [info.key for info in store.list("companies/c2/")] == ["companies/c2/_index.md"]
    assert [match.slug for match in find_pages(store, prospect(2).company_hash)] == ["c1"]


def test_a_page_that_cannot_be_read_is_not_touched() -> None:
    store = two_pages()
    broken = b"---\ntags: [x\n---\n"
    store.put("companies/c2/_index.md", broken)
    kept, gone = page(store, "c1"), page(store, "c2")
    before = {info.key: store.get(info.key).data for info in store.list("")}
    with pytest.raises(FormatError):
        unite(store, kept, gone, at=NOON)
    assert {info.key: store.get(info.key).data for info in store.list("")} == before


class Interrupted(WrappedStore):
    """A store in which a person saves the page that goes, just before the program replaces it."""

    edits = 2

    def put(self, key: str, data: bytes, *, if_absent: bool = False, if_match: str | None = None) -> str:
        if key == "companies/c2/_index.md" and self.edits:
            self.edits -= 1
            super().put(key, super().get(key).data + f"saved {self.edits}\n".encode())
        return super().put(key, data, if_absent=if_absent, if_match=if_match)


def test_what_is_saved_meanwhile_comes_along() -> None:
    store = two_pages()
    kept, gone = page(store, "c1"), page(store, "c2")
    unite(Interrupted(store), kept, gone, at=NOON)
    text = everything(store)
    assert "saved 0" in text
    assert "saved 1" in text
