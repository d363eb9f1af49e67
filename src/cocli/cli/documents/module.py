"""The command of `cocli documents` that serves nodes to others by gRPC: module."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from cocli.cli.documents.options import GraphOption, chosen_documents
from cocli.cli.kit.context import Call
from cocli.cli.kit.options import CAMPAIGN, QUIET, STORE, examples, shared
from cocli.cli.kit.serving import stopped_by_signals

app = typer.Typer()


@app.command(
    epilog=examples(
        "cocli documents module emails --graph contacts.toml --port 9100 -c plumbers",
        "cocli documents module emails phones --graph my_package.graphs:contacts --host 10.0.0.5 -c plumbers",
    )
)
@shared(CAMPAIGN, STORE, QUIET)
def module(
    call: Call,
    nodes: Annotated[list[str], typer.Argument(metavar="NODE…", help="The nodes to serve.")],
    graph: GraphOption = None,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="N", min=0, max=65_535, help="0 takes one that is free.")] = 0,
    workers: Annotated[int, typer.Option("--workers", metavar="N", min=1, max=256, help="Documents at a time.")] = 4,
) -> None:
    """Serve nodes of a graph by gRPC, for graphs elsewhere that name this address as where they run. Until Ctrl-C.

    Prints where it listens. The caller saves and routes what comes back; this process stores nothing. Beyond this
    machine it needs the certificate of [documents], and a secret in COCLI_MODULE_TOKEN that callers have as well.
    """
    from cocli.app.documents.jobs import DEFAULT_GRAPH
    from cocli.documents.graph.remote import TOKEN
    from cocli.documents.replay.engines.workplace import make_graph
    from cocli.service.documents.module import ModuleSettings, serving_module
    from cocli.service.listener import load_tls

    output, stop = call.output, stopped_by_signals()
    with chosen_documents(call) as documents:
        made = make_graph(graph or DEFAULT_GRAPH, {}, here=nodes)
        settings = ModuleSettings(host, port, nodes, workers, os.environ.get(TOKEN), load_tls(documents.section))
        with serving_module(made, documents.repository, settings, documents.store.now) as address:
            output.line(f"module {address}")
            output.stdout.flush()
            while not stop.wait(1.0):
                pass
