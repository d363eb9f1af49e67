"""From the configuration to a queue. A provider that is named but cannot be used is an error, never another one.

Commands for supervisors wait in queues of their own: `commands`, and `commands-HOST` for a host. They are few, and
somebody waits for each: a lease is short, and SQS carries them in FIFO queues, which keep their order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.errors import QueueUnusable
from cocli.queue.leased.queue import CLOCK_MARGIN, LeasedQueue

if TYPE_CHECKING:
    from cocli.models.campaign import CampaignConfig
    from cocli.queue.sqs.queue import SqsQueue
    from cocli.store.base import Store

COMMANDS = "commands"
"""The queue of commands, and how the names of those for a host begin."""
_NEAR_MARGIN = 0.1
"""Seconds: a folder and memory date what is written exactly, S3 in whole seconds."""


@dataclass(frozen=True, slots=True)
class _Terms:
    """How long a claim is held without a renewal, and how often a task is tried."""

    lease_seconds: float
    attempts: int


_COMMAND_TERMS = _Terms(lease_seconds=6.0, attempts=5)
"""After so long the next supervisor takes over what a dead one had begun."""


def get_queue(
    config: CampaignConfig, store: Store, name: str, *, worker: str | None = None, check: bool = False
) -> LeasedQueue | SqsQueue:
    """The queue that `[queue]` names, on the campaign's store. With `check`, as workers ask for it, a server that does
    not honour conditional writes is refused: whoever carries the tasks, results are single because of them."""
    provider, commands = config.queue.provider, is_of_commands(name)
    kind = _kind(store)
    if provider in ("filesystem", "s3") and kind != provider:
        raise _wrong_store(provider, name, store)
    terms = _COMMAND_TERMS if commands else _Terms(config.queue.lease_seconds, config.queue.attempts)
    queue = (
        _open_sqs(config, store, name, worker, terms)
        if provider == "sqs"
        else LeasedQueue(
            store,
            config.campaign.name,
            name,
            worker=worker,
            lease_seconds=terms.lease_seconds,
            attempts=terms.attempts,
            margin=CLOCK_MARGIN if commands or kind == "s3" else _NEAR_MARGIN,
        )
    )
    if check and kind == "s3":
        from cocli.store.probe import require_safe

        require_safe(store)
    return queue


def is_of_commands(name: str) -> bool:
    return name == COMMANDS or name.startswith(f"{COMMANDS}-")


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


def _open_sqs(config: CampaignConfig, store: Store, name: str, worker: str | None, terms: _Terms) -> SqsQueue:
    from cocli.queue.sqs.connection import FIFO, SqsConnection
    from cocli.queue.sqs.queue import POLL_SECONDS, SqsQueue, queue_name

    campaign, aws, commands = config.campaign.name, config.aws, is_of_commands(name)
    connection = SqsConnection(
        queue_name(campaign, name) + (FIFO if commands else ""),
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
        lease_seconds=terms.lease_seconds,
        attempts=terms.attempts,
        # A poll longer than a lease costs a renewal with each claim: too much for tasks, nothing for a few commands.
        poll_seconds=POLL_SECONDS if commands else min(POLL_SECONDS, int(terms.lease_seconds) // 3),
        listed=commands,
    )
    queue.connect()
    return queue
