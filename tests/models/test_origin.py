"""Where values came from: one order, one origin per field."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cocli.errors import RecordError
from cocli.formats import usv
from cocli.models.domain import Domain
from cocli.models.origin import Origin

NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


def origin(*fields: str, source: str = "website", **values: str) -> Origin:
    return Origin.model_validate({"fields": fields, "source": source, "observed_at": NOON, **values})


def domain(*origins: Origin) -> Domain:
    return Domain.checked({"domain": "acme.example", "status": "alive", "ip": "192.0.2.1", "origins": origins})


def test_origins_have_one_order() -> None:
    one, other = origin("status", "ip"), origin("mx", source="dns")
    assert domain(one, other) == domain(other, origin("ip", "status"))
    assert [entry.fields for entry in domain(one, other).origins] == [("mx",), ("ip", "status")]


def test_a_field_has_one_origin() -> None:
    with pytest.raises(RecordError, match="two origins claim the field ip"):
        domain(origin("ip"), origin("status", "ip", source="dns"))
    with pytest.raises(RecordError, match="two origins claim the field ip"):
        domain(origin("ip", "ip"))


def test_origins_survive_their_file() -> None:
    record = domain(origin("ip", reason="said so"), origin("status", document="00000000-0000-3000-8000-000000000000"))
    assert usv.read_one(Domain, usv.render(Domain, [record])) == record
    assert list(usv.read(Domain, usv.render(Domain, [record]), trusted=True)) == [record]
