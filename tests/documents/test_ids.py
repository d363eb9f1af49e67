"""The identity of a document, byte for byte that of the system that this follows."""

from __future__ import annotations

import hashlib
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocli.documents.ids import MAX_DOC_BYTES, MAX_PART_BYTES, node_uuid
from cocli.errors import IdentityError
from cocli.keys.identities import datasource_id

PART = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="|\0"), min_size=1, max_size=40).filter(
    lambda text: text.strip() != ""
)


@pytest.mark.parametrize(
    ("doc", "address", "account", "expected"),
    [
        ("doc-abc", "datasource789", "account123", "a3526da5-c3be-344c-82be-e341d1a7eb75"),
        ("doc-abc", "parser", "account123", "72217190-0e91-3bc8-a109-4f7751b67269"),
        ("doc-abc", "chunker", "account123", "1787f00e-bdf6-3cec-8011-c17aec3ec998"),
        ("dóc-ü", "ds", "acct", "66a1a3bc-8cef-3c95-bf8e-1c7e8d73baa1"),
    ],
)
def test_the_uuid_vectors(doc: str, address: str, account: str, expected: str) -> None:
    assert node_uuid(doc, address, account) == expected


def test_the_datasource_vectors() -> None:
    assert datasource_id("account123", "s3") == "ac546a934bd55ed4"
    assert datasource_id("account123", "connector456") == "9a6fbd55f7df4b88"


def test_a_pipe_would_let_two_identities_share_a_uuid_and_is_refused() -> None:
    """The other system does not escape it: both of these have the uuid 12be336f-e4f9-34d2-9811-450c1787fd91 there."""
    one, other = (uuid.UUID(bytes=hashlib.md5(text.encode()).digest(), version=3) for text in ("a|b|c|x", "a|b|c|x"))
    assert str(one) == str(other) == "12be336f-e4f9-34d2-9811-450c1787fd91"
    for parts in (("a|b", "c", "x"), ("a", "b|c", "x"), ("a", "b", "c|x")):
        with pytest.raises(IdentityError, match="run into each other"):
            node_uuid(*parts)


@pytest.mark.parametrize("blank", ["", " ", "\t\n", "\u00a0"])
@pytest.mark.parametrize("position", range(3))
def test_blank_parts_are_refused(blank: str, position: int) -> None:
    parts = ["doc", "address", "account"]
    parts[position] = blank
    with pytest.raises(IdentityError, match="blank"):
        node_uuid(*parts)


@pytest.mark.parametrize(
    ("doc", "reason"),
    [("a\0b", "NUL"), ("\ud800", "surrogate"), ("x" * (MAX_DOC_BYTES + 1), "the most"), ("ü" * 1000, "2000 bytes")],
)
def test_what_no_key_or_row_could_hold_is_refused(doc: str, reason: str) -> None:
    with pytest.raises(IdentityError, match=reason):
        node_uuid(doc, "ds", "acct")
    with pytest.raises(IdentityError, match=f"the most is {MAX_PART_BYTES}"):
        node_uuid("doc", "n" * (MAX_PART_BYTES + 1), "acct")


def test_nothing_is_trimmed() -> None:
    assert node_uuid("doc ", "ds", "acct") != node_uuid("doc", "ds", "acct")


@given(st.tuples(PART, PART, PART), st.tuples(PART, PART, PART))
def test_different_parts_have_different_uuids(one: tuple[str, str, str], other: tuple[str, str, str]) -> None:
    first = node_uuid(*one)
    assert uuid.UUID(first).version == 3
    assert (first == node_uuid(*other)) == (one == other)
