"""Where the documents of a site are kept, and the record that was made of it last.

Whoever only reads that record imports this module: `document.py` beside it brings everything that reads pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.documents.document import Document
from cocli.documents.ids import node_uuid
from cocli.keys.identities import datasource_id
from cocli.models.website import Website
from cocli.pipeline.websites.fetch.capture import CONNECTOR

if TYPE_CHECKING:
    from datetime import datetime

    from cocli.documents.repository import DocumentRepository

SITE = "site"
"""The node that makes a site of its pages."""
VISIT = "visit"
"""The entry of a site's document that says what came of asking for it."""
SITE_DOC = "site:"
"""What the ids of sites begin with."""


def site_doc(domain: str) -> str:
    return f"{SITE_DOC}{domain}"


def site_uuid(domain: str, account: str) -> str:
    """Known before it is saved: the records name it."""
    return node_uuid(site_doc(domain), SITE, account)


def visit_place(account: str, domain: str) -> Document:
    """Where the visit of a site is kept: its document, without anything in it."""
    return Document.intake(account=account, connector=CONNECTOR, doc=site_doc(domain))


def site_place(account: str, edition: str, domain: str) -> Document:
    """Where the state of a site is kept, without anything in it."""
    return Document(
        account=account,
        connector=CONNECTOR,
        datasource=datasource_id(account, CONNECTOR),
        doc=site_doc(domain),
        address=SITE,
        cluster=edition,
    )


def stored_website(
    repository: DocumentRepository, account: str, edition: str, domain: str, crawled_at: datetime
) -> Website | None:
    """The record of a site as it was read last, on whichever machine; None where none is kept."""
    document = repository.stored(site_place(account, edition, domain))
    if document is None:
        return None
    values = {"crawled_at": crawled_at, "document": site_uuid(domain, account)}
    return Website.model_validate(document.data[SITE]["website"] | values)
