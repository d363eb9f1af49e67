"""What bulk operations share: each item's answer is its result, or the error that stands in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from cocli.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cocli.store.base import Put, Store

Item = TypeVar("Item")
Result = TypeVar("Result")


def answer(action: Callable[[Item], Result], item: Item) -> Result | StoreError:
    """Do one item of a bulk operation without stopping the others."""
    try:
        return action(item)
    except StoreError as error:
        return error


def put_one(store: Store, put: Put) -> str:
    return store.put(put.key, put.data, if_absent=put.if_absent, if_match=put.if_match)


def delete_one(store: Store, etags: Mapping[str, str], key: str) -> None:
    store.delete(key, if_match=etags.get(key))
