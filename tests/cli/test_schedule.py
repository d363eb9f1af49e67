"""`cocli schedule`: what is printed, and what comes next."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def farms(cocli: Any) -> Any:
    assert cocli("campaign", "new", "farms", "--query", "farm").code == 0
    return cocli


def test_what_was_printed_is_what_the_hint_installs(farms: Any) -> None:
    shown = farms("schedule", "farms", "--cron", "--period", "week")
    assert shown.code == 0
    assert "--run --period week" in shown.out
    assert "hint: cocli schedule farms --period week --cron --install" in shown.err


def test_json_is_one_document(farms: Any) -> None:
    shown = farms("schedule", "farms", "--cron", "--json")
    assert (shown.json["manager"], shown.json["state"], "hint" in shown.err) == ("cron", "printed", False)
