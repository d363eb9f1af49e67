"""`cocli completion`"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from cocli.cli import COMPLETION_VARIABLE
from cocli.cli.kit.context import Call
from cocli.cli.kit.options import examples, shared, single_command

app = single_command()


class Shell(StrEnum):
    """The shells that there is a script for."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


@app.command(
    epilog=examples(
        "cocli completion bash > ~/.local/share/bash-completion/completions/cocli",
        "cocli completion zsh > ~/.zfunc/_cocli",
        "cocli completion fish > ~/.config/fish/completions/cocli.fish",
    )
)
@shared()
def completion(call: Call, shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")]) -> None:
    """Print the completion script of a shell. It completes commands, options and the names of campaigns."""
    from typer._completion_shared import get_completion_script

    script = get_completion_script(prog_name="cocli", complete_var=COMPLETION_VARIABLE, shell=shell.value)
    call.output.stdout.write(script + "\n")
