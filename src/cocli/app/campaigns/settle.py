"""Settling a campaign: what its workers wrote becomes one record per business."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from cocli import logs
from cocli.app.documents.documents import opened_documents
from cocli.app.indexes.indexes import campaign_indexes, record_indexes
from cocli.index.compaction import Compactor
from cocli.index.description import describe_newest
from cocli.keys.paths import IndexRef
from cocli.pipeline.merge.settling import ProspectSettler, Settled
from cocli.pipeline.websites.site.place import stored_website

if TYPE_CHECKING:
    from cocli.app.workspace import Workspace

_LOG = logs.get_logger(__name__)


def settle_campaign(workspace: Workspace, name: str) -> Settled:
    """Pack the campaign's records, bring together what is one business, and hand every website to all its prospects."""
    indexes = campaign_indexes(workspace, name)
    with opened_documents(workspace, name, learn=False) as documents:
        settler = ProspectSettler(
            indexes.open(IndexRef("prospects", name)),
            indexes.open(IndexRef("domains")),
            indexes.open(IndexRef("emails", name)),
            website_of=partial(stored_website, documents.repository, documents.account, documents.edition),
            clock=documents.store.now,
        )
        settled = settler.settle()
    Compactor(indexes.open(IndexRef("scraped-tiles"))).compact()
    for ref in record_indexes(name):
        describe_newest(indexes.open(ref))
    _LOG.info("campaign settled", extra={"campaign": name, **asdict(settled)})
    return settled
