"""Conditional writes whose answer may get lost: was it us after all?

Every object written here carries a nonce, so bytes that equal ours are ours. A store that answers by itself (S3 does)
has settled most of this already; what is left is an answer that was lost for good.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli import logs
from cocli.errors import AlreadyExists, Conflict, NotFound, StoreError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.store.base import Put, Store

_LOG = logs.get_logger(__name__)


def create(store: Store, key: str, data: bytes) -> str | None:
    """Create an object: its etag, or None if somebody else's is there."""
    try:
        return store.put(key, data, if_absent=True)
    except AlreadyExists:
        _LOG.debug("not created: %s is there already", key)
        return None
    except Unavailable as error:
        _warn(error, key)
        try:
            there = store.get(key)
        except NotFound:
            there = None
        if there is None:
            raise  # nothing was written: the caller may try again
        return there.etag if there.data == data else None


def swap(store: Store, key: str, data: bytes, etag: str) -> str | None:
    """Replace an object: its new etag, or None if somebody else has replaced or removed it."""
    try:
        return store.put(key, data, if_match=etag)
    except Conflict:
        _LOG.debug("not replaced: somebody else changed %s first", key)
        return None
    except Unavailable as error:
        _warn(error, key)
        try:
            there = store.get(key)
        except NotFound:
            return None
        if there.data == data:
            return there.etag
        if there.etag == etag:
            raise  # nothing was written: the caller may try again
        return None


def create_many(store: Store, puts: Sequence[Put]) -> list[str | StoreError | None]:
    """For each its etag, None if somebody else's object is there, or the error because of which that is not known."""
    answers = store.put_many(puts)
    for etag in answers:
        if type(etag) is not str:
            break
    else:
        return list(answers)  # nearly always, and at a quarter of the price
    return [
        answer if type(answer) is str else _settled(store, put, answer)
        for put, answer in zip(puts, answers, strict=True)
    ]


def swap_many(store: Store, puts: Sequence[Put]) -> list[str | StoreError | None]:
    """Replace many: for each its new etag, None if somebody else was there first, or why that is not known."""
    return [_swapped(store, put, answer) for put, answer in zip(puts, store.put_many(puts), strict=True)]


def _swapped(store: Store, put: Put, answer: str | StoreError) -> str | StoreError | None:
    if isinstance(answer, Conflict):
        return None
    if not isinstance(answer, Unavailable):
        return answer
    _warn(answer, put.key)
    try:
        there = store.get(put.key)
    except NotFound:
        return None
    except StoreError as error:
        return error
    if there.data == put.data:
        return there.etag
    return answer if there.etag == put.if_match else None


def _settled(store: Store, put: Put, answer: str | StoreError) -> str | StoreError | None:
    if isinstance(answer, AlreadyExists):
        return None
    if not isinstance(answer, Unavailable):
        return answer
    _warn(answer, put.key)
    try:
        there = store.get(put.key)  # every object carries a nonce: bytes that equal ours are ours
    except NotFound:
        return answer  # nothing was written
    except StoreError as error:
        return error
    return there.etag if there.data == put.data else None


def _warn(error: Unavailable, key: str) -> None:
    _LOG.warning("no answer to a write of %s, so it is read again: %s", key, error.message)
