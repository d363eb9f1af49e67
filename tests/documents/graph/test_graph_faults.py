"""Which graphs are activated, what is said of the others, and how a graph lies in a file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocli.documents.document import Document
from cocli.documents.graph.condition import AllOf, Not, Presence
from cocli.documents.graph.definition import GraphDefinition
from cocli.documents.graph.edge import Edge, Transport
from cocli.documents.graph.graph import Graph
from cocli.documents.graph.node import Node, NodeContext, code_digest
from cocli.errors import FormatError, GraphInvalid, UnknownNode


def same(document: Document, context: NodeContext) -> Document:
    return document


def graph(names: str, *edges: str) -> Graph:
    pairs = [edge.split(">") for edge in edges]
    return Graph(
        "g", [Node(name, same) for name in names.split()], [Edge(source=one, target=two) for one, two in pairs]
    )


def test_a_sound_graph_has_no_faults() -> None:
    diamond = graph("a b c d", "intake>a", "a>b", "a>c", "b>d", "c>d")
    assert diamond.faults() == []
    diamond.check(datasources=["ac546a934bd55ed4"])


@pytest.mark.parametrize(
    ("faulty", "said"),
    [
        (graph(""), ["it has no nodes", "no edge leaves intake"]),
        (graph("a"), ["no edge leaves intake", "node a: no way leads to it"]),
        (graph("a", "intake>a", "a>b"), ["edge a → b: there is no node b"]),
        (graph("a", "intake>a", "b>a"), ["edge b → a: there is no node b"]),
        (graph("a", "intake>a", "intake>a"), ["edge intake → a: there are 2 of them"]),
        (graph("a", "intake>a", "a>intake"), ["no edge leads to intake", "circle: a → intake → a"]),
        (graph("a", "intake>a", "a>a"), ["circle: a → a"]),
        (graph("a b c", "intake>a", "a>b", "b>c", "c>b"), ["circle: b → c → b"]),
        (graph("a b c", "intake>a", "b>c", "c>b"), ["node b: no way", "node c: no way", "circle: b → c → b"]),
        (graph("a a", "intake>a"), ["node a: there are 2 of this name"]),
        (graph("intake", "intake>intake"), ["node intake: the name is reserved", "no edge leads to intake"]),
        (graph("quarantine", "intake>quarantine"), ["node quarantine: the name is reserved"]),
        (graph("ac546a934bd55ed4", "intake>ac546a934bd55ed4"), ["looks like the id of a datasource"]),
        (graph("Über", "intake>Über"), ["lower-case letters"]),
        (graph("a--b", "intake>a--b"), ["single dashes"]),
        (graph("a" * 49, f"intake>{'a' * 49}"), ["up to 48"]),
    ],
)
def test_every_fault_is_named(faulty: Graph, said: list[str]) -> None:
    with pytest.raises(GraphInvalid) as caught:
        faulty.check()
    for one in said:
        assert one in caught.value.message
    assert caught.value.details["count"] == len(faulty.faults())


def test_a_node_may_not_be_named_like_a_datasource_that_is_there() -> None:
    named = graph("maps", "intake>maps")
    named.check(datasources=["places"])
    with pytest.raises(GraphInvalid, match="a datasource has this address"):
        named.check(datasources=["maps"])


def test_a_condition_may_not_be_nested_without_end() -> None:
    condition: Presence | Not | AllOf = Presence(path="/data", op="exists")
    for _ in range(30):
        condition = Not(not_=condition)
    deep = Graph("g", [Node("a", same)], [Edge(source="intake", target="a", condition=condition)])
    with pytest.raises(GraphInvalid, match="nested more than"):
        deep.check()


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20, unique=True))
def test_circles_are_found_exactly_where_there_are_some(pairs: list[tuple[int, int]]) -> None:
    edges = [Edge(source=f"n{one}", target=f"n{two}") for one, two in pairs]
    entries = [Edge(source="intake", target=f"n{number}") for number in range(8)]
    found = any(
        "circle" in fault for fault in Graph("g", [Node(f"n{n}", same) for n in range(8)], edges + entries).faults()
    )
    left = set(pairs)
    while True:
        sources = {one for one, _ in left}
        kept = {(one, two) for one, two in left if two in sources}
        if kept == left:
            break
        left = kept
    assert found == bool(left)


TOML = """
name = "contacts"

[[nodes]]
name = "parse"

[[nodes]]
name = "emails"
version = "2"
keep = true
config = { pages = 3 }

[[edges]]
source = "intake"
target = "parse"
condition = { path = "/source/status", op = "eq", value = 200 }

[[edges]]
source = "parse"
target = "emails"
transport = "messaging"

[edges.condition]
all = [
    { path = "/data/parse", op = "exists" },
    { not = { path = "/data/parse/empty", op = "eq", value = true } },
]
"""


def test_a_definition_survives_both_of_its_forms() -> None:
    read = GraphDefinition.from_toml(TOML)
    assert GraphDefinition.from_json(read.to_json()) == read
    bound = read.bind({"parse": same, "emails": same})
    assert GraphDefinition.of(bound) == read
    assert bound.receivers() == ["emails"]
    assert bound.out("parse")[0].transport is Transport.MESSAGING
    assert bound.node("emails").code_digest == code_digest("emails", "2", {"pages": 3})
    with pytest.raises(UnknownNode, match="parse, emails"):
        bound.node("phones")


def test_what_is_wrong_with_a_file_is_said() -> None:
    with pytest.raises(FormatError, match="not TOML"):
        GraphDefinition.from_toml("\nname =")
    with pytest.raises(FormatError, match=r"edges\.0\.transport"):
        GraphDefinition.from_toml('name = "g"\n[[edges]]\nsource = "a"\ntarget = "b"\ntransport = "pigeon"')
    with pytest.raises(FormatError, match=r"edges\.0\.condition\.compare\.op"):
        GraphDefinition.from_toml(
            'name = "g"\n[[edges]]\nsource = "a"\ntarget = "b"\ncondition = {path = "/a", op = "x", value = 1}'
        )
    with pytest.raises(GraphInvalid, match=r"no function of this name.*") as caught:
        GraphDefinition.from_toml('name = "g"\n[[nodes]]\nname = "a"').bind({})
    assert "no edge leaves intake" in caught.value.message


def test_the_code_digest_follows_name_version_and_configuration() -> None:
    digest = Node("a", same, version="1", config={"x": 1, "y": [2]}).code_digest
    assert digest == Node("a", same, version="1", config={"y": [2], "x": 1}).code_digest
    others = [Node("b", same), Node("a", same, version="2"), Node("a", same, config={"x": 1}), Node("a", same)]
    assert len({digest, *(other.code_digest for other in others)}) == 5
    vector = "892af94e14b7d05e00b0ada85fa713920012c3f46e2605dc1c00903daf12b01e"
    assert Node("a", same).code_digest == vector, "machines of different versions must agree"
