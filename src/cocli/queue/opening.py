"""From the configuration to a queue. A provider that is named but cannot be used is an error, never another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.errors import QueueUnusable
from cocli.queue.leased import CLOCK_MARGIN, LeasedQueue

if TYPE_CHECKING:
    from cocli.models.campaign import CampaignConfig
    from cocli.queue.sqs import SqsQueue
    from cocli.store.base import Store

_NEAR_MARGIN = 0.1
"""Seconds: a folder and memory date what is written exactly, S3 in whole seconds."""


def get_queue(
    config: CampaignConfig, store: Store, name: str, *, worker: str | None = None, check: bool = False
) -> LeasedQueue | SqsQueue:
    """The queue that `[queue]` names, on the campaign's store. With `check`, as workers ask for it, a server that does
    not honour conditional writes is refused: whoever carries the tasks, results are single because of them."""
    provider = config.queue.provider
    if provider == "kafka":
        hint = "Set provider under [queue] to store, filesystem, s3 or sqs."
        raise QueueUnusable(provider=provider, queue=name, reason="it is not available yet", hint=hint)
    kind = _kind(store)
    if provider in ("filesystem", "s3") and kind != provider:
        raise _wrong_store(provider, name, store)
    queue = (
        _open_sqs(config, store, name, worker)
        if provider == "sqs"
        else LeasedQueue(
            store,
            config.campaign.name,
            name,
            worker=worker,
            lease_seconds=config.queue.lease_seconds,
            attempts=config.queue.attempts,
            margin=CLOCK_MARGIN if kind == "s3" else _NEAR_MARGIN,
        )
    )
    if check and kind == "s3":
        from cocli.store.probe import require_safe

        require_safe(store)
    return queue


def _kind(store: Store) -> str:
    """By the address, which a store that wraps another one passes on."""
    scheme, separator, _ = store.address.partition("://")
    return scheme if separator else "filesystem"


def _wrong_store(provider: str, name: str, store: Store) -> QueueUnusable:
    needed = '"local" (or another folder)' if provider == "filesystem" else '"s3://bucket/prefix"'
    return QueueUnusable(
        provider=provider,
        queue=name,
        reason=f"storage.url is not {needed}: the campaign's store is {store.address}",
        hint=f'Set url under [storage] to {needed}, or provider under [queue] to "store", which follows the store.',
    )


def _open_sqs(config: CampaignConfig, store: Store, name: str, worker: str | None) -> SqsQueue:
    from cocli.queue.sqs import SqsQueue, queue_name
    from cocli.queue.sqs_connection import SqsConnection

    campaign, aws = config.campaign.name, config.aws
    connection = SqsConnection(
        queue_name(campaign, name),
        region=aws.region,
        endpoint=aws.endpoint,
        profile=aws.profile,
        account_id=aws.account_id,
    )
    queue = SqsQueue(
        store,
        campaign,
        name,
        connection=connection,
        worker=worker,
        lease_seconds=config.queue.lease_seconds,
        attempts=config.queue.attempts,
    )
    queue.connect()
    return queue
