"""The registry of sources: every source is whole, and nothing outside of it repeats their names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from cocli.errors import UsageError
from cocli.pipeline.merge.rules import SOURCES as RANKS
from cocli.pipeline.sources import overture
from cocli.pipeline.sources.graph_nodes import place_nodes
from cocli.pipeline.sources.registry import (
    asked_sources,
    attributions,
    category_schemes,
    file_kind,
    register,
    source_named,
    sources,
)
from cocli.pipeline.sources.source import Source

SRC = Path(__file__).parents[3] / "src" / "cocli"
NAMES = {source.name for source in sources()}
WORDS = {"import"}
"""Names that are also words of the program: a command, a node. One of them alone repeats nothing."""
AT_HOME = ("pipeline/sources/", "demo/")
"""The folders of the sources; and the town, which plays two of them: its pages and files are theirs."""
EXCUSED = {
    ("models/campaign.py", "overture"): "the source of a campaign that names none",
    ("app/indexes/lookup.py", "overture"): "an example of a key",
}


# --- nothing repeats the names


def offences(text: str) -> Iterator[tuple[int, str]]:
    """Every place of a module that knows a source by name: (line, what it says)."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and node.value in NAMES - WORDS:
            yield node.lineno, str(node.value)
        elif isinstance(node, (ast.Tuple, ast.List, ast.Set, ast.Dict)):
            parts = node.keys if isinstance(node, ast.Dict) else node.elts
            named = [part.value for part in parts if isinstance(part, ast.Constant) and part.value in NAMES]
            if len(named) > 1:
                yield node.lineno, ", ".join(map(str, named))
        elif isinstance(node, ast.Compare):
            for part in (node.left, *node.comparators):
                if isinstance(part, ast.Attribute) and ast.unparse(part).endswith("SOURCE.name"):
                    yield node.lineno, ast.unparse(node)


def test_nothing_repeats_the_names_of_the_sources() -> None:
    found = []
    excused = set()
    for path in sorted(SRC.rglob("*.py")):
        file = path.relative_to(SRC).as_posix()
        if file.startswith(AT_HOME):
            continue
        for line, said in offences(path.read_text("utf-8")):
            if (file, said) in EXCUSED:
                excused.add((file, said))
            else:
                found.append(f"{file}:{line}: {said}")
    assert not found, "ask cocli.pipeline.sources.registry instead"
    assert excused == set(EXCUSED), "an excuse that nobody needs any more"


@pytest.mark.parametrize(
    "text",
    [
        'KINDS = ("overture", "foursquare")',
        'KINDS = {"import": 1, "google-maps": 2}',
        'if source == "google-maps":\n    pass',
        'source in {"openstreetmap"}',
        "if source != google_maps.SOURCE.name:\n    pass",
        'match source:\n    case "alltheplaces":\n        pass',
    ],
)
def test_a_repeated_name_is_noticed(text: str) -> None:
    assert list(offences(text))


@pytest.mark.parametrize(
    "text", ['"""Reads overture and google-maps."""', 'noun = "import"', "google_maps.SOURCE.name"]
)
def test_prose_and_a_description_that_is_asked_are_no_offence(text: str) -> None:
    assert not list(offences(text))


# --- every source is whole


@pytest.mark.parametrize("source", sources(), ids=lambda source: source.name)
def test_every_source_says_who_must_be_named_and_how_much_it_counts(source: Source) -> None:
    assert all((source.title, source.identity, source.licence.name, source.licence.attribution))
    assert source.licence.link is None or source.licence.link.startswith("https://")
    assert RANKS[source.name] == source.rank.page
    assert source.rank.row is None or RANKS[source.row_name] == source.rank.row < source.rank.page


@pytest.mark.parametrize("source", asked_sources(), ids=lambda source: source.name)
def test_every_source_that_is_asked_has_a_cost_and_a_node_of_the_graph(source: Source) -> None:
    assert None not in (source.cost, source.parse)
    assert any(source.connector in node.readers for node in place_nodes())


def test_a_source_speaks_like_one_that_there_is() -> None:
    schemes = category_schemes()
    assert all(other in schemes for understood in schemes.values() for other in understood)


def test_a_source_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UsageError) as refused:
        source_named("yellow-pages")
    assert all(name in str(refused.value.hint) for name in NAMES)
    with pytest.raises(UsageError):
        file_kind("google-maps")


def test_two_sources_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="overture"):
        register(overture.SOURCE)


def test_whoever_must_be_named_is_named_once_and_nobody_else() -> None:
    assert attributions(["import", "person", "website"]) == []
    (maps,) = attributions(["google-maps", "google-maps-list"])
    assert maps.startswith("Google Maps: ")
    assert ["overturemaps.org" in credit for credit in attributions(["overture", "openstreetmap"])] == [True, False]
