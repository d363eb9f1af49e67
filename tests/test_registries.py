"""Kinds of queues and stores are asked what they can do, never what they are called."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from cocli.queue.providers import PROVIDERS
from cocli.store.kinds import KINDS

SRC = Path(__file__).parents[1] / "src" / "cocli"
PROVIDER_NAMES = set(PROVIDERS) - {"store"}
SCHEMES = {f"{scheme}://" for scheme in KINDS if scheme not in ("", "file")}
AT_HOME = ("queue/", "store/", "pipeline/sources/")
"""The rooms of the providers and the stores; and Overture, which is published in a bucket."""
WORDS_OF_OTHERS = ("documents/graph/transports/",)


def constants(node: ast.AST) -> list[object]:
    return [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]


def offences(text: str) -> Iterator[tuple[int, str]]:
    """Every comparison with the name of a provider or the scheme of a store: (line, the comparison)."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Compare):
            if any(value in PROVIDER_NAMES | SCHEMES for value in constants(node)):
                yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "startswith":
            known = [
                part.value for argument in node.args for part in ast.walk(argument) if isinstance(part, ast.Constant)
            ]
            if any(value in SCHEMES for value in known):
                yield node.lineno, ast.unparse(node)
        elif isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            named = [
                part.value for part in node.elts if isinstance(part, ast.Constant) and part.value in PROVIDER_NAMES
            ]
            if named:
                yield node.lineno, ast.unparse(node)[:80]


def test_nobody_compares_the_names_of_providers_and_stores() -> None:
    found = [
        f"{path.relative_to(SRC)}:{line}: {said}"
        for path in sorted(SRC.rglob("*.py"))
        if not path.relative_to(SRC).as_posix().startswith((*AT_HOME, *WORDS_OF_OTHERS))
        for line, said in offences(path.read_text("utf-8"))
    ]
    assert not found, "ask cocli.queue.providers.provider_of and cocli.store.kinds.store_kind instead"


@pytest.mark.parametrize(
    "text",
    [
        'if config.queue.provider == "sqs":\n    pass',
        '_ELSEWHERE = ("sqs", "kafka")',
        'store.address.startswith("s3://")',
        'provider in {"filesystem"}',
    ],
)
def test_a_comparison_is_noticed(text: str) -> None:
    assert list(offences(text))
