"""Logging as a library does it: the standard module, silent until somebody turns it on.

    _LOG = logs.get_logger(__name__)                     once in a module that acts

    with logs.bound(campaign="plumbers", queue="details"):
        _LOG.debug("claim won, attempt %d", 2)           the record carries campaign, queue, task and host

`records` makes the loggers and the fields that their records carry; `output` writes records to stderr when the
environment asks for it (`COCLI_LOG`). Before any handler sees a record, its secrets are masked and its control
characters are escaped.
"""

from cocli.logs.records import FIELDS, bound, carried, get_logger

__all__ = ["FIELDS", "bound", "carried", "get_logger"]
