"""Options that every command has, before or behind its noun: the log, and the pager. They become variables.

Processes that a command starts get its environment, so that the workers of a supervisor log as it does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cocli.errors import UsageError

LOG, LOG_FILE, LOG_FORMAT = "COCLI_LOG", "COCLI_LOG_FILE", "COCLI_LOG_FORMAT"
PAGER = "COCLI_PAGER"
_VERBOSE = {"-v": 1, "--verbose": 1, "-vv": 2}
_LEVELS = ("", "info", "debug")
_VALUES = {"--log-file": LOG_FILE, "--log-format": LOG_FORMAT}
_FORMATS = ("text", "json")


def with_global_options(words: list[str], environ: Mapping[str, str]) -> tuple[list[str], Mapping[str, str]]:
    """The command line without these options, and the environment with what they say."""
    known = {*_VERBOSE, *_VALUES, "--no-pager"}
    if not any(word.partition("=")[0] in known for word in words):
        return words, environ
    kept: list[str] = []
    said: dict[str, str] = {}
    verbose, rest = 0, iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if word == "--":
            kept += [word, *rest]
        elif word in _VERBOSE:
            verbose += _VERBOSE[word]
        elif word == "--no-pager":
            said[PAGER] = "cat"
        elif name in _VALUES:
            said[_VALUES[name]] = value if equals else _following(name, rest)
        else:
            kept.append(word)
    if verbose or (LOG_FILE in said and not environ.get(LOG)):
        said[LOG] = _LEVELS[min(max(verbose, 1), 2)]
    if said.get(LOG_FORMAT, _FORMATS[0]) not in _FORMATS:
        raise UsageError(reason=f"--log-format: choose one of {', '.join(_FORMATS)}", hint="See: cocli --help")
    return kept, {**environ, **said}


def _following(option: str, rest: Iterator[str]) -> str:
    value = next(rest, None)
    if value is None:
        raise UsageError(reason=f"{option} needs a value", hint="See: cocli --help")
    return value
