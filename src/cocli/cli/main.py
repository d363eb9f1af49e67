"""The entry of the command line. Help and version are answered here: loading typer would cost ten times as much."""

import os
import sys

from cocli.cli.nouns import overview

COMPLETION_VARIABLE = "_COCLI_COMPLETE"
"""Set by the shell when it wants completions instead of a command."""


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    if COMPLETION_VARIABLE not in os.environ:
        if not words or words[0] in ("-h", "--help"):
            return _say(overview())
        if words[0] in ("--version", "-V"):
            from cocli import __version__

            return _say(f"cocli {__version__}\n")
    try:
        from cocli.cli.root import run

        return run(words, os.environ)
    except KeyboardInterrupt:
        return 130


def _say(text: str) -> int:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader went away: that is not our failure. Python would complain again when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
