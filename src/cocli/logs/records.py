"""Loggers whose records say of which campaign, queue, task and host they are, and carry nothing harmful.

A block of work binds its fields once; they hold for all that the block calls. A record that nobody wants costs one
question, whether it is wanted: the fields are put together only for records that somebody reads.
"""

from __future__ import annotations

import functools
import logging
import socket
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from cocli.formats.safe_text import safe_line
from cocli.formats.secrets import mask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

P = ParamSpec("P")
R = TypeVar("R")

PACKAGE = "cocli"
FIELDS = ("campaign", "queue", "task", "host")
"""Every record has these attributes. One that is not known is None; the host always is."""
_LONGEST = 1000
_PLAIN = (int, float, type(None))
_STANDARD = frozenset({*vars(logging.makeLogRecord({})), "message", "asctime", "taskName"})

_bound: ContextVar[Mapping[str, str]] = ContextVar("cocli.logs", default=MappingProxyType({}))

logging.getLogger(PACKAGE).addHandler(logging.NullHandler())


def get_logger(name: str) -> logging.Logger:
    """The standard logger of a module, with our fields on its records. Call it with `__name__`."""
    logger = logging.getLogger(name)
    logger.addFilter(_complete)  # adding it twice adds it once
    return logger


@contextmanager
def bound(**fields: str | None) -> Iterator[None]:
    """Records of this block, and of all that it calls in this thread, carry these fields. None leaves one as it is."""
    outside = _bound.get()
    _bound.set({**outside, **{name: value for name, value in fields.items() if value is not None}})
    try:
        yield
    finally:
        _bound.set(outside)  # no token: an asynchronous caller may leave the block in another context


def carried(function: Callable[P, R]) -> Callable[P, R]:
    """The function with the fields that are bound now: for a thread, which begins with none."""
    fields = _bound.get()

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        with bound(**fields):
            return function(*args, **kwargs)

    return run


def fields_of(record: logging.LogRecord) -> dict[str, object]:
    """What a record carries besides its message: our four fields first, then those that its `extra` names."""
    own = {name: getattr(record, name, None) for name in FIELDS}
    named = ((name, value) for name, value in vars(record).items() if name not in _STANDARD and name not in own)
    return own | {name: value for name, value in named if not name.startswith("_")}  # what other libraries put there


def harmless(value: object) -> object:
    """A value as it may be logged: one line, no secrets, no control characters, not endless. Numbers stay numbers."""
    if isinstance(value, _PLAIN):
        return value
    text = mask(str(value)[: 10 * _LONGEST])  # far beyond what is kept: a cut must not hide that a secret is one
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}…"
    return safe_line(text)


def _complete(record: logging.LogRecord) -> bool:
    """Runs for records that somebody reads, before any handler: adds our fields and cleans what the record carries."""
    fields = vars(record)
    for name, value in _bound.get().items():
        fields.setdefault(name, value)
    for name in FIELDS:
        fields.setdefault(name, None)
    if fields["host"] is None:
        fields["host"] = _hostname()
    for name in fields.keys() - _STANDARD:
        fields[name] = harmless(fields[name])
    if record.args and isinstance(record.args, tuple):
        record.args = tuple(harmless(argument) for argument in record.args)
    else:
        record.msg, record.args = harmless(record.getMessage()), ()
    return True


@functools.cache
def _hostname() -> str:
    return socket.gethostname()
