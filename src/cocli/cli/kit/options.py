"""The options that commands share, with one spelling and one meaning each; and how a command is declared."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup


def complete_campaign(incomplete: str) -> list[str]:
    """Campaign names for the shell."""
    from cocli.cli.campaign.completion import campaign_names

    return [name for name in campaign_names() if name.startswith(incomplete)]


CampaignArgument = Annotated[
    str, typer.Argument(metavar="CAMPAIGN", help="The campaign's name.", autocompletion=complete_campaign)
]
OptionalCampaignArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="CAMPAIGN",
        help="The campaign's name. [env: CAMPAIGN_NAME]",
        autocompletion=complete_campaign,
        show_default=False,
    ),
]
CampaignOption = Annotated[
    str | None,
    typer.Option(
        "--campaign",
        "-c",
        metavar="CAMPAIGN",
        help="The campaign to work on. [env: CAMPAIGN_NAME]",
        autocompletion=complete_campaign,
        show_default=False,
    ),
]
StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL",
        help="A folder, s3://bucket/prefix?endpoint=… or memory://. [env: COCLI_STORE]",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No talk on stderr; errors are still shown.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")]


class QuickGroup(TyperGroup):
    """A group whose help is quick: typer loads pydantic, a tenth of a second, as soon as it has a value to convert."""

    def get_help_option(self, ctx: Any) -> Any:
        option = super().get_help_option(ctx)
        if option is not None:
            option.default = False  # without a default, "no --help here" is a None to be converted
        return option


def command_group(summary: str) -> typer.Typer:
    """A noun with verbs. Without a verb it shows its help."""
    group = typer.Typer(cls=QuickGroup, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

    @group.callback(invoke_without_command=True, help=summary)
    def show_help(ctx: typer.Context) -> None:
        if ctx.invoked_subcommand is None:
            typer.echo(ctx.get_help())

    return group


def single_command() -> typer.Typer:
    """A noun that is a command itself."""
    return typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


def examples(*lines: str) -> str:
    """The end of a command's help. The backspace keeps the parser from wrapping the lines into a paragraph."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
