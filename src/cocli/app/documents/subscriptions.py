"""Subscriptions as the store keeps them: the catalogue works with its own copy, and one that is built anew takes these.

Machines with catalogues of their own may have one subscription each after that, and send the same messages under the
same ids; whoever gets one twice finds its work done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.formats import json_records
from cocli.keys.paths import SUBSCRIPTIONS_FOLDER, SubscriptionKey
from cocli.models.heartbeat import SubscriptionRecord

if TYPE_CHECKING:
    from datetime import datetime

    from cocli.app.documents.documents import Documents
    from cocli.store.base import Store


def note_subscription(store: Store, account: str, datasource: str, edition: str, at: datetime) -> None:
    record = SubscriptionRecord(account=account, datasource=datasource, edition=edition, since=at)
    store.put(str(SubscriptionKey(account, datasource, edition)), json_records.render(record))


def restore_subscriptions(documents: Documents) -> int:
    """Subscribe anew whoever had subscribed, in every account; how many. They catch up with all that is there."""
    keys = [info.key for info in documents.store.list(SUBSCRIPTIONS_FOLDER) if SubscriptionKey.fits(info.key)]
    for key in keys:
        record = json_records.read(SubscriptionRecord, documents.store.get(key).data, file=key)
        documents.repository.catalog.routes.subscribe(
            record.account, record.datasource, record.edition, documents.store.now()
        )
    return len(keys)
