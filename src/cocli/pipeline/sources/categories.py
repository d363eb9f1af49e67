"""What a phrase means in the words of each source: a table that a person can edit.

`phrase,scheme,category` as CSV. The scheme is a source that reads files, or `same-as`, with another phrase in place of
the category. Tables lie in layers (a campaign's over a person's over the packaged one): for a phrase and a scheme the
uppermost table that has rows decides. A source that speaks like another one uses its rows unless it has its own.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Literal

from cocli.errors import FormatError
from cocli.pipeline.sources.phrase_words import meant_words, phrase_key, taken_key, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Schemes = Mapping[str, Sequence[str]]
    """Scheme → the schemes whose rows it uses, its own first."""

COLUMNS = ["phrase", "scheme", "category"]
_SAME_AS = "same-as"
_FOLLOWED = 8
"""How many phrases may point at each other in a row."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a phrase means to a source: its categories; or only its words, where the table does not know it."""

    phrase: str
    scheme: str
    by: Literal["categories", "words"]
    categories: tuple[str, ...] = ()
    words: frozenset[str] = frozenset()
    """What the name of a business without categories has to hold."""
    taken: str | None = None
    """The phrase of the table that was taken for it, where it is not in the table itself."""

    @property
    def digest(self) -> str:
        """Names what is looked for: two phrases, or one phrase of two tables, may look for the same."""
        told = [self.by, sorted(self.categories), sorted(self.words)]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class CategoryTable:
    """One file of categories."""

    rows: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    same: dict[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str, file: str, schemes: Iterable[str]) -> CategoryTable:
        known = (*schemes, _SAME_AS)
        reader = csv.reader(io.StringIO(text))
        header = [name.strip().lower() for name in next(reader, [])]
        if header != COLUMNS:
            raise FormatError(file=file, line=1, reason=f"the columns must be {','.join(COLUMNS)}")
        rows: dict[tuple[str, str], list[str]] = defaultdict(list)
        same: dict[str, str] = {}
        for values in reader:
            cells = [value.strip() for value in values]
            if not any(cells) or cells[0].startswith("#"):
                continue
            phrase, scheme, category = _checked(cells, known, file, reader.line_num)
            if scheme == _SAME_AS:
                same[phrase] = phrase_key(category)
            else:
                rows[phrase, scheme].append(category.lower())
        return cls({key: tuple(dict.fromkeys(several)) for key, several in rows.items()}, same)


def _checked(cells: list[str], known: Sequence[str], file: str, line: int) -> tuple[str, str, str]:
    if len(cells) != 3 or not all(cells):
        raise FormatError(file=file, line=line, reason="a row has a phrase, a scheme and a category")
    phrase, scheme, category = cells
    if scheme not in known:
        reason = f'there is no scheme "{scheme}"; known are {", ".join(known)}'
        raise FormatError(file=file, line=line, reason=reason)
    if not phrase_key(phrase):
        raise FormatError(file=file, line=line, reason="the phrase has no letter and no digit")
    return phrase_key(phrase), scheme, category


@dataclass(frozen=True, slots=True)
class Categories:
    """The tables that hold here, the uppermost first."""

    layers: Sequence[CategoryTable]
    schemes: Schemes

    def meaning(self, phrase: str, scheme: str) -> Meaning:
        """What a phrase asks of a source: by itself, else by the part of it that a table knows, else by its words."""
        if found := self._categories(phrase_key(phrase), scheme):
            return Meaning(phrase, scheme, "categories", found, words_of(phrase))
        taken = taken_key(phrase, lambda key: bool(self._categories(key, scheme)))
        if taken is not None:
            return Meaning(phrase, scheme, "categories", self._categories(taken, scheme), words_of(taken), taken)
        return Meaning(phrase, scheme, "words", (), meant_words(phrase))

    def _categories(self, key: str, scheme: str) -> tuple[str, ...]:
        for _ in range(_FOLLOWED):
            for name in self.schemes[scheme]:
                for table in self.layers:
                    if found := table.rows.get((key, name)):
                        return found
            following = next((table.same[key] for table in self.layers if key in table.same), None)
            if following is None:
                break
            key = following
        return ()

    def phrases(self) -> list[str]:
        known = {phrase for table in self.layers for phrase, _ in table.rows} | {
            phrase for table in self.layers for phrase in table.same
        }
        return sorted(known)


def open_categories(schemes: Schemes, above: Iterable[tuple[str, str]] = ()) -> Categories:
    """The packaged table, and above it others: (text, name of the file), the uppermost first."""
    own = [CategoryTable.parse(text, file, schemes) for text, file in above]
    return Categories([*own, _packaged(tuple(schemes))], schemes)


@cache
def _packaged(schemes: tuple[str, ...]) -> CategoryTable:
    text = resources.files("cocli.pipeline.sources").joinpath("categories.csv").read_text("utf-8")
    return CategoryTable.parse(text, "categories.csv", schemes)


@cache
def _packaged_rows() -> tuple[tuple[str, str, str], ...]:
    """The packaged table without its header: phrase, scheme, meaning."""
    text = resources.files("cocli.pipeline.sources").joinpath("categories.csv").read_text("utf-8")
    rows = [row for row in csv.reader(io.StringIO(text)) if len(row) == len(COLUMNS)][1:]
    return tuple((phrase, scheme, meant) for phrase, scheme, meant in rows)


@cache
def known_phrases() -> frozenset[str]:
    """All phrases of the packaged table, folded: what people call kinds of businesses."""
    return frozenset(phrase.casefold() for phrase, _, _ in _packaged_rows())


@cache
def packaged_synonyms() -> Mapping[str, str]:
    """Every phrase of the packaged table → the phrase that it means: `klempner` → `plumber`, `plumber` → `plumber`."""
    rows = _packaged_rows()
    same = {phrase_key(phrase): phrase_key(meant) for phrase, scheme, meant in rows if scheme == _SAME_AS}
    return {**{phrase_key(phrase): phrase_key(phrase) for phrase, _, _ in rows}, **same}


_WILD = re.compile(r"\*+")


def like_pattern(category: str) -> str | None:
    r"""`pizza*` as the pattern of SQL's `LIKE … ESCAPE '\'`; None for a category without a star."""
    if "*" not in category:
        return None
    escaped = re.sub(r"([\\%_])", r"\\\1", category)
    return _WILD.sub("%", escaped)
