"""A person's text in a company's page survives whatever the program does to its own part, byte for byte."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from tests.kit.effort import effort

from cocli.errors import Conflict
from cocli.models.campaign import ExcludeSection
from cocli.models.prospect import Prospect
from cocli.pipeline.exclusions import Exclusions
from cocli.results.companies.refresh import Refresher
from cocli.store.memory import MemoryStore
from cocli.store.wrapper import WrappedStore

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
HASH = "00112233445566ff"
KEY = "companies/acme/_index.md"
NOBODY = Exclusions.of(ExcludeSection())
HOSTILE = [
    "\x1b]0;owned\x07",
    "=cmd|' /C calc'!A0",
    "<script>alert(1)</script>",
    "!!python/object:os.system",
    "---",
    "\u202e",
]
SNIPPETS = [
    "met them",
    "--- not a rule",
    "cocli: not yours",
    "é 💈",
    "\t tab",
    "| a | b |",
    "```\ncode\n```",
    "",
    "#tag",
]


def prospect(number: int, chooser: random.Random, name: str | None = None) -> Prospect:
    return Prospect(
        company_hash=HASH,
        slug="acme",
        name=name or chooser.choice(["Acme", "Acme Ltd", *HOSTILE]),
        domain=chooser.choice([None, "acme.example", "acme.test"]),
        phone_e164=chooser.choice([None, "+12175550100", "+498912345"]),
        primary_email=chooser.choice([None, "info@acme.example"]),
        all_emails=tuple(chooser.sample(["a@b.example", "c@d.example", "e@f.example"], chooser.randint(0, 3))),
        campaign="plumbers",
        first_seen=NOON,
        updated_at=NOON + timedelta(seconds=number),
    )


def refresh(store: MemoryStore | WrappedStore, *prospects: Prospect) -> Refresher:
    refresher = Refresher(store)
    refresher.refresh(lambda: iter(prospects), NOBODY, "plumbers")
    return refresher


def without_program(data: bytes) -> bytes:
    """The file without the lines of `cocli:`, found without the help of the code under test."""
    kept: list[bytes] = []
    ours = in_front = False
    for number, line in enumerate(data.splitlines(keepends=True)):
        if line.rstrip() == b"---" and (number == 0 or in_front):
            in_front, ours = number == 0, False
        elif in_front and not line.startswith((b" ", b"#", b"\r", b"\n")):
            ours = line.startswith(b"cocli:")
        if not (in_front and ours and not line.startswith(b"#")):
            kept.append(line)
    return b"".join(kept)


def edit_body(text: str, chooser: random.Random) -> str:
    return f"{text}{chooser.choice(SNIPPETS)}\n"


def edit_above(text: str, chooser: random.Random) -> str:
    """A key or a comment at the top of the front matter."""
    line = chooser.choice(["# mine\n", f"k{chooser.randint(0, 10**9)}: {chooser.randint(0, 99)}   # why\n"])
    return text.replace("---\n", f"---\n{line}", 1)


def edit_below(text: str, chooser: random.Random) -> str:
    """A key right below the program's lines, where they could be taken for one of them."""
    head, closing, rest = text.partition("\n---\n")
    return f"{head}\nz{chooser.randint(0, 10**9)}: [ 'odd',   spacing ]{closing}{rest}"


def forget(text: str, chooser: random.Random) -> str:
    """Older lines go: a file that only grew would be all that is tested."""
    kept = [
        line
        for line in text.splitlines(keepends=True)
        if not line.startswith(("#", "k", "z")) or chooser.random() < 0.1
    ]
    return "".join(kept)


EDITS: list[Callable[[str, random.Random], str]] = [edit_body, edit_above, edit_below, forget, forget]


UPDATES = effort(300)


def test_hundreds_of_updates_leave_a_persons_text_as_it_is() -> None:
    store, chooser = MemoryStore(), random.Random(20261116)
    refresh(store, prospect(0, chooser))
    written = 0
    for number in range(1, UPDATES + 1):
        before = store.get(KEY).data
        if chooser.random() < 0.4:
            edited = chooser.choice(EDITS)(before.decode(), chooser).encode()
            store.put(KEY, edited)
            before = edited
        report = refresh(store, prospect(number, chooser)).report
        assert report.problems == []
        after = store.get(KEY).data
        assert without_program(after) == without_program(before), number
        written += report.changed
    assert written > UPDATES / 2  # the program did have something to write
    assert b"\ncocli: not yours\n" in store.get(KEY).data
    assert [info.key for info in store.list("companies/")] == [KEY]


class Interrupted(WrappedStore):
    """A store in which a person saves the file just before the program does."""

    def __init__(self, inner: MemoryStore, edits: int) -> None:
        super().__init__(inner)
        self.edits = edits

    def put(self, key: str, data: bytes, *, if_absent: bool = False, if_match: str | None = None) -> str:
        if if_match is not None and self.edits:
            self.edits -= 1
            there = super().get(key).data
            super().put(key, there + f"saved meanwhile {self.edits}\n".encode())
        return super().put(key, data, if_absent=if_absent, if_match=if_match)


def test_an_edit_made_meanwhile_is_not_lost() -> None:
    store, chooser = MemoryStore(), random.Random(1)
    refresh(store, prospect(0, chooser, "Acme"))
    report = refresh(Interrupted(store, 3), prospect(1, chooser, "Acme Two")).report
    assert report.changed == 1
    text = store.get(KEY).data.decode()
    assert "Acme Two" in text
    assert all(f"saved meanwhile {number}\n" in text for number in range(3))


def test_who_never_gets_through_says_so_and_loses_nothing() -> None:
    store, chooser = MemoryStore(), random.Random(1)
    refresh(store, prospect(0, chooser, "Acme"))
    with pytest.raises(Conflict):
        refresh(Interrupted(store, 10_000), prospect(1, chooser, "Acme Two"))
    assert b"Acme Two" not in store.get(KEY).data
    assert b"saved meanwhile" in store.get(KEY).data


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_data(name: str) -> None:
    store = MemoryStore()
    refresh(store, prospect(0, random.Random(1), name))
    (info,) = store.list("companies/")
    assert info.key == KEY
    page = next(iter(Refresher(store)._pages.values()))
    assert page.facts is not None
    assert page.facts.name == name
    assert page.stored.data.count(b"\n---\n") == 1
