"""Markdown: what a person wrote stays byte for byte, whatever a program writes under its own key."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocli.errors import FormatError, RecordError
from cocli.formats import markdown
from cocli.formats.markdown import MarkdownFile
from cocli.models.company import Company, CompanyFacts
from cocli.models.note import Meeting, Note, NoteFacts
from cocli.models.person import Person, PersonFacts

NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
FACTS = CompanyFacts(company_hash="0" * 16, domain="acme.com", emails=("info@acme.com",), updated_at=NOON)
plain_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(min_value=-(2**63), max_value=2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
names = st.from_regex(r"[a-z][a-z_]{0,8}", fullmatch=True).filter(lambda name: name not in ("null", "true", "false"))
programs = st.dictionaries(names, plain_values, max_size=5)

WRITTEN = """---
# my best customer — do not touch
name:   "Acme   Roofing"   # as on the door
tags: [ 'vip',   roofers ]
phone: +1 (310) 555-0100
zip: 02134
country: NO
owner:
    name: O'Reilly
    since: 2019-05-01
notes: |
  line one
  ---
  line two

? odd key
: odd value
---
# Acme

Text with --- and

---

cocli: this is not front matter
"""
FILES = [
    WRITTEN,
    WRITTEN.replace("\n", "\r\n"),
    "\ufeff" + WRITTEN,
    WRITTEN.rstrip("\n"),
    WRITTEN.replace("tags:", "cocli:\n  company_hash: x\n  # by hand\n\n# above the tags\ntags:"),
    WRITTEN.replace("tags:", "cocli: {a: 1,\n  b: 2}   # braces\ntags:"),
    WRITTEN.replace("tags:", '"cocli":\n- 1\ntags:').replace("- 1", "  a: |\n    text\n\n    more"),
    WRITTEN.replace("tags:", "cocli:\ntags:"),
    "---\n---\n",
    "---\n---",
    "---\n# only a comment\n...\nbody",
    "",
    "no front matter",
    "\r\nno front matter",
    "-----\nnot a header\n---\n",
    "# title\n\n---\nname: not front matter\n---\n",
]


def without_program(document: MarkdownFile) -> list[str]:
    """The lines that are a person's, found without the help of the code under test."""
    lines = document.front_text.splitlines(keepends=True)
    kept, ours = [], False
    for line in lines:
        if not line.startswith((" ", "\r", "\n", "#")):
            ours = line.startswith(("cocli:", '"cocli":'))
        if not ours:
            kept.append(line)
    return kept


@pytest.mark.parametrize("text", FILES)
def test_reading_and_writing_changes_nothing(text: str) -> None:
    assert MarkdownFile.parse(text.encode()).render() == text.encode()


@pytest.mark.parametrize("text", FILES)
def test_a_program_changes_its_own_lines_only(text: str) -> None:
    before = MarkdownFile.parse(text.encode())
    after = MarkdownFile.parse(markdown.update(text.encode(), FACTS))
    assert after.body == before.body
    assert after.bom == before.bom
    assert without_program(after) == without_program(before)
    assert {name: value for name, value in after.front.items() if name != "cocli"} == {
        name: value for name, value in before.front.items() if name != "cocli"
    }
    assert after.program == FACTS.model_dump(mode="json", exclude_none=True)
    assert markdown.update(after.render(), FACTS) == after.render()


@pytest.mark.parametrize("text", FILES)
def test_adding_and_taking_away_gives_the_file_back(text: str) -> None:
    if "cocli" in MarkdownFile.parse(text.encode()).front:
        return
    removed = MarkdownFile.parse(markdown.update(markdown.update(text.encode(), FACTS), None))
    expected = MarkdownFile.parse(text.encode())
    assert (removed.front_text, removed.body, removed.bom) == (expected.front_text, expected.body, expected.bom)


