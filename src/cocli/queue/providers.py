"""From the configuration to a queue. A provider that is named but cannot be used is an error, never another one.

A new provider is a folder beside this file, and an entry in `PROVIDERS`: how it is opened, and what it can do. Nothing
else compares their names.

Commands for supervisors wait in queues of their own: `commands`, and `commands-HOST` for a host. They are few, and
somebody waits for each: a lease is short, and SQS carries them in FIFO queues, which keep their order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.errors import QueueUnusable
from cocli.store.kinds import KINDS as STORE_KINDS
from cocli.store.kinds import store_kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.models.campaign import CampaignConfig
    from cocli.queue.leased.queue import LeasedQueue
    from cocli.queue.sqs.queue import SqsQueue
    from cocli.store.base import Store
    from cocli.store.kinds import StoreKind


COMMANDS = "commands"
"""The queue of commands, and how the names of those for a host begin."""
_NEAR_MARGIN = 0.1
"""Seconds: where a store dates what is written exactly; others do so in whole seconds."""


@dataclass(frozen=True, slots=True)
class _Terms:
    """How long a claim is held without a renewal, and how often a task is tried."""

    lease_seconds: float
    attempts: int


_COMMAND_TERMS = _Terms(lease_seconds=6.0, attempts=5)
"""After so long the next supervisor takes over what a dead one had begun."""


@dataclass(frozen=True, slots=True)
class QueueRequest:
    """What is to be opened."""

    config: CampaignConfig
    store: Store
    name: str
    worker: str | None
    terms: _Terms
    gate: Callable[[], None]

    @property
    def is_of_commands(self) -> bool:
        return is_of_commands(self.name)


@dataclass(frozen=True, slots=True)
class QueueProvider:
    """Who keeps the tasks that wait. What becomes of them is always in the campaign's store."""

    name: str
    open: Callable[[QueueRequest], LeasedQueue | SqsQueue]
    lists_pending: bool
    """Whether the tasks that wait lie in the store, where they can be listed and counted one by one."""
    ordered: bool
    """Whether it hands out commands in the order in which they were sent; else the executor looks for earlier ones."""
    waits: bool
    """Whether asking for a task may take some seconds, until one comes."""
    insists_on: StoreKind | None = None
    """The kind of store that it works with; None: with any."""


def _open_leased(request: QueueRequest) -> LeasedQueue:
    from cocli.queue.leased.queue import CLOCK_MARGIN, LeasedQueue

    is_near = store_kind(request.store.address).dates_exactly and not request.is_of_commands
    return LeasedQueue(
        request.store,
        request.config.campaign.name,
        request.name,
        worker=request.worker,
        lease_seconds=request.terms.lease_seconds,
        attempts=request.terms.attempts,
        margin=_NEAR_MARGIN if is_near else CLOCK_MARGIN,
        gate=request.gate,
        counted=not request.is_of_commands,
    )


def _open_sqs(request: QueueRequest) -> SqsQueue:
    from cocli.keys.resources import FIFO
    from cocli.queue.sqs.connection import SqsConnection
    from cocli.queue.sqs.queue import POLL_SECONDS, SqsQueue, queue_name

    campaign, aws, commands = request.config.campaign.name, request.config.aws, request.is_of_commands
    connection = SqsConnection(
        queue_name(campaign, request.name) + (FIFO if commands else ""),
        region=aws.region,
        endpoint=aws.endpoint,
        profile=aws.profile,
        account_id=aws.account_id,
    )
    lease_seconds = request.terms.lease_seconds
    queue = SqsQueue(
        request.store,
        campaign,
        request.name,
        connection=connection,
        worker=request.worker,
        lease_seconds=lease_seconds,
        attempts=request.terms.attempts,
        # A poll longer than a lease costs a renewal with each claim: too much for tasks, nothing for a few commands.
        poll_seconds=POLL_SECONDS if commands else min(POLL_SECONDS, int(lease_seconds) // 3),
        listed=commands,
        gate=request.gate,
        counted=not commands,
    )
    queue.connect()
    return queue


def _leased(name: str, insists_on: StoreKind | None = None) -> QueueProvider:
    return QueueProvider(name, _open_leased, lists_pending=True, ordered=False, waits=False, insists_on=insists_on)


PROVIDERS: dict[str, QueueProvider] = {
    provider.name: provider
    for provider in (
        _leased("store"),
        _leased("filesystem", STORE_KINDS[""]),
        _leased("s3", STORE_KINDS["s3"]),
        QueueProvider("sqs", _open_sqs, lists_pending=False, ordered=True, waits=True),
    )
}
"""What `[queue] provider` may name."""


def provider_of(config: CampaignConfig) -> QueueProvider:
    """The provider that is configured."""
    provider = PROVIDERS.get(config.queue.provider)
    if provider is None:
        raise QueueUnusable(
            provider=config.queue.provider,
            reason="there is no such provider",
            hint=f"Set provider under [queue] to one of: {', '.join(PROVIDERS)}.",
        )
    return provider


def get_queue(
    config: CampaignConfig,
    store: Store,
    name: str,
    *,
    worker: str | None = None,
    check: bool = False,
    gate: Callable[[], None] | None = None,
) -> LeasedQueue | SqsQueue:
    """The queue that `[queue]` names, on the campaign's store. With `check`, as workers ask for it, a store that does
    not honour conditional writes is refused: whoever carries the tasks, results are single because of them. `gate` is
    asked before a task is taken or ended: it raises `HostEvicted` where this machine may not."""
    from cocli.queue.custody import always_open

    provider, kind = provider_of(config), store_kind(store.address)
    if provider.insists_on is not None and provider.insists_on is not kind:
        raise _wrong_store(provider.name, provider.insists_on, name, store)
    terms = _COMMAND_TERMS if is_of_commands(name) else _Terms(config.queue.lease_seconds, config.queue.attempts)
    queue = provider.open(QueueRequest(config, store, name, worker, terms, gate or always_open))
    if check and kind.needs_probe:
        from cocli.store.probe import require_safe

        require_safe(store)
    return queue


def is_of_commands(name: str) -> bool:
    return name == COMMANDS or name.startswith(f"{COMMANDS}-")


def _wrong_store(provider: str, needed: StoreKind, name: str, store: Store) -> QueueUnusable:
    form = needed.form
    return QueueUnusable(
        provider=provider,
        queue=name,
        reason=f"storage.url is not {form}: the campaign's store is {store.address}",
        hint=f'Set url under [storage] to {form}, or provider under [queue] to "store", which follows the store.',
    )
