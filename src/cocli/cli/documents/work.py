"""The command of `cocli documents` that runs the nodes of a graph as a worker: work."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.documents.options import GraphOption, chosen_documents
from cocli.cli.kit.context import Call
from cocli.cli.kit.options import CAMPAIGN, JSON, QUIET, STORE, examples, shared
from cocli.cli.kit.serving import stopped_by_signals

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping
    from typing import BinaryIO

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
    host: Annotated[
        str | None,
        typer.Option(
            "--host", metavar="NAME", help="The name of this machine. [default: its host name]", show_default=False
        ),
    ] = None,
    supervised: Annotated[
        bool, typer.Option("--supervised", help="Report to a supervisor, and end with it.", hidden=True)
    ] = False,
) -> None:
    """Work for nodes of a graph: take the references that are sent to them, run the graph from there, send on.

    Messages come as events of [documents] says: from the campaign's queues, or from Kafka. Any number of machines may
    work for a node. Ctrl-C or SIGTERM ends what is in hand, and takes nothing more. A supervisor runs as many of them
    as [workers.HOST] says. The node "intake" takes what comes in for an edition that subscribed to it.
    """
    from cocli.app.documents.events import relaying
    from cocli.app.documents.jobs import DEFAULT_GRAPH
    from cocli.app.documents.nodes import NodeWorkOptions, work_for_nodes
    from cocli.fleet.worker_name import worker_name

    output = call.output
    stop = stopped_by_signals()
    tell = None
    if supervised:
        output = replace(output, quiet=True)
        end_with_supervisor(call.stdin, stop)
    with chosen_documents(call) as documents:
        options = NodeWorkOptions(
            nodes, graph or DEFAULT_GRAPH, edition or documents.edition, worker_name(host), until_empty=until_empty
        )
        if supervised:
            tell = _report_to(output, options.worker, stop)
        output.talk(f"Working for {', '.join(nodes)} in {options.edition}. Ctrl-C ends it.")
        with relaying(documents):
            tallies = work_for_nodes(documents, options, stop, on_look=tell)
    if tell is not None:
        tell(tallies)
        return
    if output.as_json:
        output.document({"cluster": options.edition, "nodes": _documents(tallies)})
        return
    _show(output, tallies)


def end_with_supervisor(stream: BinaryIO, stop: threading.Event) -> None:
    """Stop once whoever started this process is gone."""
    from cocli.fleet.drain import at_the_end_of

    at_the_end_of(stream, stop.set)


def _report_to(output: Output, worker: str, stop: threading.Event) -> Callable[[Mapping[str, NodeTally]], None]:
    """One line of JSON for the supervisor whenever something changed."""
    from cocli.app.documents.nodes import node_report
    from cocli.formats import json_records

    before: dict[str, object] = {}

    def tell(tallies: Mapping[str, NodeTally]) -> None:
        for node, tally in tallies.items():
            report = node_report(node, worker, tally)
            if report == before.get(node):
                continue
            before[node] = report
            try:
                output.stdout.write(json_records.render(report).decode())
                output.stdout.flush()
            except OSError:  # the supervisor is gone: nobody wants this work any more
                stop.set()

    return tell


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
