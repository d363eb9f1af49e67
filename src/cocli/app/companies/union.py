"""Two companies that are one: their pages, brought together because a person says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.app.companies.companies import company
from cocli.results.companies.union import PageUnion, unite

if TYPE_CHECKING:
    from cocli.store.base import Store


def merge_companies(store: Store, kept: str, gone: str) -> PageUnion:
    """The first page goes on, with all that was written about both. `UsageError` if they are one page already."""
    return unite(store, company(store, kept), company(store, gone), at=store.now())
