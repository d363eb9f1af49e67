"""Documents in motion while relay, broker, database and nodes are killed: a short storm; `make motion` takes longer."""

from __future__ import annotations

import pytest
from tests.chaos.motion import rage
from tests.kit.effort import effort

SECONDS = effort(8)


@pytest.mark.timeout(600)
def test_killed_at_random_every_document_comes_to_its_end() -> None:
    said: list[str] = []
    kills = rage(SECONDS, say=said.append)
    assert sum(kills.values()) >= 3, said
