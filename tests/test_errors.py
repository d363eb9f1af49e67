"""The error tree: every class has its text, its code and its exit code, and survives a trip to another process."""

from __future__ import annotations

import pickle

import pytest

from cocli import errors
from cocli.errors import CocliError


def tree(kind: type[CocliError]) -> list[type[CocliError]]:
    return [kind, *(one for child in kind.__subclasses__() for one in tree(child))]


ALL = [kind for kind in tree(CocliError) if kind.__module__ == "cocli.errors"]


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_every_error_is_drawn_in_the_tree_and_speaks_for_itself(kind: type[CocliError]) -> None:
    assert kind.__name__ in (errors.__doc__ or "")
    assert kind.__doc__
    error = kind(key="k", reason="because")
    assert error.message
    assert set(error.as_dict()) == {"code", "message", "hint", "retryable", "details"}


def test_codes_are_unique() -> None:
    assert len({kind.code for kind in ALL}) == len(ALL)


def test_only_what_may_help_is_retried() -> None:
    retried = {
        "Unavailable",
        "CatalogUnavailable",
        "BrokerUnavailable",
        "OutboxFull",
        "NodeInterrupted",
        "ServiceUnavailable",
    }
    retried |= {"CrewLost", "SourceUnreachable", "TooManyRequests", "TooSlow", "QuotaExceeded", "ServiceTroubled"}
    retried |= {"PageUnread", "PageReaderLost", "SourceResting", "NetworkDown", "BackupContested"}
    retried |= {"CloudUnavailable", "HostUnreachable", "HostLost"}
    assert {kind.__name__ for kind in ALL if kind.retryable} == retried


def test_an_error_crosses_a_process_border() -> None:
    error = errors.Denied(address="a", key="k", credentials="c", reason="r", hint="do this")
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), copy.message, copy.hint, copy.details) == (type(error), error.message, "do this", error.details)


def test_details_with_braces_are_not_filled_in_again() -> None:
    assert errors.UsageError(reason="{key} {0} {").message == "{key} {0} {"
