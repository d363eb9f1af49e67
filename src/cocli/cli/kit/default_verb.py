"""A noun whose most used verb need not be said: `cocli sync plumbers` beside `cocli sync push`."""

from __future__ import annotations

from typing import Any

import typer

from cocli.cli.kit.options import QuickGroup


class DefaultVerbGroup(QuickGroup):
    """What is no verb belongs to the default one, which is a hidden command of the group."""

    default_verb = ""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.context_settings = {**self.context_settings, "ignore_unknown_options": True}  # they are the verb's

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        completes = ctx.resilient_parsing  # a shell that asks after the noun is told the verbs
        return list(super().parse_args(ctx, args if args or completes else [self.default_verb]))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        word = args[0]
        if word in self.commands and word != self.default_verb:
            return super().resolve_command(ctx, args)
        rest = args[1:] if word == self.default_verb else args
        return "", self.commands[self.default_verb], rest

    def default_command(self) -> Any:
        """What is run where no verb was said."""
        return self.commands[self.default_verb]

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [*self.default_command().collect_usage_pieces(ctx), "| COMMAND [ARGS]..."]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        self.default_command().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        self.default_command().format_epilog(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        found = super().shell_complete(ctx, incomplete)
        known = {item.value for item in found}
        more = self.default_command().shell_complete(ctx, incomplete)
        return [*found, *(item for item in more if item.value not in known)]


def group_with_default(summary: str, verb: str) -> typer.Typer:
    """A noun with verbs, of which `verb` is meant where none is said."""
    kind = type("NounWithDefault", (DefaultVerbGroup,), {"default_verb": verb})
    group = typer.Typer(cls=kind, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

    @group.callback(help=summary)
    def nothing_before_the_verb() -> None:
        """The options belong to the verbs."""

    return group
