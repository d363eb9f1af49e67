"""Where the documents of a service are, as plain values: for a process beside it that opens them for itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from cocli.documents.catalog.opening import sqlite_path
from cocli.documents.catalog.sqlite import MEMORY
from cocli.store.kinds import store_kind

if TYPE_CHECKING:
    from cocli.app.documents.documents import Documents
    from cocli.documents.subscriptions import Subscriptions
    from cocli.models.campaign import DocumentsSection


@dataclass(frozen=True, slots=True)
class DocumentsPlace:
    store: str
    catalog: str
    edition: str
    state_folder: str
    section: DocumentsSection
    subscriptions: Subscriptions
    lists: tuple[str, ...]
    """The stores whose do-not-contact lists hold."""

    @classmethod
    def of(cls, documents: Documents) -> DocumentsPlace:
        return cls(
            documents.store_address,
            documents.catalog_address,
            documents.edition,
            documents.state_folder,
            documents.section,
            documents.repository.subscriptions,
            documents.lists,
        )

    @property
    def is_shared(self) -> bool:
        """Whether other processes see the same documents."""
        return store_kind(self.store).is_shared and sqlite_path(self.catalog) != MEMORY

    def opened(self) -> Documents:
        from cocli.app.documents.documents import Documents, without_forgotten
        from cocli.documents.catalog.opening import open_catalog
        from cocli.documents.repository import DocumentRepository
        from cocli.pipeline.suppression.stored import LeftAlone
        from cocli.store.opening import open_store

        section = self.section
        stores = {address: open_store(address) for address in (self.store, *self.lists)}
        store = stores[self.store]
        repository = DocumentRepository(
            store,
            open_catalog(self.catalog),
            clock=store.now,
            prefix=section.prefix,
            inline_limit=section.inline_limit,
            subscriptions=self.subscriptions,
            most_waiting=section.max_waiting_events,
            redact=partial(without_forgotten, LeftAlone([stores[address] for address in self.lists])),
        )
        places = (self.store, self.catalog, self.state_folder)
        return Documents(repository, "", self.edition, section, store, *places, self.lists)
