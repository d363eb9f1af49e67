"""What is looked for before a pattern finds exactly what the pattern finds."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from cocli.pipeline.websites.facts import address_lines
from cocli.pipeline.websites.facts.address_lines import forms
from cocli.pipeline.websites.facts.emails import spoken
from cocli.pipeline.websites.facts.phones import phones
from cocli.pipeline.websites.page import walk
from cocli.pipeline.websites.page.digits import groups_of_digits, rows_of_digits
from cocli.pipeline.websites.page.page import Page

PIECES = (
    *(
        "12",
        "345",
        "99999",
        "8001-A",
        "+49",
        "(0)30",
        "CA",
        "CA,",
        "DE-",
        "SW1A",
        "1AA",
        "SK",
        "-",
        " ",
        "  ",
        "\n",
        ".",
    ),
    *("٣٤٥", "９", "½", "é", "–", "·", "x 5", "ext", "tel", "@", "/", "Tel:", "Ab", "\ud800", "😀"),
)
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=30).map("".join)


@given(texts)
def test_rows_of_digits_are_those_of_the_pattern(text: str) -> None:
    assert rows_of_digits(text) == [match.span() for match in re.finditer(r"\d+", text)]


@given(texts)
def test_groups_hold_every_run_that_has_digits_enough(text: str) -> None:
    found = [match.span() for match in phones._runs(Page(text=text))]
    every = [match for match in phones._RUN.finditer(text) if len(re.findall(r"\d", match[0])) >= 4]
    assert set(found) >= {match.span() for match in every}
    assert set(found) <= {match.span() for match in phones._RUN.finditer(text)}
    assert found == sorted(found)


def test_a_group_begins_with_the_signs_before_it_and_ends_with_its_last_digit() -> None:
    text = "call (030) 12 34, or 5 x 6789"
    groups = list(groups_of_digits(text, rows_of_digits(text), " ()", 4))
    assert [text[start:end] for start, end in groups] == [" (030) 12 34", " 6789"]


@given(region=st.sampled_from(sorted(code for code, form in forms().items() if form.postcode)), text=texts)
def test_postcodes_are_those_of_the_pattern(region: str, text: str) -> None:
    form = forms()[region]
    assert form.postcode is not None
    found = [match.span() for match in address_lines._postcodes(text, rows_of_digits(text), form)]
    assert found == [match.span() for match in form.postcode.finditer(text)]


VANITY = ("1-800-", "(555) ", "555.", "FLOWERS", "GO-FAST", "1 (800)", "222-333-", "x", " ", "4", "\n", "ABC1")


@given(st.lists(st.sampled_from(VANITY), max_size=12).map("".join))
def test_vanity_numbers_are_those_of_the_pattern(text: str) -> None:
    found = [match.span() for match in phones._vanities(Page(text=text))]
    assert found == [match.span() for match in phones._VANITY.finditer(text)]


@given(st.lists(st.sampled_from(("a", "b\xa0", " ", "\n", "\t", "\u2003", "\x85", "é")), max_size=12).map("".join))
def test_white_space_becomes_blanks_as_by_the_pattern(text: str) -> None:
    assert walk._with_blanks(text) == walk._SPACE.sub(" ", text)


SPOKEN = (
    *("info", "firm.de", " at ", " AT ", "[at]", "(AT)", "{{ at }}", "_at_", "|at|", "# at #", "-at-", "/at/", "&#64;"),
    *("&commat;", " arroba ", " Małpa ", " СОБАКА ", "<a>", "*", "'at'", "“at”", "İ", "ß", "at", " ", "\n"),
)


@given(st.lists(st.sampled_from(SPOKEN), max_size=20).map("".join))
def test_spoken_signs_are_those_of_the_pattern(text: str) -> None:
    found = [match.span() for match in spoken._signs(text, text.lower())]
    assert found == [match.span() for match in spoken._AT.finditer(text)]
