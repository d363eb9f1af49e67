"""The grammar of commands: what a person types becomes a checked command, or a clear error, before anything is sent.

What each does is `cocli.app.machines.commands`; how one supervisor comes to execute it is `command_execution`.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Literal

from cocli.config.schema import nearest
from cocli.errors import UsageError
from cocli.queue.providers import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cocli.models.command import Verb

ALL = "all"
WORKED = ("gm-list", "gm-details", "enrichment")
"""The queues that have workers."""
MOST_WORKERS = 1000
_CATEGORY = re.compile(r"[a-z][a-z0-9-]{0,62}")
_SCALE = re.compile(r"(?P<queue>[^=\s]+)=(?P<count>[0-9]{1,6})")
_PLACE_ID = re.compile(r"[CG]hIJ[A-Za-z0-9_-]{23}")
_DOMAIN = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,62}")
_QUEUE_OF_HOST = re.compile(r"[a-z0-9-]{1,50}")

ExcludeKind = Literal["domains", "names", "place_ids"]
_KINDS: dict[str, ExcludeKind] = {"domain": "domains", "name": "names", "place": "place_ids"}


@dataclass(frozen=True, slots=True)
class CommandRequest:
    """A command as it was understood."""

    verb: Verb
    arguments: tuple[str, ...] = ()

    def __str__(self) -> str:
        """As a person would type it: with quotes only where they are needed."""
        plain = " ".join((self.verb, *self.arguments))
        try:
            is_plain = shlex.split(plain) == plain.split(" ")
        except ValueError:
            is_plain = False
        if is_plain:
            return plain
        return shlex.join((self.verb, *self.arguments))

    @property
    def concerns_hosts(self) -> bool:
        """Each host executes it for itself; all others change what hosts share, and are executed once."""
        return GRAMMAR[self.verb].concerns_hosts


@dataclass(frozen=True, slots=True)
class VerbGrammar:
    """How a verb is written."""

    usage: str
    arguments: Callable[[Verb, Sequence[str]], tuple[str, ...]]
    """What a person typed behind it → checked arguments; `UsageError` for what cannot be meant."""
    takes_host: bool = False
    """Whether it may be about one host."""
    concerns_hosts: bool = False
    """Whether each host executes it for itself; all others change what hosts share, and are executed once."""


def parse_request(text: str) -> CommandRequest:
    """`add-query "emergency plumber"`, `scale gm-list=3 enrichment=8`, `pause gm-details` …"""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(reason=f"The command has an open quote: {text[:200]}") from error
    verb = words[0] if words else ""
    return CommandRequest(verb, grammar_of(verb).arguments(verb, words[1:]))


def grammar_of(verb: Verb) -> VerbGrammar:
    """How a verb is written; one that there is not is refused."""
    if verb not in GRAMMAR:
        meant = nearest(verb, list(GRAMMAR))
        hint = f"Did you mean: {meant}" if meant else f"There are: {', '.join(GRAMMAR)}."
        raise UsageError(reason=f'There is no command "{verb[:100]}"', hint=hint)
    return GRAMMAR[verb]


def exclusion_of(value: str) -> tuple[ExcludeKind, str]:
    """Which list of `[exclude]` a value belongs to: what it says, else what it looks like."""
    prefix, separator, rest = value.partition(":")
    if separator and prefix in _KINDS and rest.strip():
        kind, rest = _KINDS[prefix], rest.strip()
        return kind, rest.lower() if kind == "domains" else rest
    if _PLACE_ID.fullmatch(value):
        return "place_ids", value
    if _DOMAIN.fullmatch(value.lower()):
        return "domains", value.lower()
    return "names", value


def scale_of(argument: str) -> tuple[str, int]:
    """`gm-list=3`."""
    match = _SCALE.fullmatch(argument)
    if match is None:
        raise UsageError(reason=f'"{argument[:100]}" is not QUEUE=COUNT', hint="Write: scale gm-list=3")
    count = int(match["count"])
    if count > MOST_WORKERS:
        raise UsageError(reason=f"{count} workers of {match['queue']} are more than {MOST_WORKERS}")
    return worked_queue(match["queue"]), count


def worked_queue(name: str) -> str:
    """The name of a queue that has workers; any other is refused."""
    if name not in WORKED:
        meant = nearest(name, list(WORKED))
        hint = f"Did you mean: {meant}" if meant else f"There are: {', '.join(WORKED)}."
        raise UsageError(reason=f'There are no workers of "{name[:100]}"', hint=hint)
    return name


def command_queue(target: str) -> str:
    """The queue in which the commands for a host, or for `all` together, wait."""
    if target == ALL:
        return COMMANDS
    if _QUEUE_OF_HOST.fullmatch(target):
        return f"{COMMANDS}-{target}"
    plain = re.sub(r"[^a-z0-9-]", "-", target.lower())[:40]
    return f"{COMMANDS}-{plain}-{sha256(target.encode()).hexdigest()[:8]}"  # two hosts never share one


# --- the arguments of each verb


def _one_text(verb: Verb, words: Sequence[str]) -> tuple[str, ...]:
    text = " ".join(" ".join(words).split())
    if not text:
        raise _wrong(verb, "says nothing")
    if not text.isprintable() or len(text) > 1000:
        raise _wrong(verb, "is given a text with control characters, or one of more than 1000 characters")
    return (text,)


def _exclusion(verb: Verb, words: Sequence[str]) -> tuple[str, ...]:
    (text,) = _one_text(verb, words)
    kind, value = exclusion_of(text)
    if kind == "place_ids" and not _PLACE_ID.fullmatch(value):
        raise _wrong(verb, f'is given "{value}", which is not a place id (ChIJ… or GhIJ…)')
    if kind == "domains" and not _DOMAIN.fullmatch(value):
        raise _wrong(verb, f'is given "{value}", which is not a domain such as example.com')
    prefix = next(name for name, known in _KINDS.items() if known == kind)
    return (f"{prefix}:{value}",)


def _scales(verb: Verb, words: Sequence[str]) -> tuple[str, ...]:
    if not words:
        raise _wrong(verb, "does not say what to")
    wanted = dict(scale_of(word) for word in words)
    return tuple(f"{queue}={count}" for queue, count in wanted.items())


def _queues(verb: Verb, words: Sequence[str]) -> tuple[str, ...]:  # noqa: ARG001  every rule has this signature
    return tuple(dict.fromkeys(worked_queue(word) for word in words))


def _recovery(verb: Verb, words: Sequence[str]) -> tuple[str, ...]:
    if not 1 <= len(words) <= 2:
        raise _wrong(verb, "needs a queue, and perhaps a category")
    if len(words) == 2 and not _CATEGORY.fullmatch(words[1]):
        raise _wrong(verb, f'is given "{words[1][:100]}", which is not a category')
    return (worked_queue(words[0]), *words[1:])


def _nothing(verb: Verb, words: Sequence[str]) -> tuple[str, ...]:
    if words:
        raise _wrong(verb, "takes no arguments")
    return ()


def _wrong(verb: Verb, what: str) -> UsageError:
    return UsageError(reason=f"{verb} {what}", hint=f"Write: {GRAMMAR[verb].usage}")


GRAMMAR: dict[Verb, VerbGrammar] = {
    "add-query": VerbGrammar("add-query PHRASE", _one_text),
    "remove-query": VerbGrammar("remove-query PHRASE", _one_text),
    "add-location": VerbGrammar(
        "add-location NAME,LATITUDE,LONGITUDE[,MILES], or a name such as Springfield, IL", _one_text
    ),
    "remove-location": VerbGrammar("remove-location NAME", _one_text),
    "add-exclude": VerbGrammar("add-exclude [domain:|name:|place:]VALUE", _exclusion),
    "remove-exclude": VerbGrammar("remove-exclude [domain:|name:|place:]VALUE", _exclusion),
    "scale": VerbGrammar("scale QUEUE=COUNT …", _scales, takes_host=True),
    "pause": VerbGrammar("pause [QUEUE …]", _queues),
    "resume": VerbGrammar("resume [QUEUE …]", _queues),
    "restart": VerbGrammar("restart [QUEUE …]", _queues, takes_host=True, concerns_hosts=True),
    "recover": VerbGrammar("recover QUEUE [CATEGORY]", _recovery),
    "refresh-report": VerbGrammar("refresh-report", _nothing),
}
"""Every verb. What it does is an entry of the same name in `cocli.app.machines.command_effects`."""
