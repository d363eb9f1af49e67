"""The entry of the command line. Help and version are answered here: loading typer would cost ten times as much."""

import os
import sys

from cocli.cli import COMPLETION_VARIABLE
from cocli.cli.nouns import overview

_DISK_FULL = 6
"""As `DiskFull` has it; the table of exit codes is not loaded for the help."""
_COLLECT_AFTER = 20_000
"""So many new objects before the garbage collector looks at them; Python's own number, 700, is for small programs."""


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    _replace_closed_streams()
    if COMPLETION_VARIABLE not in os.environ:
        if not words or words[0] in ("-h", "--help"):
            return _help(words)
        if words[0] in ("--version", "-V"):
            from cocli.config.version import __version__

            return _say(f"cocli {__version__}\n")
    # Records are checked by us alone; to look for plugins in every package that is installed costs each command 10 ms.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    if arguments is None:
        return _run_as_process(words)
    from cocli.cli.root import run

    return run(words, os.environ)


def _run_as_process(words: list[str]) -> int:
    """Run the command that this process was started for, with the garbage collector out of its way.

    Imports make many objects that all stay: to look through them again and again, and once more at the end, costs a
    short command a sixth of its time.
    """
    import gc

    gc.set_threshold(_COLLECT_AFTER, 10, 10)
    try:
        from cocli.cli.kit.interruption import Interruption, heed_termination
        from cocli.cli.root import run

        heed_termination()
        interruption = Interruption()
        interruption.listen()
        try:
            return run(words, os.environ)
        finally:
            interruption.over()
    except KeyboardInterrupt:
        return 130
    finally:
        if "duckdb" not in sys.modules:  # it counts its objects at the end, and complains of those that are frozen
            gc.freeze()  # what is left goes with the process


def _help(words: list[str]) -> int:
    if not sys.stdout.isatty():
        return _say(overview())
    from cocli.cli.kit.pager import page

    page(overview(), sys.stdout, {**os.environ, "COCLI_PAGER": "cat"} if "--no-pager" in words else os.environ)
    return 0


def _say(text: str) -> int:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader went away: that is not our failure. Python would complain again when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.stderr.write(f"error: The output cannot be written: {error.strerror}\n")
        return _DISK_FULL
    return 0


def _replace_closed_streams() -> None:
    """A job of cron or a service may start us with a stream closed (`>&-`): then it leads nowhere."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115  open as long as the process runs
