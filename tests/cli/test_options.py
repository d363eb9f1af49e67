"""The options that commands share: declared once, in one order, and packed into the call that a command gets."""

from __future__ import annotations

import ast
import io
from pathlib import Path
from typing import Any

import pytest

from cocli.cli import kit
from cocli.cli.kit import options
from cocli.cli.kit.context import Call
from cocli.cli.kit.options import CAMPAIGN, CAMPAIGN_ARGUMENT, DRY_RUN, JSON, QUIET, STORE, YES, shared, single_command
from cocli.cli.kit.output import Output
from cocli.cli.kit.reference import commands

FLAGS = ("--dry-run", "--yes", "--campaign", "--store", "--json", "--quiet")
CLI = Path(kit.__file__).parent.parent


def call(environ: dict[str, str] | None = None) -> Call:
    return Call(environ or {}, Output(io.StringIO(), io.StringIO()), io.BytesIO(), io.BytesIO())


def run(command: Any, *words: str, environ: dict[str, str] | None = None) -> None:
    app = single_command()
    app.command()(command)
    app(list(words), standalone_mode=False, obj=call(environ))


def test_shared_options_stand_behind_the_own_ones_in_one_order() -> None:
    seen = 0
    for path, command, _ in commands():
        if hasattr(command, "list_commands"):
            continue
        names = [parameter.opts[0] for parameter in command.params if parameter.param_type_name == "option"]
        common = [name for name in names if name in FLAGS]
        visible = [name for name in names if name not in ("--help", "--supervised")]
        assert common == [flag for flag in FLAGS if flag in common], path
        assert visible[len(visible) - len(common) :] == common, path
        seen += len(common)
    assert seen > 300


def test_no_command_declares_a_shared_option_itself() -> None:
    spelled = []
    for file in CLI.rglob("*.py"):
        if file == Path(options.__file__):
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "typer.Option":
                words = {word.value for word in node.args if isinstance(word, ast.Constant)}
                spelled += [(file.name, flag) for flag in FLAGS if flag in words]
    assert spelled == []


def test_a_command_gets_one_call_with_the_values_and_its_own_options() -> None:
    got: list[tuple[Call, str, int]] = []

    @shared(QUIET, JSON, STORE, CAMPAIGN, YES, DRY_RUN)
    def command(call: Call, name: str, limit: int = 5) -> None:
        """What it does."""
        got.append((call, name, limit))

    run(command, "x", "--limit", "3", "-c", "plumbers", "--store", "memory://", "--json", "-q", "-y", "--dry-run")
    run(command, "y")
    (first, *own), (second, *_) = got
    assert own == ["x", 3]
    assert (first.campaign, first.store, first.dry_run, first.yes) == ("plumbers", "memory://", True, True)
    assert (first.output.as_json, first.output.quiet) == (True, True)
    assert (second.campaign, second.store, second.dry_run, second.yes) == (None, None, False, False)
    assert (second.output.as_json, second.output.quiet) == (False, False)


@pytest.mark.parametrize(
    ("words", "environ", "campaign"),
    [
        (["a", "-c", "b"], {"CAMPAIGN_NAME": "c"}, "a"),
        (["-c", "b"], {"CAMPAIGN_NAME": "c"}, "b"),
        ([], {"CAMPAIGN_NAME": "c"}, "c"),
        (["-c", ""], {"CAMPAIGN_NAME": "c"}, "c"),
        ([], {"CAMPAIGN_NAME": ""}, None),
    ],
)
def test_the_campaign_is_the_argument_then_the_option_then_the_environment(
    words: list[str], environ: dict[str, str], campaign: str | None
) -> None:
    got: list[str | None] = []

    @shared(CAMPAIGN_ARGUMENT, CAMPAIGN)
    def command(call: Call) -> None:
        got.append(call.campaign)

    run(command, *words, environ=environ)
    assert got == [campaign]


def test_a_command_without_campaigns_has_none_whatever_the_environment_says() -> None:
    got: list[str | None] = []

    @shared(JSON)
    def command(call: Call) -> None:
        got.append(call.flags.campaign)

    run(command, environ={"CAMPAIGN_NAME": "c"})
    assert got == [None]


def test_a_signature_is_made_only_for_the_command_that_is_used() -> None:
    @shared(JSON)
    def command(call: Call, wrong: NoSuchType) -> None:  # type: ignore[name-defined]  # noqa: F821
        """Fails as soon as somebody asks for its parameters."""

    app = single_command()
    app.command()(command)
    with pytest.raises(NameError, match="NoSuchType"):
        app([], standalone_mode=False, obj=call())
