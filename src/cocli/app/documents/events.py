"""Events of documents: how references get to the nodes that read them, by `events` of `[documents]`.

The campaigns of a store share one catalogue and its outbox: whoever relays sends what waits there, whoever saved it.
"""

from __future__ import annotations

import os
import random
import secrets
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cocli import logs
from cocli.app.documents.documents import learn_of_others
from cocli.app.documents.subscriptions import note_subscription
from cocli.documents.changes.teller import TellerLoop
from cocli.documents.graph.destination import Destination, check_edition
from cocli.documents.graph.node import INTAKE, name_fault
from cocli.documents.graph.publisher import GraphPublisher
from cocli.documents.ids import check_parts
from cocli.documents.relay import Relay, RelayLoop
from cocli.documents.seeder import Seeder
from cocli.documents.subscriptions import NOBODY
from cocli.errors import CocliError, ConfigError, UsageError
from cocli.keys.paths import SubscriptionKey
from cocli.queue.runtime import ThreadRuntime

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cocli.app.documents.documents import Documents
    from cocli.documents.catalog.routes_table import Route
    from cocli.documents.graph.transports.base import MessageTransport
    from cocli.documents.graph.transports.kafka import KafkaTransport
    from cocli.models.campaign import DocumentsSection
    from cocli.queue.base import Queue

_LOG = logs.get_logger(__name__)

_TURN_SECONDS = 2.0
_TELLING_SECONDS = 5.0
_LEARNING_SECONDS = 60.0


@contextmanager
def relaying(documents: Documents) -> Iterator[None]:
    """While the block runs, what waits in the outbox is sent every few seconds; at its end once more.

    Other machines are told of what is saved in the same rhythm. Where nobody reads events, nothing else is done.
    """
    with telling(documents), _sending_events(documents):
        yield


@contextmanager
def telling(documents: Documents) -> Iterator[None]:
    """While the block runs, other machines are told every few seconds of what is saved."""
    activity = ThreadRuntime().every(_TELLING_SECONDS, TellerLoop(documents.repository.teller).turn)
    try:
        yield
    finally:
        activity.stop()


@contextmanager
def learning(documents: Documents) -> Iterator[None]:
    """While the block runs, the catalogue takes over every minute what other machines saved: for services."""

    def learn() -> bool:
        try:
            learn_of_others(documents.repository)
        except CocliError as error:  # what is known is served; the next minute may find the store again
            _LOG.warning("documents of other machines were not looked for: %s", error.message)
        return True

    activity = ThreadRuntime().every(_LEARNING_SECONDS, learn)
    try:
        yield
    finally:
        activity.stop()


