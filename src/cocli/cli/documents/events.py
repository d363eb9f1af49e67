"""The commands of `cocli documents` about what is sent to nodes: events, subscribe, unsubscribe, subscriptions,
recrawl."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.documents.options import chosen_documents
from cocli.cli.kit.context import Call
from cocli.cli.kit.options import CAMPAIGN, DRY_RUN, JSON, QUIET, STORE, examples, shared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.cli.kit.output import Output
    from cocli.documents.catalog.outbox_table import UnsentEvents
    from cocli.documents.catalog.routes_table import Route

app = typer.Typer()

DatasourceArgument = Annotated[str, typer.Argument(metavar="DATASOURCE", help="The datasource's id.")]
SubscriberOption = Annotated[
    str | None,
    typer.Option("--edition", metavar="NAME", help="The edition that subscribes.", show_default="the campaign's"),
]


@app.command(
    epilog=examples(
        "cocli documents events -c plumbers",
        "cocli documents events --retry pipestream.main.parse -c plumbers",
        "cocli documents events --drop pipestream.main.parse -c plumbers",
        "cocli documents events --resend pipestream.main.parse --minutes 20 -c plumbers",
    )
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def events(
    call: Call,
    retry: Annotated[
        str | None,
        typer.Option("--retry", metavar="DESTINATION", help="Send what was set aside once more.", show_default=False),
    ] = None,
    drop: Annotated[
        str | None,
        typer.Option("--drop", metavar="DESTINATION", help="Forget what was set aside.", show_default=False),
    ] = None,
    resend: Annotated[
        str | None,
        typer.Option(
            "--resend", metavar="DESTINATION", help="Send what was sent lately once more.", show_default=False
        ),
    ] = None,
    minutes: Annotated[
        int, typer.Option("--minutes", min=1, max=60, help="With --resend: how far back, an hour at most.")
    ] = 60,
) -> None:
    """Show what waits to be sent to nodes, by destination, and what was set aside because it could not be sent.

    An event that cannot be sent is tried five times, later and later, and then set aside, alone. More events than
    max_waiting_events of [documents] may not wait: a save that needs one more is refused until some were sent.

    A broker that lost messages in a power cut gets them back with --resend, under the same ids. What was done already
    is not done again.
    """
    output = call.output
    with chosen_documents(call) as documents:
        outbox, account = documents.repository.catalog.outbox, documents.account
        if retry is not None:
            output.talk(f"{outbox.retry(account, retry):,} events to {retry} are sent once more.")
        if drop is not None:
            output.talk(f"{outbox.drop(account, drop):,} events to {drop} were forgotten.")
        if resend is not None:
            since = documents.store.now() - timedelta(minutes=minutes)
            output.talk(f"{outbox.resend(account, resend, since):,} events to {resend} are sent once more.")
        found = [unsent for unsent in outbox.by_destination() if unsent.account == account]
        most = documents.section.max_waiting_events
    if output.as_json:
        output.document({"account": account, "max_waiting_events": most, "destinations": _unsent(found)})
        return
    rows = [
        (
            unsent.destination,
            unsent.waiting,
            unsent.set_aside,
            f"{unsent.since:%Y-%m-%d %H:%M}",
            unsent.last_error or "",
        )
        for unsent in found
    ]
    output.table(("destination", "waiting", "set aside", "since", "last error"), rows, right=("waiting", "set aside"))


def _unsent(found: Sequence[UnsentEvents]) -> list[dict[str, object]]:
    return [
        {
            "destination": unsent.destination,
            "waiting": unsent.waiting,
            "set_aside": unsent.set_aside,
            "since": unsent.since,
            "attempts": unsent.attempts,
            "last_error": unsent.last_error,
        }
        for unsent in found
    ]


@app.command(epilog=examples("cocli documents subscribe 9a6fbd55f7df4b88 --edition staging -c plumbers"))
@shared(CAMPAIGN, STORE, JSON, QUIET)
def subscribe(call: Call, datasource: DatasourceArgument, edition: SubscriberOption = None) -> None:
    """Subscribe an edition to a datasource: it gets all documents that are there, and all that come in.

    What is there is sent by whoever relays: documents serve, and every worker. The documents wait for workers of the
    edition: cocli documents work intake. Once more changes nothing.
    """
    from cocli.app.documents.events import subscribe

    output = call.output
    with chosen_documents(call) as documents:
        route = subscribe(documents, datasource, edition or documents.edition)
        options = documents.options
    if output.as_json:
        output.document(_route(route))
        return
    output.talk(f"{route.edition} gets what comes in from {datasource}, and all that is there.")
    output.hint(f"cocli documents work intake --edition {route.edition}{options}")


@app.command(epilog=examples("cocli documents unsubscribe 9a6fbd55f7df4b88 --edition staging -c plumbers"))
@shared(CAMPAIGN, STORE, JSON, QUIET)
def unsubscribe(call: Call, datasource: DatasourceArgument, edition: SubscriberOption = None) -> None:
    """End a subscription: nothing more is sent. What was sent already stays where it is."""
    from cocli.app.documents.events import unsubscribe

    with chosen_documents(call) as documents:
        name = edition or documents.edition
        unsubscribe(documents, datasource, name)
    if call.output.as_json:
        call.output.document({"datasource": datasource, "edition": name, "status": "unsubscribed"})
        return
    call.output.talk(f"{name} gets nothing more from {datasource}.")


@app.command(epilog=examples("cocli documents subscriptions -c plumbers --json"))
@shared(CAMPAIGN, STORE, JSON, QUIET)
def subscriptions(call: Call) -> None:
    """List which editions subscribed to which datasources, and how far they have caught up."""
    from cocli.app.documents.events import routes_of

    output = call.output
    with chosen_documents(call) as documents:
        routes = routes_of(documents)
    _show_routes(output, routes)


@app.command(
    epilog=examples(
        "cocli documents recrawl 9a6fbd55f7df4b88 -c plumbers",
        "cocli documents recrawl 9a6fbd55f7df4b88 --edition staging --dry-run -c plumbers",
    )
)
@shared(CAMPAIGN, STORE, JSON, QUIET, DRY_RUN)
def recrawl(
    call: Call,
    datasource: DatasourceArgument,
    edition: Annotated[
        str | None,
        typer.Option("--edition", metavar="NAME", help="Only for this edition.", show_default=False),
    ] = None,
) -> None:
    """Send all documents of a datasource once more to the editions that subscribed to it. Nothing is fetched.

    Steps that were done with the same input and code are not done again: a node with a new version is. To fetch anew
    is the work of the stages.
    """
    from cocli.app.documents.events import recrawl, routes_of

    output = call.output
    with chosen_documents(call) as documents:
        if call.dry_run:
            routes = [route for route in routes_of(documents, datasource) if edition in (None, route.edition)]
        else:
            routes = recrawl(documents, datasource, edition)
    _show_routes(output, routes)


def _show_routes(output: Output, routes: Sequence[Route]) -> None:
    if output.as_json:
        output.document({"subscriptions": [_route(route) for route in routes]})
        return
    rows = [
        (route.datasource, route.edition, _state(route), route.seeded, f"{route.since:%Y-%m-%d}") for route in routes
    ]
    output.table(("datasource", "edition", "state", "sent at first", "since"), rows, right=("sent at first",))


def _state(route: Route) -> str:
    return "live" if route.behind_doc is None else "catching up"


def _route(route: Route) -> dict[str, object]:
    return {
        "datasource": route.datasource,
        "edition": route.edition,
        "state": _state(route),
        "seeded": route.seeded,
        "recrawls": route.generation,
        "since": route.since,
    }
