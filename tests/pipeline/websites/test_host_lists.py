"""No list of hosts stands in the code: they are rows of the table of hosts."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from publicsuffixlist import PublicSuffixList

import cocli

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE = Path(cocli.__file__).parent
SEVERAL = 3
HOST = re.compile(r"(?<![\w@./\\-])(?:[a-z0-9-]+(?:\\?\.))+[a-z]{2,}(?![\w(-])", re.IGNORECASE)
MADE_UP = re.compile(r"(?:^|\.)(?:example|test|invalid|localhost|example\.(?:com|org|net))$")
"""Names that RFC 2606 and RFC 6761 keep for examples."""
ALLOWED = {
    "pipeline/websites/facts/technologies.py": "traces in the addresses of scripts: parts of texts, of no kind of host",
    "pipeline/websites/facts/socials.py": "which query of which path passes on another address: rules, not a list",
    "pipeline/websites/facts/forms.py": "patterns of addresses of form services, with their paths",
    "pipeline/websites/triage/bot_wall.py": "marks in the code of a page that asks for a captcha",
    "app/indexes/consolidation.py": "columns of a query: `p.city`",
    "demo/town/websites/negatives.py": "pages of the demo's town, which is made up",
    "demo/town/websites/plans.py": "the mail providers of the people in the demo's town, which is made up",
}


@cache
def suffixes() -> PublicSuffixList:
    return PublicSuffixList(accept_unknown=False, only_icann=True)


@cache
def hosts_in(text: str) -> frozenset[str]:
    """What looks like a registered name, also where a pattern escapes its dots."""
    names = (match[0].replace("\\", "").lower() for match in HOST.finditer(text))
    return frozenset(name for name in names if is_host(name))


def is_host(name: str) -> bool:
    is_ours = name.startswith("cocli.")  # a module
    is_file = name.rpartition(".")[2] in ("md", "py", "sh", "zip", "name", "id", "store")
    return not (is_ours or is_file or MADE_UP.search(name)) and suffixes().privatesuffix(name) is not None


def literals(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value


def lists_in(tree: ast.Module) -> Iterator[tuple[int, set[str]]]:
    """Statements and arguments that name several hosts, with their lines. Docstrings name them as examples."""
    for node in ast.walk(tree):
        is_assigned = isinstance(node, (ast.Assign, ast.AnnAssign, ast.Return)) and node.value is not None
        if is_assigned or isinstance(node, (ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Call, ast.Compare)):
            found = {host for text in literals(node) for host in hosts_in(text)}
            if len(found) >= SEVERAL:
                yield getattr(node, "lineno", 0), found


@cache
def files_with_lists() -> dict[str, tuple[int, list[str]]]:
    found: dict[str, tuple[int, list[str]]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        for line, hosts in lists_in(ast.parse(path.read_text("utf-8"))):
            found.setdefault(path.relative_to(SOURCE).as_posix(), (line, sorted(hosts)))
    return found


def test_hosts_stand_in_the_table_only() -> None:
    found = files_with_lists()
    assert {path: what for path, what in found.items() if path not in ALLOWED} == {}


def test_what_is_allowed_is_still_there() -> None:
    assert set(ALLOWED) <= set(files_with_lists())


def test_a_list_of_hosts_is_seen() -> None:
    for code in (
        'SITES = ("a-firm.com", "b-firm.de", "c-firm.co.uk")',
        'SITES = words("a-firm.com b-firm.de c-firm.co.uk")',
        r'SITES = re.compile(r"(?:^|\.)(?:a-firm\.com|b-firm\.de|c-firm\.co\.uk)$")',
        'def f(host): return host in {"a-firm.com", "b-firm.de", "c-firm.co.uk"}',
        'SITES = {"a-firm.com": 1, "b-firm.de": 2, "c-firm.co.uk": 3}',
    ):
        assert list(lists_in(ast.parse(code))), code
    for code in (
        'SITES = ("a-firm.com", "b-firm.de")',
        'SITES = ("example.com", "a.example.org", "b.test")',
        '"""a-firm.com b-firm.de c-firm.co.uk"""',
        'NAMES = ("cocli.cli.store", "row.name", "tests.py")',
    ):
        assert not list(lists_in(ast.parse(code))), code
