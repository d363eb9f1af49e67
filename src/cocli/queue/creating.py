"""Creates many objects side by side, each settled as `cocli.store.settled` settles one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.errors import AlreadyExists, NotFound, StoreError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.store.base import Put, Store


def create_many(store: Store, puts: Sequence[Put]) -> list[str | StoreError | None]:
    """For each its etag, None if somebody else's object is there, or the error because of which that is not known."""
    return [_settled(store, put, answer) for put, answer in zip(puts, store.put_many(puts), strict=True)]


def _settled(store: Store, put: Put, answer: str | StoreError) -> str | StoreError | None:
    if isinstance(answer, AlreadyExists):
        return None
    if not isinstance(answer, Unavailable):
        return answer
    try:
        there = store.get(put.key)  # every object carries a nonce: bytes that equal ours are ours
    except NotFound:
        return answer  # nothing was written
    except StoreError as error:
        return error
    return there.etag if there.data == put.data else None
