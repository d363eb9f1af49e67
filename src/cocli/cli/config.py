"""`cocli config`: show; and set, unset, edit for the user's file."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import (
    CAMPAIGN_ARGUMENT,
    JSON,
    QUIET,
    STORE,
    command_group,
    examples,
    shared,
)

if TYPE_CHECKING:
    from cocli.config.edit import ConfigChange

app = command_group("Show the settings, and where each value comes from; change your own defaults.")


def _complete_setting(incomplete: str) -> list[str]:
    from cocli.config.schema import settings

    return [setting.name for setting in settings() if setting.name.startswith(incomplete)]


_Origin = Annotated[bool, typer.Option("--origin", help="Say where each value came from: flag, variable, file:line.")]
_Changed = Annotated[bool, typer.Option("--changed", help="Leave out settings that have their default.")]


@app.command(
    epilog=examples(
        "cocli config show", "cocli config show plumbers --origin", "cocli config show plumbers --changed --json"
    )
)
@shared(CAMPAIGN_ARGUMENT, STORE, JSON, QUIET)
def show(call: Call, origin: _Origin = False, changed: _Changed = False) -> None:
    """Show every setting of a campaign; without a campaign, the settings that hold for all.

    A value comes from the first of: flag, environment, the campaign's file, your own file, default. Credentials inside
    addresses are not shown.
    """
    from cocli.app.settings import show_settings

    output = call.output
    with call.workspace() as workspace:
        rows = show_settings(workspace, call.campaign)
    rows = [row for row in rows if not (changed and row.is_default)]
    if output.as_json:
        output.document({"settings": [asdict(row) for row in rows]})
    elif origin:
        output.table(("setting", "value", "origin"), [(row.name, row.value, row.origin) for row in rows])
    else:
        output.table(("setting", "value"), [(row.name, row.value) for row in rows])


_Key = Annotated[
    str, typer.Argument(metavar="KEY", help="The setting, such as fetch.rate.", autocompletion=_complete_setting)
]


@app.command(
    "set",
    epilog=examples(
        "cocli config set fetch.rate 0.5",
        'cocli config set campaign.company "Example Ltd"',
        "cocli config set workers.raspberry.enrichment 4",
    ),
)
@shared(JSON, QUIET)
def set_(
    call: Call, key: _Key, value: Annotated[str, typer.Argument(metavar="VALUE", help="Text, or a value of TOML.")]
) -> None:
    """Set one of your own defaults, in the user file. Comments and order stay as they are.

    A campaign's own file goes before it: change that with `cocli campaign edit`.
    """
    from cocli.config.edit import parse_setting

    _change(call, parse_setting(key, value))


@app.command(epilog=examples("cocli config unset fetch.rate"))
@shared(JSON, QUIET)
def unset(call: Call, key: _Key) -> None:
    """Take a setting out of the user file."""
    from cocli.config.edit import parse_unset

    _change(call, parse_unset(key))


@app.command(epilog=examples("cocli config edit"))
@shared(JSON, QUIET)
def edit(call: Call) -> None:
    """Open the user file in $EDITOR. What does not fit the schema is refused, and the file stays as it was."""
    from functools import partial

    from cocli.app.user_file import read_user_file, replace_user_file
    from cocli.cli.kit.editor import edit_draft, need_terminal

    need_terminal(call.output, "cocli config set KEY VALUE")
    before = read_user_file(call.environ)
    save = partial(replace_user_file, call.environ, before)
    _report(call, before.name, changed=edit_draft(call.output, call.environ, "user", before.text, save))


def _change(call: Call, change: ConfigChange) -> None:
    from cocli.app.user_file import edit_user_file
    from cocli.config.places import user_file

    _report(call, user_file(call.environ), changed=edit_user_file(call.environ, [change]))


def _report(call: Call, path: str, *, changed: bool) -> None:
    output = call.output
    if output.as_json:
        output.document({"path": path, "status": "changed" if changed else "already_so"})
        return
    output.line(path)
    output.talk("Changed." if changed else "already_so: nothing to change.")
    output.hint("cocli config show --origin --changed")
