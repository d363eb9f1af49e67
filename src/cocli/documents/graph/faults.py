"""What can be wrong with a graph, found before a document enters it: all of it at once."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from cocli.documents.graph.condition import MAX_DEPTH, depth
from cocli.documents.graph.edge import Transport
from cocli.documents.graph.node import INTAKE, name_fault
from cocli.documents.graph.remote_address import address_fault

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from cocli.documents.graph.edge import Edge


def find_faults(
    names: Sequence[str],
    edges: Sequence[Edge],
    datasources: Collection[str] = (),
    remotes: Mapping[str, str] | None = None,
) -> list[str]:
    """Every fault in words. `names` are those of the nodes, `datasources` ids that no node may be named like, `remotes`
    where nodes run that run elsewhere."""
    return [
        *_of_nodes(names, datasources),
        *_of_edges(set(names), edges),
        *_of_transports(edges, remotes or {}),
        *_of_shape(names, edges),
    ]


def _of_transports(edges: Sequence[Edge], remotes: Mapping[str, str]) -> Iterator[str]:
    for name, address in remotes.items():
        if fault := address_fault(address):
            yield f"node {name}: {fault}"
    for edge in edges:
        if edge.transport is Transport.GRPC and edge.target not in remotes:
            yield f"edge {edge}: it goes by grpc, and nothing says where {edge.target} runs"
        elif edge.transport is Transport.INLINE and edge.target in remotes:
            yield f"edge {edge}: {edge.target} runs elsewhere; its transport is grpc or messaging"


def _of_nodes(names: Sequence[str], datasources: Collection[str]) -> Iterator[str]:
    if not names:
        yield "it has no nodes"
    for name, count in Counter(names).items():
        if count > 1:
            yield f"node {name}: there are {count} of this name"
        if fault := name_fault(name):
            yield f"node {name}: {fault}"
        elif name in datasources:
            yield f"node {name}: a datasource has this address"


def _of_edges(known: Collection[str], edges: Sequence[Edge]) -> Iterator[str]:
    for edge in edges:
        if edge.source not in known and edge.source != INTAKE:
            yield f"edge {edge}: there is no node {edge.source}"
        if edge.target == INTAKE:
            yield f"edge {edge}: no edge leads to {INTAKE}"
        elif edge.target not in known:
            yield f"edge {edge}: there is no node {edge.target}"
        if edge.condition is not None and depth(edge.condition) > MAX_DEPTH:
            yield f"edge {edge}: its condition is nested more than {MAX_DEPTH} deep"
    for (source, target), count in Counter((edge.source, edge.target) for edge in edges).items():
        if count > 1:
            yield f"edge {source} → {target}: there are {count} of them; put their conditions into one"


def _of_shape(names: Iterable[str], edges: Sequence[Edge]) -> Iterator[str]:
    following = defaultdict[str, list[str]](list)
    for edge in edges:
        following[edge.source].append(edge.target)
    if not following[INTAKE]:
        yield f"no edge leaves {INTAKE}: no document would enter"
    reached = _reachable(following, INTAKE)
    for name in dict.fromkeys(names):
        if name not in reached and name != INTAKE:
            yield f"node {name}: no way leads to it from {INTAKE}"
    for circle in _circles(following):
        yield f"the edges go in a circle: {' → '.join(circle)}"


def _reachable(following: Mapping[str, Sequence[str]], start: str) -> set[str]:
    reached, ahead = {start}, [start]
    while ahead:
        for name in following.get(ahead.pop(), ()):
            if name not in reached:
                reached.add(name)
                ahead.append(name)
    return reached


def _circles(following: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """One circle for each edge that leads back into the path of a search; without recursion, whatever the size."""
    circles, done = [], set[str]()
    for start in sorted(following):
        if start in done:
            continue
        path, ahead = [start], [iter(following[start])]
        while path:
            name = next(ahead[-1], None)
            if name is None:
                done.add(path.pop())
                ahead.pop()
            elif name in path:
                circles.append([*path[path.index(name) :], name])
            elif name not in done:
                path.append(name)
                ahead.append(iter(following.get(name, ())))
    return circles
