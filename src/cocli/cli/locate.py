"""`cocli locate`"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import CAMPAIGN, JSON, QUIET, STORE, examples, shared, single_command

app = single_command()


def _complete_kind(incomplete: str) -> list[str]:
    from cocli.app.locate import KINDS

    return [kind for kind in KINDS if kind.startswith(incomplete)]


_Kind = Annotated[
    str | None,
    typer.Argument(
        metavar="KIND",
        help="data-home, config, store, campaign, queue, index, company, person, domain, email or key.",
        autocompletion=_complete_kind,
        show_default=False,
    ),
]
_Name = Annotated[
    str | None,
    typer.Argument(metavar="NAME", help="Its name.", show_default=False),
]


@app.command(
    epilog=examples(
        "cocli locate",
        "cocli locate campaign plumbers",
        "cocli locate queue gm-list --campaign plumbers",
        "cocli locate company acme-plumbing",
        'ls "$(cocli locate data-home)"',
    )
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def locate(call: Call, kind: _Kind = None, name: _Name = None) -> None:
    """Print where something is stored: a path, or an address in a bucket. Without a kind: the main places."""
    from cocli.app.locate import explain_key, locate, overview

    output = call.output
    with call.workspace() as workspace:
        if kind is None:
            places = overview(workspace)
            if output.as_json:
                output.document({"locations": [asdict(place) for place in places]})
            else:
                output.table(("what", "path"), [(place.what, place.path) for place in places])
            return
        place = locate(workspace, kind, name, call.campaign)
    details = explain_key(place.key) if kind == "key" and place.key else {}
    if output.as_json:
        output.document({"location": asdict(place), **({"key": details} if details else {})})
        return
    output.line(place.path)
    if details:
        output.talk(", ".join(f"{field}: {value}" for field, value in details.items()))
    if not place.exists:
        output.talk("It is not there yet.")
