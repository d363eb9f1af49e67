"""Every command that a page shows, or that the program itself suggests, is one that the command line takes.

Nothing is run here: the real parser reads each line. `tests/cli` runs the commands themselves.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from itertools import chain, takewhile
from pathlib import Path
from typing import Any

import pytest
import typer

from cocli.cli.kit.global_options import with_global_options
from cocli.cli.kit.reference import commands
from cocli.cli.older_names import OLDER_NAMES, in_new_words

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    page
    for page in chain(ROOT.glob("*.md"), (ROOT / "docs").rglob("*.md"))
    if page.parent.name != "reference"  # generated from the parser
)
SOURCES = [
    source
    for source in sorted((ROOT / "src" / "cocli").rglob("*.py"))
    if "town" not in source.parts
    and source.name != "__init__.py"  # their texts begin with the program's name
    and source.name not in ("json_documents.py", "older_names.py")  # they name all that there was
]
BLOCK = re.compile(r"^( *)```(console|sh|shell|bash)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`\n]*\bcocli [a-z][^`\n]*)`")
PUNCTUATION = re.compile(r"[|&;<>()]+")
OF_EVERY_COMMAND = {"--help", "--verbose", "--log-file", "--log-format", "--no-pager"}
KEYWORDS = {"while", "until", "if", "!", "do", "then", "else", "exec", "time"}


# --- what is written -------------------------------------------------------------------------------------------------


def block_commands(text: str) -> Iterator[list[str]]:
    """The words behind `cocli` of every line that a person is to type."""
    for _, kind, body in BLOCK.findall(text):
        lines = re.sub(r"\\\n\s*", " ", body).splitlines()
        typed = (
            line.strip().removeprefix("$ ") for line in lines if kind != "console" or line.lstrip().startswith("$ ")
        )
        for line in typed:
            yield from shell_commands(line)


def shell_commands(line: str) -> Iterator[list[str]]:
    """The words behind each `cocli` of one line of shell: up to a pipe, a redirection or the next command."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words = list(lexer)
    for position, word in enumerate(words):
        if word == "cocli" and _begins_a_command(words[:position]):
            yield list(takewhile(lambda word: not PUNCTUATION.fullmatch(word), words[position + 1 :]))


def _begins_a_command(before: list[str]) -> bool:
    """Whether only assignments of variables stand before it since the last command."""
    return (
        not before
        or before[-1] in KEYWORDS
        or PUNCTUATION.fullmatch(before[-1]) is not None
        or re.fullmatch(r"[A-Z_]+=.*", before[-1]) is not None
    )


def inline_commands(text: str) -> Iterator[str]:
    """What stands between backquotes within the text, or in a string of the program, from `cocli` on."""
    return (found[found.index("cocli ") :] for found in INLINE.findall(FENCED.sub("", text)))


def suggestions(source: Path) -> Iterator[str]:
    """Commands in the strings of a module: hints, remedies, examples, texts of help."""
    text = source.read_text("utf-8")
    for node in ast.walk(ast.parse(text)) if "cocli " in text.replace("from cocli ", "") else ():
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        yield from re.findall(r"(?:^|(?<=[:`(]\s)|(?<=[:`(])|(?<=  )|(?<=\$ ))cocli [a-z](?:(?!cocli )[^`\n])*", text)


# --- what the parser says of it --------------------------------------------------------------------------------------


Commands = dict[str, tuple[Any, Any]]
"""Every command and noun by what a person types, with the context to parse in."""


@pytest.fixture(scope="module")
def known() -> Commands:
    return {path: (command_of(command), context) for path, command, context in commands()}


def split(known: Commands, words: list[str]) -> tuple[str, list[str]]:
    """The command that the words begin with, and the words behind it."""
    path, rest = "cocli", list(words)
    while rest and f"{path} {rest[0]}" in known:
        path = f"{path} {rest.pop(0)}"
    return path, rest


def is_noun(known: Commands, path: str) -> bool:
    return path not in known or hasattr(known[path][0], "list_commands")


def command_of(command: Any) -> Any:
    """A noun that does something without a verb is that command."""
    return command.default_command() if hasattr(command, "default_command") else command


def fault_of(known: Commands, words: list[str]) -> str | None:
    """What a person would be told who types this; None if it is understood."""
    words, _ = with_global_options(words, {})
    path, rest = split(known, words)
    if is_noun(known, path):
        return None if not rest or rest[0].startswith("-") else f"{path} {rest[0]} is no command"
    command, context = known[path]
    try:
        command.make_context(command.name, rest, parent=context.parent)
    except typer.Exit:
        return None  # --help
    except typer.TyperException as error:
        return str(error.format_message())
    return None


