"""Fuzzy matching: what matches is found, what does not is not, the telling matches come first, and it is quick."""

from __future__ import annotations

import random
import time

from hypothesis import given
from hypothesis import strategies as st

from cocli.app.search.ranking import ENOUGH, Lines, fold, score

words = st.text(alphabet="abcAé1 -", max_size=8)


def has_in_order(text: str, letters: str) -> bool:
    remaining = iter(text)
    return all(letter in remaining for letter in letters)


def matches(head: str, rest: str, query: str) -> bool:
    """What a match is, said plainly."""
    return all(
        term in f"{head} {rest}" or (not term.isdigit() and has_in_order(head, term)) for term in fold(query).split()
    )


@given(st.lists(st.tuples(words, words), max_size=30), words)
def test_every_line_that_matches_is_found_and_no_other(pairs: list[tuple[str, str]], query: str) -> None:
    folded = [(fold(head), fold(rest)) for head, rest in pairs]
    found, more = Lines(folded).best(query, 100)
    assert sorted(found) == [number for number, pair in enumerate(folded) if matches(*pair, query)]
    assert not more


@given(st.lists(st.tuples(words, words), max_size=30), words, st.integers(1, 5))
def test_fewer_are_the_best_of_all(pairs: list[tuple[str, str]], query: str, limit: int) -> None:
    lines = Lines([(fold(head), fold(rest)) for head, rest in pairs])
    everything, _ = lines.best(query, 100)
    some, more = lines.best(query, limit)
    assert (some, more) == (everything[:limit], len(everything) > limit)


def best(query: str, *heads: str) -> list[str]:
    found, _ = Lines([(fold(head), "") for head in heads]).best(query, 10)
    return [heads[number] for number in found]


def test_the_telling_matches_come_first() -> None:
    assert best("acme", "Big Acme Tools", "Acmeville Diner", "Acme", "Arc Metal Works") == [
        "Acme", "Big Acme Tools", "Acmeville Diner", "Arc Metal Works",
    ]  # fmt: skip
    assert best("plmb", "People, Lamps, Bulbs", "Acme Plumbing")[0] == "Acme Plumbing"
    assert best("ap", "Trap House", "Acme Plumbing", "Apex")[:2] == ["Apex", "Acme Plumbing"]
    assert best("acme 7", "Acme 17", "Acme 7", "Zeta 7") == ["Acme 7", "Acme 17"]
    assert best("cafe zoe", "Zoë’s Café", "Café Zeus Oe")[0] == "Zoë’s Café"


def test_a_number_and_letters_that_are_apart() -> None:
    assert sorted(best("A1 1", "A1", "A-1", "B-1")) == ["A-1", "A1"]


def test_letters_that_are_apart_in_the_name_and_a_word_in_the_rest() -> None:
    found, _ = Lines([("cece", "bolt"), ("cc top", "bolt"), ("cece", "nut")]).best("cc bolt", 10)
    assert sorted(found) == [0, 1]


def test_folding() -> None:
    assert fold("  Zoë’s\n Café\tGROẞE ﬁne ") == "zoe’s cafe grosse fine"


def test_scattered_digits_are_no_match() -> None:
    assert best("123", "1 Main St 2 3") == []
    assert best("123", "No 41234") == ["No 41234"]


def test_scores_are_comparable() -> None:
    assert (
        score("acme plumbing", "acme") > score("the acme", "acme") > score("xacme", "acme") > score("axcxmxe", "acme")
    )
    assert score("acme", "xyz") == 0


def test_a_hundred_thousand_lines_between_two_key_presses() -> None:
    draw = random.Random(7)
    names = [
        "plumbing",
        "services",
        "acme",
        "pipe",
        "drain",
        "heating",
        "north",
        "rapid",
        "rooter",
        "valley",
        "quality",
    ]
    lines = []
    for number in range(100_000):
        name = " ".join(draw.choices(names, k=3))
        lines.append(
            (f"{name} {number} springfield", f"{name.replace(' ', '-')}.example +1217555{number % 10_000:04d}")
        )
    searched = Lines(lines)
    slowest = 0.0
    for query in ("p", "pl", "plmb", "acme 77", "xqz", "drn rptr", "5551234", "plumbingservicesz", "north 12 spring"):
        started = time.process_time()
        found, _ = searched.best(query, 50)
        slowest = max(slowest, time.process_time() - started)
        assert len(found) <= max(ENOUGH, 50)
    assert slowest < 0.5, "ten times what it took when it was written"
