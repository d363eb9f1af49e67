"""The command of `cocli documents` that runs the nodes of a graph as a worker: work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.documents.options import GraphOption, chosen_documents
from cocli.cli.kit.context import Call
from cocli.cli.kit.options import CAMPAIGN, JSON, QUIET, STORE, examples, shared
from cocli.cli.kit.serving import stopped_by_signals

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cocli.cli.kit.output import Output
    from cocli.documents.graph.worker import NodeTally

app = typer.Typer()


@app.command(
    epilog=examples(
        "cocli documents work parse emails --graph my_package.graphs:contacts -c plumbers",
        "cocli documents work page -c plumbers --until-empty --json",
    )
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def work(
    call: Call,
    nodes: Annotated[list[str], typer.Argument(metavar="NODE…", help="The nodes to work for.")],
    graph: GraphOption = None,
    edition: Annotated[
        str | None,
        typer.Option("--edition", metavar="NAME", help="The edition to work in.", show_default="the campaign's"),
    ] = None,
    until_empty: Annotated[bool, typer.Option("--until-empty", help="End once no message is left.")] = False,
) -> None:
    """Work for nodes of a graph: take the references that are sent to them, run the graph from there, send on.

    Messages come as events of [documents] says: from the campaign's queues, or from Kafka. Any number of machines may
    work for a node. Ctrl-C or SIGTERM ends what is in hand, and takes nothing more.
    """
    from cocli.app.documents.events import relaying
    from cocli.app.documents.jobs import DEFAULT_GRAPH
    from cocli.app.documents.nodes import NodeWorkOptions, work_for_nodes
    from cocli.fleet.worker_name import worker_name

    output = call.output
    stop = stopped_by_signals()
    with chosen_documents(call) as documents:
        options = NodeWorkOptions(
            nodes, graph or DEFAULT_GRAPH, edition or documents.edition, worker_name(), until_empty=until_empty
        )
        output.talk(f"Working for {', '.join(nodes)} in {options.edition}. Ctrl-C ends it.")
        with relaying(documents):
            tallies = work_for_nodes(documents, options, stop)
    if output.as_json:
        output.document({"cluster": options.edition, "nodes": _documents(tallies)})
        return
    _show(output, tallies)


def _documents(tallies: Mapping[str, NodeTally]) -> list[dict[str, object]]:
    return [
        {"node": node, "messages": dict(tally.messages), "endings": dict(tally.endings)}
        for node, tally in tallies.items()
    ]


def _show(output: Output, tallies: Mapping[str, NodeTally]) -> None:
    rows = [
        (node, tally.messages.total(), _counted(tally.messages), _counted(tally.endings))
        for node, tally in tallies.items()
    ]
    output.table(("node", "taken", "messages", "endings"), rows, right=("taken",))


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
