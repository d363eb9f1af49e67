"""Comparing two clusters: per document field by field, and summed per field."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocli.documents.replay import selection
from cocli.documents.replay.compare import compare_documents, compare_editions
from cocli.documents.replay.fields import compare_fields, fields_of
from cocli.errors import UsageError
from cocli.keys.identities import datasource_id


def put(world: Any, cluster: str, doc: str, node: str = "a", **data: Any) -> None:
    world.repository.save(world.page(doc).at(node, cluster).with_data(node, data))


def test_each_field_is_same_changed_gained_or_lost(world: Any) -> None:
    put(world, "old", "d1", name="x", phone="1", fax="9")
    put(world, "new", "d1", name="x", phone="2", mail="m")
    put(world, "old", "d2", name="y", deep={"er": {"est": 1}})
    put(world, "new", "d2", name="y", deep={"er": {"est": 1}})
    put(world, "old", "d3", name="z")
    put(world, "new", "d4", name="z")
    found = compare_editions(world.repository, "acct", "old", "new")
    assert (found.documents, found.identical, found.different) == (2, 1, 1)
    assert (found.only_left, found.only_right) == (1, 1)
    assert (found.examples_only_left, found.examples_only_right) == (["d3"], ["d4"])
    counts = {one.path: (one.same, one.changed, one.gained, one.lost) for one in found.sorted_fields()}
    assert counts == {
        "/a/deep/er/est": (1, 0, 0, 0),
        "/a/fax": (0, 0, 0, 1),
        "/a/mail": (0, 0, 1, 0),
        "/a/name": (2, 0, 0, 0),
        "/a/phone": (0, 1, 0, 0),
    }
    (example,) = found.fields["/a/phone"].examples
    assert (example.doc, example.left, example.right) == ("d1", '"1"', '"2"')


def test_items_of_a_list_are_told_apart_by_their_values(world: Any) -> None:
    put(world, "old", "d", found=["b@x.example", "c@x.example", {"k": 1}])
    put(world, "new", "d", found=["a@x.example", "b@x.example", {"k": 1}])
    found = compare_editions(world.repository, "acct", "old", "new").fields["/a/found/*"]
    assert (found.same, found.changed, found.gained, found.lost) == (2, 0, 1, 1)


def test_a_table_for_people_and_json_for_programs(world: Any) -> None:
    put(world, "old", "d", name="x")
    put(world, "new", "d", name="y")
    found = compare_editions(world.repository, "acct", "old", "new")
    assert found.table() == [
        ("field", "same", "changed", "gained", "lost", "example"),
        ("/a/name", "0", "1", "0", "0", '"x" → "y"'),
    ]
    read = json.loads(json.dumps(found.as_dict()))
    owner = datasource_id("acct", "web")
    assert read["fields"][0] == {
        "path": "/a/name", "same": 0, "changed": 1, "gained": 0, "lost": 0,
        "examples": [{"doc": "d", "datasource": owner, "verdict": "changed", "left": '"x"', "right": '"y"'}],
    }  # fmt: skip


def test_what_inline_nodes_found_is_compared_once(world: Any) -> None:
    """It is in the state of a later node, and in the next one's as well."""
    for cluster, version in (("old", 1), ("new", 2)):
        wanted = world.graph("intake>a", "a>b", "b>c", keep=("b", "c"), a=_marks(version))
        world.engine(wanted, cluster).run(world.page("d"))
    found = compare_editions(world.repository, "acct", "old", "new")
    assert (found.fields["/a/n"].changed, found.fields["/b/version"].same) == (1, 1)


def _marks(version: int) -> Any:
    return lambda document, context: document.with_data("a", {"n": version})


def test_pages_and_narrowing(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "PAGE", 3)
    for number in range(20):
        if number % 3:
            put(world, "old", f"d{number:02}", n=number)
        if number % 4:
            put(world, "new", f"d{number:02}", n=number if number % 2 else -1)
    found = compare_editions(world.repository, "acct", "old", "new", examples=2)
    both = [number for number in range(20) if number % 3 and number % 4]
    assert (found.documents, found.only_left, found.only_right) == (len(both), 3, 5)
    assert found.fields["/a/n"].changed == sum(number % 2 == 0 for number in both)
    assert len(found.examples_only_right) == 2
    one = list(compare_documents(world.repository, "acct", "old", "new", doc="d02"))
    assert [(change.path, change.verdict) for change in one[0].changes] == [("/a/n", "changed")]
    nothing = compare_editions(world.repository, "acct", "old", "new", datasource="elsewhere")
    assert (nothing.documents, nothing.only_left) == (0, 0)
    assert compare_editions(world.repository, "other", "old", "new").only_left == 0


def test_a_damaged_state_is_counted_and_the_others_are_compared(world: Any) -> None:
    for doc in ("d1", "d2"):
        put(world, "old", doc, n=1)
        put(world, "new", doc, n=2)
    world.objects.put(next(key for key in world.documents() if "d1/new" in key), b"broken")
    found = compare_editions(world.repository, "acct", "old", "new")
    assert (found.documents, found.unreadable) == (1, 1)
    assert "d1" in found.problems[0]


def test_a_cluster_with_itself_is_refused(world: Any) -> None:
    with pytest.raises(UsageError):
        compare_editions(world.repository, "acct", "old", "old")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)
data = st.dictionaries(st.text(min_size=1, max_size=3), values, max_size=3)


@given(data, data)
def test_what_is_gained_one_way_is_lost_the_other(left: dict[str, Any], right: dict[str, Any]) -> None:
    there = [(one.path, one.verdict, one.count) for one in compare_fields(fields_of(left), fields_of(right))]
    back = [(one.path, one.verdict, one.count) for one in compare_fields(fields_of(right), fields_of(left))]
    turned = {"gained": "lost", "lost": "gained", "same": "same", "changed": "changed"}
    assert sorted(there) == sorted((path, turned[verdict], count) for path, verdict, count in back)
    assert (left == right) <= all(verdict == "same" for _, verdict, _ in there)
