"""Tags: put where the person's list is, in the way that they write it, and nothing else is touched."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cocli.errors import FormatError, UsageError
from cocli.formats import markdown
from cocli.models.company import Company
from cocli.results.companies.tags import check_tag, with_tag, without_tag

CASES = {
    "flow": ("---\ntags: [ 'a',  b ]  # me\nname: X\n---\nb\n", "---\ntags: [ 'a',  b, vip ]  # me\nname: X\n---\nb\n"),
    "empty flow": ("---\ntags: []\n---\n", "---\ntags: [vip]\n---\n"),
    "block": ("---\ntags:\n  - a # 1\n  - b\nname: X\n---\n", "---\ntags:\n  - a # 1\n  - b\n  - vip\nname: X\n---\n"),
    "flush block": ("---\ntags:\n- a\n---\n", "---\ntags:\n- a\n- vip\n---\n"),
    "nothing": ("---\ntags:   # none yet\nname: X\n---\n", "---\ntags: [vip]   # none yet\nname: X\n---\n"),
    "scalar": ("---\ntags: customer\n---\n", "---\ntags: [customer, vip]\n---\n"),
    "no key": ("---\n# top\nname: X\n---\nbody", "---\n# top\nname: X\ntags: [vip]\n---\nbody"),
    "no front": ("just text\n", "---\ntags: [vip]\n---\njust text\n"),
    "crlf": ("---\r\ntags: [a]\r\n---\r\nbody\r\n", "---\r\ntags: [a, vip]\r\n---\r\nbody\r\n"),
    "crlf block": ("---\r\ntags:\r\n- a\r\n---\r\n", "---\r\ntags:\r\n- a\r\n- vip\r\n---\r\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_tag_goes_where_the_list_is(name: str) -> None:
    before, after = (text.encode() for text in CASES[name])
    assert with_tag(before, "vip", file="f") == after
    assert with_tag(after, "vip", file="f") == after


@pytest.mark.parametrize("name", [name for name in CASES if name not in ("nothing", "scalar", "no key", "no front")])
def test_taking_it_away_gives_the_file_back(name: str) -> None:
    before, after = (text.encode() for text in CASES[name])
    assert without_tag(after, "vip", file="f") == before


def test_the_first_and_the_only_one_can_go() -> None:
    assert without_tag(b"---\ntags: [vip, b]\n---\n", "vip", file="f") == b"---\ntags: [b]\n---\n"
    assert without_tag(b"---\ntags:\n- vip\nname: X\n---\n", "vip", file="f") == b"---\ntags: []\nname: X\n---\n"
    assert without_tag(b"---\ntags: vip\n---\n", "vip", file="f") == b"---\ntags: []\n---\n"
    assert without_tag(b"---\ntags: [vip, b, vip]\n---\n", "vip", file="f") == b"---\ntags: [b]\n---\n"


def test_what_cannot_be_changed_alone_is_left() -> None:
    anchored = b"---\ntags: &t [vip]\nmore: *t\n---\n"
    with pytest.raises(FormatError):
        with_tag(anchored, "new", file="f")
    with pytest.raises(FormatError):
        with_tag(b"---\ntags: !!python/object:os.system [x]\n---\n", "new", file="f")


words = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=20)


@settings(max_examples=60)
@given(
    st.lists(words, max_size=2), words | st.sampled_from(["True", "NULL", "no", "1e5", "1.5e3", "-", "2026-01-01", "~"])
)
def test_any_tag_survives(there: list[str], tag: str) -> None:
    try:
        tag = check_tag(tag)
    except UsageError:
        return
    data = b"---\nname: X # keep\n---\nbody --- \n"
    for one in there:
        try:
            data = with_tag(data, check_tag(one), file="f")
        except UsageError:
            continue
    after = with_tag(data, tag, file="f")
    assert tag in markdown.read(Company, after).tags
    assert after.endswith(b"---\nbody --- \n")
    assert after.startswith(b"---\nname: X # keep\n")
    assert tag not in markdown.read(Company, without_tag(after, tag, file="f")).tags


@pytest.mark.parametrize("tag", ["", "  ", "a,b", "a\nb", "\x1b[31m", "x" * 101])
def test_what_is_no_tag(tag: str) -> None:
    with pytest.raises(UsageError):
        check_tag(tag)
