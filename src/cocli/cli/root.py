"""Runs one command: finds the noun's module, gives it its context, and turns the outcome into text and an exit code."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from copy import copy
from dataclasses import replace
from io import StringIO, TextIOWrapper
from typing import Any, BinaryIO, cast

import typer

from cocli.cli import COMPLETION_VARIABLE
from cocli.cli.kit.context import Call
from cocli.cli.kit.errors import from_parser, from_system, from_words, report_error, report_unforeseen
from cocli.cli.kit.global_options import with_global_options
from cocli.cli.kit.options import QuickGroup
from cocli.cli.kit.output import Output
from cocli.cli.nouns import NOUNS, overview
from cocli.cli.older_names import in_new_words
from cocli.errors import CocliError, UsageError
from cocli.exit_codes import ExitCode


class ReaderGone(Exception):
    """Nobody reads our output any more (`cocli … | head`). Wrapped, because the parser has its own idea of it."""


class NounGroup(QuickGroup):
    """The root command. A noun's module is imported when the noun is used."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002  the parser's signature
        return [name for name, _, _, _ in NOUNS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        return _command(cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        word = args[0]
        if word.startswith("-"):
            return super().resolve_command(ctx, args)
        if word not in self.list_commands(ctx):
            raise _unknown_command(word, self.list_commands(ctx))
        return word, _command(word, *args[1:2]), args[1:]

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        formatter.write(overview())

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise ReaderGone from error


def _command(noun: str, verb: str | None = None) -> Any:
    """The command of a noun; None where there is no such noun. Where the verb is known, the others are left out."""
    for name, _, module, summary in NOUNS:
        if name == noun:
            app = importlib.import_module(f"cocli.cli.{module}").app
            command = typer.main.get_command(_narrowed(app, verb) if verb else app)
            command.name = name
            command.short_help = summary
            return command
    return None


def _narrowed(app: typer.Typer, verb: str) -> typer.Typer:
    """A noun with one of its verbs, if it has that one: to build the options of all takes longer than most commands."""
    apps = [app, *(group.typer_instance for group in app.registered_groups if group.typer_instance)]
    found = [info for noun in apps for info in noun.registered_commands if _name_of(info) == verb]
    if not found or app.registered_callback is None:
        return app
    narrowed = copy(app)
    narrowed.registered_commands, narrowed.registered_groups = found, []
    return narrowed


def _name_of(info: Any) -> str:
    return str(info.name or typer.main.get_command_name(info.callback.__name__))


def build_root() -> Any:
    """The root command, with all nouns below it."""
    root = typer.Typer(
        name="cocli",
        cls=NounGroup,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @root.callback()
    def nothing_before_the_noun() -> None:
        """Options stand behind the verb; the root has only --help and --version, which `main` answers."""

    return typer.main.get_command(root)


def run(arguments: list[str], environ: Mapping[str, str]) -> int:
    """Run one command and return its exit code. Nothing that happens on the way ends in a traceback."""
    output = _output(arguments, environ)
    try:
        arguments, environ = with_global_options(arguments, environ)
        arguments = in_new_words(arguments)
        output = replace(output, environ=environ)
        call = Call(environ, output, _binary(sys.stdin), _binary(sys.stdout))
        if environ.get("COCLI_LOG"):
            from cocli.logs.output import turn_on

            turn_on(environ, sys.stderr)
        if COMPLETION_VARIABLE in environ:
            from typer._completion_classes import completion_init

            completion_init()
        code = _run(arguments, call)
        sys.stdout.flush()
        return int(code or 0)
    except CocliError as error:
        return report_error(output, error)
    except typer.TyperException as error:
        return report_error(output, from_parser(error))
    except (ReaderGone, BrokenPipeError):
        return _end_as_other_tools_do()
    except (typer.Abort, KeyboardInterrupt):
        return int(ExitCode.INTERRUPTED)
    except Exception as error:  # noqa: BLE001  the last resort: whatever it is, a person gets a message and a code
        if refusal := from_system(error) or from_words(arguments):
            _drop_what_cannot_be_written()
            return report_error(output, refusal)
        return report_unforeseen(output, error, debug=environ.get("COCLI_DEBUG", "") not in ("", "0"))
    finally:
        if environ.get("COCLI_LOG"):  # a program that runs several commands may close this stream after each
            from cocli.logs.output import turn_off

            turn_off()


def _run(arguments: list[str], call: Call) -> Any:
    """Run the command. On a terminal, help that is longer than the screen goes through the pager."""
    root = build_root()
    if not (sys.stdout.isatty() and {"-h", "--help"} & set(arguments)):
        return root.main(arguments, prog_name="cocli", standalone_mode=False, obj=call)
    with redirect_stdout(StringIO()) as shown:
        code = root.main(arguments, prog_name="cocli", standalone_mode=False, obj=call)
    call.output.paged(shown.getvalue())
    return code


def _output(arguments: list[str], environ: Mapping[str, str]) -> Output:
    """The streams. Whether errors are JSON is read off the words, because the parser may be what fails."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal without UTF-8 gets escapes, not a crash
    words = arguments[: arguments.index("--")] if "--" in arguments else arguments
    color = sys.stdout.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"
    return Output(sys.stdout, sys.stderr, as_json="--json" in words, color=color)


def _binary(stream: Any) -> BinaryIO:
    return cast("BinaryIO", getattr(stream, "buffer", stream))


def _unknown_command(word: str, known: list[str]) -> UsageError:
    from difflib import get_close_matches

    meant = get_close_matches(word, known, n=1)
    hint = f"Did you mean: cocli {meant[0]}" if meant else "See: cocli --help"
    return UsageError(reason=f'There is no command "{word}"', hint=hint)


def _drop_what_cannot_be_written() -> None:
    """Python would try it again at its end, and complain in its own words."""
    try:
        sys.stdout.flush()
    except OSError:  # it was reported
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _end_as_other_tools_do() -> int:
    """Die of SIGPIPE, silently, as `cat` and `grep` do: a shell with `pipefail` then sees what it expects."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGPIPE)
    return int(ExitCode.FAILURE)