@pytest.mark.parametrize("text", FILES)
def test_a_thousand_random_updates_leave_the_rest_byte_for_byte(text: str) -> None:
    chance = random.Random(text)
    data = text.encode()
    original = MarkdownFile.parse(data)
    for _ in range(1000 // len(FILES) + 1):
        values = {
            f"key_{n}": chance.choice(["---", "a: b", "# no", 'x"', "\n---\n", 5, [], {"a": "\\"}]) for n in range(3)
        }
        document = MarkdownFile.parse(data).with_program(values)
        data = document.render()
        again = MarkdownFile.parse(data)
        assert again.program == values
        assert again.body == original.body
        assert without_program(again) == without_program(original)


@given(st.sampled_from(FILES), programs)
def test_every_value_survives(text: str, values: dict[str, Any]) -> None:
    data = MarkdownFile.parse(text.encode()).with_program(values).render()
    assert MarkdownFile.parse(data).program == values


bodies = st.text(alphabet=st.characters(exclude_categories=["Cs"]))


@given(bodies, programs)
def test_every_body_survives(body: str, values: dict[str, Any]) -> None:
    data = f"---\nname: x\n---\n{body}".encode()
    document = MarkdownFile.parse(MarkdownFile.parse(data).with_program(values).render())
    assert document.body == body
    assert document.front["name"] == "x"


@given(bodies.filter(lambda body: not body.startswith(("---", "\ufeff"))))
def test_every_file_without_front_matter_survives(body: str) -> None:
    document = MarkdownFile.parse(markdown.update(body.encode(), FACTS))
    assert document.body == body


def test_the_new_lines_look_like_this() -> None:
    assert markdown.update(b"---\nname: Acme\n---\nbody\n", FACTS).decode() == (
        "---\nname: Acme\n"
        'cocli:\n  company_hash: "0000000000000000"\n  domain: "acme.com"\n  emails: ["info@acme.com"]\n'
        '  categories: []\n  campaigns: []\n  updated_at: "2026-11-15T12:00:00Z"\n'
        "---\nbody\n"
    )


def test_the_line_ends_of_the_file_are_kept() -> None:
    data = markdown.update(b"---\r\nname: Acme\r\n---\r\nbody", FACTS)
    assert data.count(b"\n") == data.count(b"\r\n")


def test_a_company_as_a_record() -> None:
    company = markdown.read(Company, markdown.update(WRITTEN.encode(), FACTS))
    assert company.name == "Acme   Roofing"
    assert company.tags == ("vip", "roofers")
    assert company.phone == "+1 (310) 555-0100"
    assert company.cocli == FACTS
    written: dict[str, Any] = dict(company.extras)
    assert (written["country"], written["zip"]) == ("NO", "02134")
    assert written["owner"] == {"name": "O'Reilly", "since": date(2019, 5, 1)}


def test_numbers_that_people_mean_as_text_stay_text() -> None:
    company = markdown.read(Company, b"---\nphone: +13105550100\nname: 0123\nstatus: yes\n---\n")
    assert (company.phone, company.name, company.status) == ("+13105550100", "0123", "yes")
    company = markdown.read(Company, b"---\nphone: 3105550100\nname: 2026-11-15\nstatus: true\ntags: vip\n---\n")
    assert (company.phone, company.name, company.status) == ("3105550100", "2026-11-15", "true")
    assert company.tags == ("vip",)
    assert markdown.read(Company, b"---\ntags:\n---\n").tags == ()


def test_people_notes_and_meetings() -> None:
    person = PersonFacts(emails=("a@b.de",), updated_at=NOON)
    assert markdown.read(Person, markdown.update(b"---\nrole: owner\n---\n", person)).cocli == person
    note = NoteFacts(source="call", created_at=NOON)
    data = markdown.update(b"---\ndate: 2026-11-15\ntitle: First call\n---\nhello", note)
    assert markdown.read(Note, data).date == date(2026, 11, 15)
    meeting = markdown.read(Meeting, b"---\ndate: next week\nattendees: [Ann, Bo]\n---\n")
    assert (meeting.date, meeting.attendees) == ("next week", ("Ann", "Bo"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("---key: val\n---\n", "on a line of its own"),
        ("--- key: val\n---\n", "on a line of its own"),
        ("---\nname: x\n", "not closed"),
        ("---\nname: !!python/object:os.system x\n---\n", "!!python/object:os.system in line 1 is refused"),
        ("---\nname: !!python/object/apply:os.system ['true']\n---\n", "is refused"),
        ("---\nname: !custom x\n---\n", "is refused"),
        ("---\nname: [\n---\n", "not YAML"),
        ("---\nname: 'x\n---\n", "not YAML"),
        ("---\n\tname: x\n---\n", "not YAML"),
        ("---\nname: *nowhere\n---\n", "not YAML"),
        ("---\n- a\n- b\n---\n", "has no keys"),
        ("---\njust text\n---\n", "has no keys"),
        ("---\na: " + "[" * 5000 + "\n---\n", "not YAML"),
        ("---\n[a]: b\n---\n", "not YAML"),
        ("---\nname: \x07\n---\n", "not YAML"),
    ],
)
def test_broken_front_matter_is_a_format_error(text: str, reason: str) -> None:
    with pytest.raises(FormatError) as caught:
        markdown.update(text.encode(), FACTS, file="_index.md")
    assert reason in caught.value.message
    assert caught.value.message.startswith("_index.md, line ")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("---\n{name: x}\n---\n", "in braces"),
        ("---\ncocli: {a: 1}\nname: x\ncocli: {b: 1}\n---\n", "occurs twice"),
        ("---\ncocli: &mine {a: 1}\nname: *mine\n---\n", "not YAML"),
    ],
)
def test_what_cannot_be_updated_safely_is_left_alone(text: str, reason: str) -> None:
    with pytest.raises(FormatError, match=reason):
        markdown.update(text.encode(), FACTS)


def test_a_program_key_that_is_no_map_is_named() -> None:
    document = MarkdownFile.parse(b"---\ncocli: text\n---\n")
    with pytest.raises(FormatError, match="expected keys below it"):
        _ = document.program


def test_what_does_not_fit_the_model_is_named() -> None:
    with pytest.raises(FormatError, match=r"cocli\.company/1: cocli\.company_hash: Field required"):
        markdown.read(Company, b"---\ncocli: {}\n---\n")


def test_bytes_that_are_no_text_are_named_with_their_line() -> None:
    with pytest.raises(FormatError, match="line 2: not UTF-8"):
        MarkdownFile.parse(b"a\n\xff")


def test_surrogates_are_refused() -> None:
    with pytest.raises((RecordError, FormatError)):
        MarkdownFile.parse(b"").with_program({"a": "\ud800"}).render()
