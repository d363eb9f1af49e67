"""Precision, recall and F1 of a way to find contacts, over a folder of pages whose contacts are known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from benchmarks.contacts.peers import Found
from benchmarks.contacts.truth import KINDS, Labelled

Finder = Callable[[Labelled, bytes], Found]


@dataclass(slots=True)
class Tally:
    right: int = 0
    missed: int = 0
    wrong: int = 0
    junk: int = 0
    """Those of the wrong ones that the truth names as what must not be found."""

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        return self.right / (self.right + self.missed) if self.right + self.missed else 1.0

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


@dataclass(slots=True)
class Score:
    tallies: dict[str, Tally] = field(default_factory=lambda: {kind: Tally() for kind in KINDS})
    forms: Counter[str] = field(default_factory=Counter)
    """Pages per form on which everything was found."""
    forms_total: Counter[str] = field(default_factory=Counter)
    negatives_total: int = 0
    negatives_reported: int = 0
    """Pages on which something was offered as the company's that is not."""
    slips: list[str] = field(default_factory=list)
    """What went wrong, in words, without the addresses of real pages unless asked for."""

    @property
    def forms_recovered(self) -> float:
        total = sum(self.forms_total.values())
        return sum(self.forms.values()) / total if total else 1.0


def score(pages: Iterable[Labelled], find: Finder, *, name_values: bool = False) -> Score:
    """Score one way to find contacts. A page that is not there is an error, not a miss."""
    result = Score()
    for page in pages:
        found = find(page, page.path.read_bytes())
        for kind in KINDS:
            _tally(result, page, kind, found, name_values)
        _form(result, page, found)
    return result


def _tally(result: Score, page: Labelled, kind: str, found: Found, name_values: bool) -> None:
    expected, values = page.expected[kind], found.values[kind]
    missed = expected.must - values
    wrong = values - expected.must - expected.may - expected.others
    tally = result.tallies[kind]
    tally.right += len(expected.must & values)
    tally.missed += len(missed)
    tally.wrong += len(wrong)
    tally.junk += len(values & expected.reject)
    for what, some in (("missed", missed), ("wrong", wrong)):
        if some:
            names = ", ".join(sorted(some)) if name_values else str(len(some))
            result.slips.append(f"{page.path.name}: {kind} {what}: {names}")


def _form(result: Score, page: Labelled, found: Found) -> None:
    expected = page.expected["emails"]
    if page.negative:
        result.negatives_total += 1
        not_theirs = expected.reject | expected.others
        result.negatives_reported += bool(found.offered & not_theirs or found.values["emails"] & expected.reject)
    elif page.form:
        result.forms_total[page.form] += 1
        result.forms[page.form] += expected.must <= found.values["emails"]
