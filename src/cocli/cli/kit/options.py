"""The options that commands share, with one spelling and one meaning each; and how a command is declared.

    @app.command(epilog=examples("cocli company ls"))
    @shared(CAMPAIGN, STORE, JSON, QUIET)
    def ls(call: Call, tag: OneTagOption = None) -> None:

`shared` gives the command the options `--campaign`, `--store`, `--json` and `--quiet`. They stand behind its own
options, on every command in the same order, and the command finds their values in `call`.

Options that only the verbs of one noun share are an `OptionSet`: a verb has one parameter of it, and gets them all.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, replace
from functools import update_wrapper
from typing import Annotated, Any, Concatenate, NamedTuple, ParamSpec, cast, get_args, get_type_hints

import typer
from typer.core import TyperGroup

from cocli.cli.kit.context import Call, call_of
from cocli.cli.kit.stored_names import complete_campaign
from cocli.errors import UsageError

Own = ParamSpec("Own")
_LARGEST = 10**12


CampaignArgument = Annotated[
    str, typer.Argument(metavar="CAMPAIGN", help="The campaign's name.", autocompletion=complete_campaign)
]
"""A campaign that has to be named. What a command has as its own `name` with `DefaultCampaign` need not be."""
DefaultCampaign = Annotated[
    str,
    typer.Argument(
        metavar="CAMPAIGN",
        help="The campaign's name. [env: CAMPAIGN_NAME; else the one in use, or the only one]",
        autocompletion=complete_campaign,
        show_default=False,
    ),
]


class OptionSet:
    """Options that several verbs have, as the fields of a dataclass that is derived from this one."""

    __slots__ = ()


class SharedOption(NamedTuple):
    """A parameter that commands share: its name in `Call.with_options`, how typer reads it, and its default."""

    name: str
    annotation: Any
    default: object


CAMPAIGN_ARGUMENT = SharedOption(
    "campaign_argument",
    Annotated[
        str | None,
        typer.Argument(
            metavar="CAMPAIGN",
            help="The campaign's name. [env: CAMPAIGN_NAME]",
            autocompletion=complete_campaign,
            show_default=False,
        ),
    ],
    None,
)
DRY_RUN = SharedOption(
    "dry_run", Annotated[bool, typer.Option("--dry-run", help="Only show what would be done.")], False
)
YES = SharedOption("yes", Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")], False)
CAMPAIGN = SharedOption(
    "campaign",
    Annotated[
        str | None,
        typer.Option(
            "--campaign",
            "-c",
            metavar="CAMPAIGN",
            help="The campaign to work on. [env: CAMPAIGN_NAME]",
            autocompletion=complete_campaign,
            show_default=False,
        ),
    ],
    None,
)
CAMPAIGNS = SharedOption(
    "campaigns",
    Annotated[
        list[str] | None,
        typer.Option(
            "--campaign",
            "-c",
            metavar="CAMPAIGN",
            help="A campaign to work for; may be given several times. [env: CAMPAIGN_NAME] "
            "[default: all whose file has workers for this host]",
            autocompletion=complete_campaign,
            show_default=False,
        ),
    ],
    None,
)
STORE = SharedOption(
    "store",
    Annotated[
        str | None,
        typer.Option(
            "--store",
            metavar="URL",
            help="A folder, s3://bucket/prefix?endpoint=… or memory://. [env: COCLI_STORE]",
            show_default=False,
        ),
    ],
    None,
)
JSON = SharedOption("json", Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")], False)
QUIET = SharedOption(
    "quiet",
    Annotated[bool, typer.Option("--quiet", "-q", help="No messages on stderr, except errors.")],
    False,
)
_ORDER = (CAMPAIGN_ARGUMENT, DRY_RUN, YES, CAMPAIGN, CAMPAIGNS, STORE, JSON, QUIET)


def shared(*options: SharedOption) -> Callable[[Callable[Concatenate[Call, Own], None]], Callable[..., None]]:
    """Give a command shared options. It is called with one `Call` that has their values, and with its own options."""

    def attach(function: Callable[Concatenate[Call, Own], None]) -> Callable[..., None]:
        return _SharingCommand(function, tuple(option for option in _ORDER if option in options))

    return attach


class _SharingCommand:
    """A command as typer sees it. Its signature is made when typer asks: of a noun, only one command is used."""

    def __init__(self, function: Callable[..., None], options: tuple[SharedOption, ...]) -> None:
        update_wrapper(self, function)
        self.__annotations__: dict[str, Any] = {}  # typer takes the signature's annotations, which are no strings
        self._function = function
        self._options = options

    @property
    def __signature__(self) -> inspect.Signature:
        _, *own = inspect.signature(self._function, eval_str=True).parameters.values()
        kind = inspect.Parameter.KEYWORD_ONLY
        context = inspect.Parameter("ctx", kind, annotation=typer.Context)
        given = [
            inspect.Parameter(option.name, kind, default=option.default, annotation=option.annotation)
            for option in self._options
        ]
        first = [parameter for parameter in given if parameter.name == CAMPAIGN_ARGUMENT.name]
        own = [_optional_campaign(parameter.replace(kind=kind)) for parameter in _spread(own)]
        return inspect.Signature([context, *first, *own, *(given[len(first) :])])

    def __call__(self, ctx: typer.Context, **values: Any) -> None:
        given = {option.name: values.pop(option.name) for option in self._options}
        _check_values(ctx, values)
        defaulted = [name for name, kind in self._own_annotations() if kind is DefaultCampaign]
        if any(values[name] is None for name in defaulted):
            given[CAMPAIGN_ARGUMENT.name] = None
        call = replace(call_of(ctx).with_options(given), command=_words_of(ctx))
        values.update({name: call.needed_campaign() for name in defaulted if values[name] is None})
        for name, options in self._own_annotations():
            if _is_set(options):
                values[name] = options(**{field.name: values.pop(field.name) for field in fields(options)})
        self._function(call, **values)

    def _own_annotations(self) -> list[tuple[str, Any]]:
        parameters = inspect.signature(self._function, eval_str=True).parameters.values()
        return [(parameter.name, parameter.annotation) for parameter in parameters]


def _is_set(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, OptionSet)


def _spread(own: list[inspect.Parameter]) -> list[inspect.Parameter]:
    """The parameters of a verb, with the options of a set in the place of the set: behind those of its own."""
    plain = [parameter for parameter in own if not _is_set(parameter.annotation)]
    kind = inspect.Parameter.KEYWORD_ONLY
    for options in (parameter.annotation for parameter in own if _is_set(parameter.annotation)):
        hints = get_type_hints(options, include_extras=True)
        plain += [
            inspect.Parameter(field.name, kind, default=field.default, annotation=hints[field.name])
            for field in fields(options)
        ]
    return plain


def _words_of(ctx: typer.Context) -> str:
    """The words by which a command was found, from the noun on."""
    words, place = list[str](), cast("Any", ctx)
    while place.parent is not None:
        words.insert(0, place.info_name or "")
        place = place.parent
    return " ".join(words)


def _check_values(ctx: typer.Context, values: dict[str, Any]) -> None:
    """No command means numbers that no machine counts to, what is no number (`nan`), or a campaign without a name."""
    for parameter in ctx.command.params:
        value = values.get(parameter.name or "")
        if isinstance(value, int | float) and not abs(value) <= _LARGEST:
            raise UsageError(reason=f"{parameter.opts[0]}: {value:.4g} is no number that can be meant")
        if value == "" and getattr(parameter, "metavar", None) == "CAMPAIGN":
            raise UsageError(
                reason='"" is no name of a campaign: it is empty', hint="List them with: cocli campaign list"
            )


def _optional_campaign(parameter: inspect.Parameter) -> inspect.Parameter:
    if parameter.annotation is not DefaultCampaign:
        return parameter
    kind, argument = get_args(DefaultCampaign)
    return parameter.replace(annotation=Annotated[kind | None, argument], default=None)


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
