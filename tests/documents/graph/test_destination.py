"""Names of queues and topics: readable where they can be, and never the same for two."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kit.effort import effort

from cocli.documents.graph.destination import Destination, check_edition
from cocli.documents.graph.node import MAX_NAME
from cocli.documents.graph.transports.kafka import topic_of
from cocli.errors import QueueUnusable, UsageError

_NODES = st.from_regex(r"[a-c][a-c0-1]{0,3}(-[a-c]{1,2}){0,2}", fullmatch=True)
_CLUSTERS = st.one_of(st.text("abx0-.~ Ü", min_size=1, max_size=6), st.text("ab-", min_size=40, max_size=80))


def test_what_people_see() -> None:
    destination = Destination("prod", "emails")
    assert str(destination) == topic_of(destination) == "pipestream.prod.emails"
    assert destination.queue == "emails--prod"
    assert Destination("eu.prod_1", "emails").queue.startswith("emails--x--")
    assert Destination.parse("enricher") is None
    assert Destination.parse("pipestream.emails") is None
    with pytest.raises(QueueUnusable, match="letters, digits"):
        topic_of(Destination("prod eu", "emails"))
    with pytest.raises(UsageError):
        check_edition("prod~quarantine")


@settings(max_examples=effort(40))
@given(st.lists(st.builds(Destination, _CLUSTERS, _NODES), max_size=12, unique=True))
def test_no_two_share_a_name(destinations: list[Destination]) -> None:
    assert len({one.queue for one in destinations}) == len(destinations)
    assert len({str(one) for one in destinations}) == len(destinations)
    for one in destinations:
        assert re.fullmatch(r"[a-z][a-z0-9-]{0,62}", one.queue)
        assert Destination.parse(str(one)) == one


def test_the_longest_name_of_a_node_fits() -> None:
    assert len(Destination("x" * 100, "n" * MAX_NAME).queue) <= 63
