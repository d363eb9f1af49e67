"""Manual pages, made from the same texts as `--help`: `python -m cocli.cli.kit.man_pages FOLDER`, or `make man`.

One page for the program and one for each noun, with its verbs: `man cocli`, `man cocli-campaign`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from cocli.cli.kit.reference import commands
from cocli.cli.nouns import GROUPS, NOUNS
from cocli.config.version import __version__

_WIDTH = 78
_SUMMARY = "find every business of a kind, and how to reach each one"


def man_pages() -> dict[str, str]:
    """File name → page, in roff."""
    pages = {"cocli.1": "\n".join(_program()) + "\n"}
    nouns: dict[str, list[tuple[str, str]]] = {name: [] for name, _, _, _ in NOUNS}
    for path, command, context in commands():
        context.terminal_width = _WIDTH
        nouns[path.split()[1]].append((path, command.get_help(context)))
    for name, _, _, summary in NOUNS:
        pages[f"cocli-{name}.1"] = "\n".join(_noun(name, summary, nouns[name])) + "\n"
    return pages


def _program() -> Iterator[str]:
    yield from _head("cocli", _SUMMARY)
    yield ".SH SYNOPSIS\n.B cocli\n.I NOUN VERB\n.RI [ OPTIONS ]"
    yield ".SH DESCRIPTION"
    yield "Find every business of a kind in a territory, find out how to reach each one, and keep the result as plain"
    yield "files. Each noun has a page of its own, such as\n.BR cocli-campaign (1)."
    for group in GROUPS:
        yield f".SH {_text(group.upper())}"
        for name, place, _, summary in NOUNS:
            if place == group:
                yield f".TP\n.BR cocli-{_text(name)} (1)\n{_text(summary)}"
    yield ".SH OPTIONS"
    for option, meaning in _OPTIONS:
        yield f".TP\n.B {_text(option)}\n{_text(meaning)}"


_OPTIONS = (
    ("-h, --help", "Show help; also after every command."),
    ("--version", "Show the version."),
    ("-v, --verbose", "Show a log on stderr; -vv shows more."),
    ("--log-file FILE", "Write the log into a file."),
    ("--log-format json", "Write the log as lines of JSON."),
    ("--no-pager", "Show long lists and help at once."),
)


def _noun(name: str, summary: str, described: list[tuple[str, str]]) -> Iterator[str]:
    yield from _head(f"cocli-{name}", summary)
    for number, (path, text) in enumerate(described):
        yield f".SH {'SYNOPSIS' if number == 0 else _text(path.upper())}"
        yield ".nf"
        yield from (_text(line) for line in text.rstrip().splitlines())
        yield ".fi"
    yield ".SH SEE ALSO\n.BR cocli (1)"


def _head(name: str, summary: str) -> Iterator[str]:
    yield f'.TH {name.upper()} 1 "" "cocli {__version__}" "User Commands"'
    yield f".SH NAME\n{_text(name)} \\- {_text(summary)}"


def _text(line: str) -> str:
    """A line as roff takes it: backslashes and dashes as they are, and no request where it begins with a dot."""
    escaped = line.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


def main(arguments: list[str]) -> int:
    """Write the pages into a folder."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m cocli.cli.kit.man_pages FOLDER\n")
        return 2
    os.makedirs(arguments[0], exist_ok=True)
    for name, text in man_pages().items():
        with open(os.path.join(arguments[0], name), "w", encoding="utf-8") as file:
            file.write(text)
    print(f"{arguments[0]}: {len(NOUNS) + 1} pages")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
