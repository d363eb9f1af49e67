"""The exit codes of the command line: part of the product's contract (documented in docs/reference/exit-codes.md)."""

from enum import IntEnum


class ExitCode(IntEnum):
    """What a script can rely on. A number is never given a second meaning."""

    OK = 0
    FAILURE = 1
    """Something failed that has no code of its own; `doctor` uses it when a check failed."""
    USAGE = 2
    """The command line itself was wrong."""
    CONFIG = 3
    """A configuration file or setting is wrong."""
    NOT_FOUND = 4
    """The campaign, object or record named does not exist."""
    CONFLICT = 5
    """It exists already, or somebody else changed it meanwhile."""
    UNAVAILABLE = 6
    """The store (or another service) could not be reached; trying again later may help."""
    DENIED = 7
    """The store refused: credentials, permissions, or a clock that is wrong."""
    DATA = 8
    """Data on disk or in the store does not have the shape it must have."""
    UNSAFE_STORE = 9
    """The store ignores conditional writes, so nothing can be coordinated through it."""
    MISSING_EXTRA = 10
    """The feature needs an optional package that is not installed."""
    GOAL_MISSED = 11
    """`run` ended before its goal was met: nothing is left to do, or the budget is over."""
    EVICTED = 12
    """This machine was evicted: its supervisor and its workers have nothing more to do here."""
    INTERRUPTED = 130
    """Stopped by Ctrl-C."""
    TERMINATED = 143
    """Stopped by SIGTERM, as a container's first process."""
