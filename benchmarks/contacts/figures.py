"""How good answers are: precision and recall per kind, what is delivered, the primary, addresses, hours and people."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from benchmarks.contacts.answer import Answer
from benchmarks.contacts.scorer import Tally
from benchmarks.contacts.truth import Labelled, PostalTruth

Ask = Callable[[Labelled, bytes], Answer]


@dataclass(slots=True)
class Figures:
    """Counts over some pages. `found` leaves addresses of others out, `delivered` counts them as wrong."""

    pages: int = 0
    found: Tally = field(default_factory=Tally)
    delivered: Tally = field(default_factory=Tally)
    phones: Tally = field(default_factory=Tally)
    socials: Tally = field(default_factory=Tally)
    primary_right: int = 0
    primary_asked: int = 0
    addresses: Tally = field(default_factory=Tally)
    hours: Tally = field(default_factory=Tally)
    people: Tally = field(default_factory=Tally)
    judged: list[tuple[float, bool]] = field(default_factory=list)
    """Of every address that has a confidence: the confidence, and whether it is the firm's."""
    slips: list[str] = field(default_factory=list)

    @property
    def primary_accuracy(self) -> float:
        return self.primary_right / self.primary_asked if self.primary_asked else 1.0

    @property
    def junk(self) -> int:
        """Values that the truth names as what must not be found."""
        return self.found.junk + self.phones.junk + self.socials.junk


def figures_of(answers: Iterable[tuple[Labelled, Answer]]) -> Figures:
    total = Figures()
    for page, answer in answers:
        total.pages += 1
        _emails(total, page, answer)
        _plain(total, page, "phones", answer.phones)
        _plain(total, page, "socials", answer.socials)
        _primary(total, page, answer)
        _beside(total, page, answer)
    return total


def _note(total: Figures, page: Labelled, what: str, missed: Iterable[object], wrong: Iterable[object]) -> None:
    for name, values in (("missed", missed), ("wrong", wrong)):
        shown = ", ".join(sorted(map(str, values)))
        if shown:
            total.slips.append(f"{page.path.name}: {page.family}: {what} {name}: {shown}")


def _emails(total: Figures, page: Labelled, answer: Answer) -> None:
    expected = page.expected["emails"]
    neutral = expected.may | expected.others
    _count(total, page, "email found", total.found, expected.must, answer.found, neutral)
    total.found.junk += len(answer.found & expected.reject)
    _count(total, page, "email delivered", total.delivered, expected.must, answer.delivered, expected.may)
    total.delivered.junk += len(answer.delivered & expected.reject)
    theirs = expected.must | expected.may
    total.judged += [(confidence, value in theirs) for value, confidence in answer.confidences.items()]


def _count(
    total: Figures,
    page: Labelled,
    what: str,
    tally: Tally,
    must: frozenset[str],
    values: frozenset[str],
    neutral: frozenset[str],
) -> None:
    missed, wrong = must - values, values - must - neutral
    tally.right += len(must & values)
    tally.missed += len(missed)
    tally.wrong += len(wrong)
    _note(total, page, what, missed, wrong)


def _plain(total: Figures, page: Labelled, kind: str, values: frozenset[str]) -> None:
    expected, tally = page.expected[kind], {"phones": total.phones, "socials": total.socials}[kind]
    _count(total, page, kind, tally, expected.must, values, expected.may | expected.others)
    strangers = values - expected.must - expected.may - expected.others
    tally.junk += sum(any(_is_reject(kind, value, reject) for reject in expected.reject) for value in strangers)


def _is_reject(kind: str, value: str, reject: str) -> bool:
    """A number that must not be found is one in whatever country it is read."""
    if kind != "phones":
        return value == reject
    digits = re.sub(r"\D", "", reject)
    return bool(digits) and re.sub(r"\D", "", value).endswith(digits.lstrip("0") or digits)


def _primary(total: Figures, page: Labelled, answer: Answer) -> None:
    """Where a page has an address of the firm, it is one of the right ones; where it has none, there is none."""
    expected = page.expected["emails"]
    right = page.primary or expected.must
    if not right and not (expected.others | expected.reject | expected.may):
        return
    total.primary_asked += 1
    good = answer.primary in right if right else answer.primary is None or answer.primary in expected.may
    total.primary_right += good
    if not good:
        total.slips.append(f"{page.path.name}: {page.family}: primary: {answer.primary} for {sorted(right)}")


def _beside(total: Figures, page: Labelled, answer: Answer) -> None:
    missed = [place for place in page.addresses if not any(_is_place(place, text) for text in answer.addresses)]
    strangers = [text for text in answer.addresses if not any(_is_place(place, text) for place in page.addresses)]
    total.addresses.right += len(page.addresses) - len(missed)
    total.addresses.missed += len(missed)
    if page.says_addresses:
        total.addresses.wrong += len(strangers)
        _note(total, page, "address", (place.street for place in missed), strangers)
    if page.hours:
        _set(total, page, "hours", total.hours, page.hours, answer.hours)
    if page.people:
        _set(total, page, "people", total.people, page.people, answer.people)


def _set(
    total: Figures, page: Labelled, what: str, tally: Tally, must: frozenset[object], values: frozenset[object]
) -> None:
    tally.right += len(must & values)
    tally.missed += len(must - values)
    tally.wrong += len(values - must)
    _note(total, page, what, must - values, values - must)


def _is_place(place: PostalTruth, text: str) -> bool:
    """Street, and postcode or city, stand in the text."""
    shown = _folded(text)
    named = [_folded(part) for part in (place.postcode, place.city) if part]
    return _folded(place.street) in shown and any(part in shown for part in named)


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).casefold()
    return re.sub(r"[\W_]+", "", plain)


def grouped(answers: Sequence[tuple[Labelled, Answer]], key: Callable[[Labelled], str]) -> dict[str, Figures]:
    """The same per class or per language, in the order of their names."""
    groups: dict[str, list[tuple[Labelled, Answer]]] = {}
    for page, answer in answers:
        groups.setdefault(key(page), []).append((page, answer))
    return {name: figures_of(groups[name]) for name in sorted(groups)}
