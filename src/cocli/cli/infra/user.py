"""`cocli infra user`: add, rm."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from cocli.cli.infra.account import account_of
from cocli.cli.kit.context import Call
from cocli.cli.kit.options import JSON, QUIET, STORE, YES, CampaignArgument, command_group, examples, shared
from cocli.errors import UsageError

app = command_group("Who may log in to the dashboard that infra deployed: add, rm.")

_User = Annotated[str, typer.Argument(metavar="EMAIL", help="The e-mail address of the user.")]


@app.command(
    epilog=examples(
        "cocli infra user add plumbers anna@example.com --password-file anna.txt",
        'cocli infra user add plumbers anna@example.com --role editor --password-to "pass insert -m cocli/anna"',
    )
)
@shared(STORE, JSON, QUIET)
def add(
    call: Call,
    name: CampaignArgument,
    email: _User,
    role: Annotated[str, typer.Option("--role", help="viewer, editor or admin")] = "viewer",
    password_file: Annotated[
        Path | None,
        typer.Option(
            "--password-file", metavar="FILE", help="A new file for the one-time password.", show_default=False
        ),
    ] = None,
    password_to: Annotated[
        str | None,
        typer.Option(
            "--password-to",
            metavar="COMMAND",
            help="A command that takes the one-time password from its standard input.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Add a user with a one-time password, which is handed over once and never shown.

    It is changed at the first login, and holds for three days. A user who is there already only gets the role.
    """
    from cocli.app.infra import password as handing
    from cocli.app.infra.users import USER_ROLES, add_user

    if role not in USER_ROLES:
        raise UsageError(reason=f'"{role}" is no role', hint=f"Roles are {', '.join(USER_ROLES)}.")
    if (password_file is None) == (password_to is None):
        raise UsageError(
            reason="where does the password go?", hint="Give one of --password-file FILE and --password-to COMMAND."
        )
    with call.workspace() as workspace:
        account = account_of(workspace, name)
        if password_file is not None:
            descriptor = handing.password_file(password_file)
            try:
                user = add_user(account, name, email, role, partial(handing.write_password, descriptor))
            except BaseException:
                password_file.unlink(missing_ok=True)
                raise
            if user.status != "added":
                password_file.unlink(missing_ok=True)
        else:
            words = handing.secret_command(password_to or "")
            user = add_user(account, name, email, role, partial(handing.tell_command, words))
    if call.output.as_json:
        call.output.document({"user": user._asdict()})
    else:
        call.output.line(user.email)
        call.output.talk(f"{user.status}: {user.email} in {user.group}.")


@app.command(epilog=examples("cocli infra user rm plumbers anna@example.com --yes"))
@shared(YES, STORE, JSON, QUIET)
def rm(call: Call, name: CampaignArgument, email: _User) -> None:
    """Remove a user: every login ends at once, but for cookies of the dashboard, which hold for 12 hours at most."""
    from cocli.app.infra.users import remove_user
    from cocli.cli.kit.confirm import confirm

    output = call.output
    with call.workspace() as workspace:
        account = account_of(workspace, name)
        if not confirm(output, f"Remove {email} from the users of {name}?", yes=call.yes):
            output.talk("Nobody was removed.")
            raise typer.Exit(1)
        user = remove_user(account, name, email)
    if output.as_json:
        output.document({"user": user._asdict()})
    else:
        output.talk(f"{user.status}: {user.email}.")