def unknown_in(known: Commands, line: str) -> str | None:
    """What in a loosely written command (`cocli queue ls QUEUE --state …`) does not exist; None if all does."""
    words = [word.rstrip(".,:;|/)]}") for word in re.findall(r"[^\s`\"'()]+", line)[1:]]
    path, rest = split(known, words)
    if is_noun(known, path):
        return f"{path} {rest[0]} is no command" if rest and re.fullmatch(r"[a-z][a-z-]*", rest[0]) else None
    params = known[path][0].params
    options = set(chain.from_iterable([*param.opts, *param.secondary_opts] for param in params)) | OF_EVERY_COMMAND
    strange = set(chain.from_iterable(re.findall(r"^--[a-z-]+", word) for word in rest)) - options
    return f"{path} has no {', '.join(sorted(strange))}" if strange else None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_of_a_page_is_understood(page: Path, known: Commands) -> None:
    text = page.read_text("utf-8")
    typed = [(shlex.join(words), fault_of(known, words)) for words in block_commands(text)]
    named = [(line, unknown_in(known, line)) for line in inline_commands(text)]
    assert [f"{line}: {fault}" for line, fault in (*typed, *named) if fault] == []


def test_every_command_that_the_program_suggests_exists(known: Commands) -> None:
    said = [(source, line) for source in SOURCES for line in suggestions(source)]
    assert len(said) > 300
    assert [f"{source.name}: {line}: {fault}" for source, line in said if (fault := unknown_in(known, line))] == []


# --- names of before --------------------------------------------------------------------------------------------------

TELLS_OF_OLDER_NAMES = {"CHANGELOG.md", "glossary.md"}
"""Pages that may name them; the reference lists them, and is generated."""


def older_words(older: str) -> re.Pattern[str]:
    """How an older name is recognised in a text: by its last word, if that is no word of every day."""
    last = older.split()[-1]
    words = last if "-" in last or len(last) == 2 else f"cocli {older}" if " " not in older else older
    return re.compile(rf"(?<![\w-]){re.escape(words)}(?![\w-]|\.md)")


OLDER = [(older, older_words(older)) for older, _ in OLDER_NAMES]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_uses_an_older_name(page: Path) -> None:
    if page.name not in TELLS_OF_OLDER_NAMES:
        text = page.read_text("utf-8")
        assert [older for older, words in OLDER if words.search(text)] == []


def test_nothing_that_the_program_says_uses_an_older_name() -> None:
    found = []
    for source in SOURCES:
        for node in ast.walk(ast.parse(source.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and "older name" not in node.value:
                found += [
                    f"{source.name}: {older}: {node.value[:80]}"
                    for older, words in OLDER
                    if words.search(node.value) and node.value not in older  # the declaration of the hidden command
                ]
    assert found == []


def test_every_older_name_is_read_as_a_command_of_today(known: Commands) -> None:
    everything = {path: (command, context) for path, command, context in commands(hidden=True)}
    for older, newer in OLDER_NAMES:
        read_as = in_new_words([*older.split(), "x"])[:-1]
        assert not unknown_in(everything, f"cocli {' '.join(read_as)}"), older
        assert not unknown_in(known, f"cocli {newer}"), newer
        assert f"cocli {older}" not in known, "it is hidden"


@pytest.mark.parametrize(
    ("page", "count"),
    [
        ("```console\n$ A=1 cocli campaign shw x | head\n$ echo cocli nonsense\n```\n", 1),
        ("```sh\nwhile ! cocli doctor; do sleep 1; done && cocli campaign list --nope\n```\n", 2),
        ("```console\n$ cocli campaign list --jsn   # a comment with `cocli x`\nprinted: cocli oops\n```\n", 1),
    ],
)
def test_what_counts_as_a_command(page: str, count: int) -> None:
    assert len(list(block_commands(page))) == count


def test_what_does_not_exist_is_noticed(known: Commands) -> None:
    assert fault_of(known, ["campaign", "list", "--json"]) is None
    assert "No such option" in str(fault_of(known, ["campaign", "list", "--jsn"]))
    assert "Missing argument" in str(fault_of(known, ["campaign", "rm"]))
    assert "is no command" in str(fault_of(known, ["campaign", "shw", "plumbers"]))
    assert unknown_in(known, "cocli queue ls QUEUE --state …") is None
    assert unknown_in(known, "cocli queue ls QUEUE --stat x") == "cocli queue ls has no --stat"
    assert unknown_in(known, "cocli campain list") == "cocli campain is no command"