@contextmanager
def _sending_events(documents: Documents) -> Iterator[None]:
    if documents.repository.subscriptions == NOBODY:
        yield
        return
    with opened_transport(documents) as transport:
        loop = RelayLoop(
            relay_of(documents, transport),
            monotonic=time.monotonic,
            rng=random.Random(secrets.randbits(64)),  # noqa: S311 - spreads waits, hides nothing
        )
        seeder = Seeder(documents.repository.catalog, room=max(documents.section.max_waiting_events // 2, 1))

        def turn() -> bool:
            try:
                seeder.turn()
            except CocliError as error:  # the next turn goes on where this one ended
                _LOG.warning("editions that subscribed do not catch up: %s", error.message)
            return loop.turn()

        activity = ThreadRuntime().every(_TURN_SECONDS, turn)
        try:
            yield
        finally:
            activity.stop()
            loop.send()


def subscribe(documents: Documents, datasource: str, edition: str) -> Route:
    """An edition gets what comes in from a datasource, from now on, and all that is there."""
    _check_carried(documents.section)
    check_parts(account=documents.account, datasource=datasource)
    fault = documents.repository.subscriptions.fault(str(Destination(check_edition(edition), INTAKE)))
    if fault:
        raise UsageError(reason=f'the edition "{edition}" cannot be sent anything: {fault}')
    now = documents.store.now()
    note_subscription(documents.store, documents.account, datasource, edition, now)
    documents.repository.catalog.routes.subscribe(documents.account, datasource, edition, now)
    return next(route for route in routes_of(documents, datasource) if route.edition == edition)


def routes_of(documents: Documents, datasource: str | None = None) -> list[Route]:
    """The subscriptions of the account."""
    return [
        route
        for route in documents.repository.catalog.routes.every()
        if route.account == documents.account and datasource in (None, route.datasource)
    ]


def unsubscribe(documents: Documents, datasource: str, edition: str) -> None:
    known = documents.repository.catalog.routes.unsubscribe(documents.account, datasource, edition)
    documents.store.delete(str(SubscriptionKey(documents.account, datasource, edition)))
    if not known:
        raise _not_subscribed(datasource, edition)


def recrawl(documents: Documents, datasource: str, edition: str | None) -> list[Route]:
    """Send all documents of a datasource once more to those who subscribed to it, or to one of them."""
    _check_carried(documents.section)
    wanted = [route for route in routes_of(documents, datasource) if edition in (None, route.edition)]
    if not wanted:
        raise _not_subscribed(datasource, edition or "any")
    for route in wanted:
        documents.repository.catalog.routes.recrawl(route.account, route.datasource, route.edition)
    return [route for route in routes_of(documents, datasource) if edition in (None, route.edition)]


def _not_subscribed(datasource: str, edition: str) -> UsageError:
    return UsageError(
        reason=f'The edition "{edition}" did not subscribe to the datasource {datasource}.',
        hint="See who did with: cocli documents subscriptions",
    )


def node_addresses(documents: Documents, nodes: Sequence[str]) -> list[str]:
    """Where to send what is for these nodes of the edition. Refused where nobody carries it."""
    if nodes:
        _check_carried(documents.section)
    return [str(Destination(documents.edition, _checked(node))) for node in nodes]


def _checked(node: str) -> str:
    if fault := name_fault(node):
        raise UsageError(reason=f'"{node}" is not the name of a node: {fault}')
    return node


def relay_of(documents: Documents, transport: MessageTransport) -> Relay:
    return Relay(documents.repository.catalog, GraphPublisher(transport), clock=documents.store.now)


@contextmanager
def opened_transport(documents: Documents, *, worker: str | None = None) -> Iterator[MessageTransport]:
    """Who carries messages between nodes, as it is configured. `worker` is what others see a claim's holder as."""
    transport = _transport(documents, worker)
    try:
        yield transport
    finally:
        transport.close()


def _transport(documents: Documents, worker: str | None) -> MessageTransport:
    section = documents.section
    _check_carried(section)
    if section.events == "kafka":
        return kafka_transport(section)
    return _queues(documents, worker)


def _check_carried(section: DocumentsSection) -> None:
    if section.events == "none":
        hint = 'Set events under [documents] to "queue" or "kafka".'
        raise ConfigError(reason="nobody carries messages between nodes: documents.events is none", hint=hint)


def kafka_transport(section: DocumentsSection) -> KafkaTransport:
    from cocli.app.documents.kafka_access import kafka_settings
    from cocli.documents.graph.transports.kafka import KafkaTransport

    if section.kafka_servers is None:
        hint = "Set kafka_servers under [documents] to host:port."
        raise ConfigError(reason="documents.events is kafka, and documents.kafka_servers is not set", hint=hint)
    return KafkaTransport(section.kafka_servers, settings=kafka_settings(section, os.environ))


def _queues(documents: Documents, worker: str | None) -> MessageTransport:
    from cocli.documents.graph.transports.queue import QueueTransport
    from cocli.fleet.eviction import Gate
    from cocli.fleet.worker_name import host_of
    from cocli.queue.providers import get_queue

    campaign = documents.campaign
    if campaign is None:
        hint = "Name the campaign with --campaign NAME, or set CAMPAIGN_NAME."
        raise ConfigError(reason="documents.events is queue, and queues belong to a campaign", hint=hint)
    config = campaign.settings.model()
    gate = None
    if worker is not None:
        gate = Gate(campaign.store, host_of(worker))

    def opened(name: str) -> Queue:
        return get_queue(config, campaign.store, name, worker=worker, gate=gate)

    return QueueTransport(opened)
