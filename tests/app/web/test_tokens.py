"""API tokens of the dashboard: they end by themselves, or when somebody revokes them; no secret is kept."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cocli.app.web.kept.tokens import TokenBook
from cocli.errors import TokenRefused


def test_a_token_ends_on_its_day_and_not_before(tmp_path: Path) -> None:
    now = [datetime(2026, 11, 17, 12, tzinfo=UTC)]
    book = TokenBook(str(tmp_path / "web"), lambda: now[0])
    token, secret = book.make("reports", "viewer", ["plumbers"], days=30, made_by="ann")
    now[0] += timedelta(days=30, seconds=-1)
    assert book.check(secret) == token
    now[0] += timedelta(seconds=1)
    with pytest.raises(TokenRefused, match="it is over"):
        book.check(secret)


def test_a_revoked_token_is_refused_by_every_process_and_its_secret_is_nowhere(tmp_path: Path) -> None:
    folder = str(tmp_path / "web")
    book = TokenBook(folder, lambda: datetime(2026, 11, 17, tzinfo=UTC))
    token, secret = book.make("reports", "viewer", None, days=30, made_by="ann")
    other = TokenBook(folder, lambda: datetime(2026, 11, 18, tzinfo=UTC))
    assert other.check(secret) == token
    book.revoke(token.id)
    with pytest.raises(TokenRefused, match="it was revoked"):
        other.check(secret)
    kept = (tmp_path / "web" / "tokens.json").read_text()
    assert secret.partition(".")[2] not in kept
    assert (tmp_path / "web" / "tokens.json").stat().st_mode & 0o077 == 0
