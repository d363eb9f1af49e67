"""One word for one thing: help texts use the words of docs/glossary.md, and none of those that it puts away."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from cocli.cli.kit.reference import commands
from cocli.cli.nouns import NOUNS

GLOSSARY = (Path(__file__).parents[1] / "docs" / "glossary.md").read_text("utf-8")
NOT_USED = {
    r"\bquer(?:y|ies)\b": "phrase",
    r"\bpending\b": "waiting",
    r"\bsidelined?\b": "set aside",
    r"\bclusters?\b": "machines, or edition",
    r"\bcaptures?\b": "page, or document",
    r"\bmissions?\b": "plan, or target",
    r"\bscrap(?:e|es|ed|ing)\b": "read",
    r"\bleads?\b(?! to)(?! elsewhere)": "prospect",
    r"\bkeywords?\b": "phrase",
    r"\bcells?\b": "tile",
}
"""What is not said → what is said instead."""
EXCEPTIONS = (
    r"`cocli [^`]*`",
    r"scraped[-_]tiles",
    r"(?i:query|queries)(?= the indexes| them| names| can read|,? the lines)",  # questions in SQL
    r"Ray cluster",
    r"page that leads",
    r"on a cluster",
    r"(?:add|remove)-query",  # words of a command, which machines of an earlier version read
    r"every cell",  # of a table
)


def help_texts() -> Iterator[tuple[str, str]]:
    """What a person reads about a command: its text and those of its options, without names, choices and examples."""
    for name, _, _, summary in NOUNS:
        yield f"cocli {name}", summary
    for path, command, _ in commands():
        if path not in ("cocli index query", "cocli find"):
            yield path, command.help or ""
        for param in command.params:
            yield path, getattr(param, "help", None) or ""


def test_help_texts_use_the_words_of_the_glossary() -> None:
    found = []
    for path, text in help_texts():
        plain = re.sub("|".join(EXCEPTIONS), "", " ".join(text.split()))
        found += [
            f"{path}: {match[0]} → {word}: …{plain[max(0, match.start() - 30) : match.end() + 30]}…"
            for pattern, word in NOT_USED.items()
            for match in re.finditer(pattern, plain, re.IGNORECASE)
        ]
    assert found == []


def test_the_glossary_has_each_word_once() -> None:
    words = re.findall(r"^\| ([a-z][^|]*?) \|", GLOSSARY, re.MULTILINE)[1:]
    assert len(words) == len(set(words)) > 25
    for word in (
        "phrase",
        "waiting",
        "set aside",
        "edition",
        "witness",
        "lease",
        "tile",
        "target",
        "store",
        "document",
    ):
        assert word in words
