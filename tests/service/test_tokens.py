"""Tokens: whom they speak for, until when, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocli.app.documents.revocations import RevocationBook, revoke, revoked_tokens
from cocli.app.documents.tokens import TokenMachine, Tokens, TokenScope, scopes_named, token_id_said
from cocli.errors import CocliError, ConfigError, MissingExtra, TokenRefused, UsageError
from cocli.fleet.eviction import EvictionBook
from cocli.formats import json_records
from cocli.keys.paths import EvictionKey
from cocli.models.heartbeat import Eviction
from cocli.store.memory import MemoryStore

SECRET = b"0123456789abcdef0123456789abcdef"
NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
TOKENS = Tokens(SECRET)


def signed(**claims: Any) -> str:
    return jwt.encode({"iss": "cocli", "sub": "alice", "exp": int(NOON.timestamp()) + 60} | claims, SECRET, "HS256")


@pytest.mark.parametrize("account", ["alice", "Müller & Söhne", "a" * 200, "x.y.z"])
def test_a_token_speaks_for_its_account_until_it_ends(account: str) -> None:
    token = TOKENS.make(account, NOON + timedelta(seconds=60))
    assert TOKENS.account(token, NOON + timedelta(seconds=59)) == account
    assert TOKENS.account(token, datetime(2020, 1, 1, tzinfo=UTC)) == account  # the time is the one that is passed in
    with pytest.raises(TokenRefused, match="it has expired"):
        TOKENS.account(token, NOON + timedelta(seconds=60))


@pytest.mark.parametrize(
    "token",
    [
        "",
        "a.b.c",
        "ü.ü.ü",
        "\ud800.a.b",
        signed(iss="another"),
        signed() + "A",
        signed(pad="x" * 3000),
        jwt.encode({"sub": "alice", "exp": 9_999_999_999}, SECRET, "HS256"),
        jwt.encode({"iss": "cocli", "sub": "alice"}, SECRET, "HS256"),
        jwt.encode({"iss": "cocli", "exp": 9_999_999_999}, SECRET, "HS256"),
        jwt.encode({"iss": "cocli", "sub": "alice", "exp": 9_999_999_999}, b"f" * 32, "HS256"),
        jwt.encode({"iss": "cocli", "sub": "alice", "exp": 9_999_999_999}, SECRET * 2, "HS512"),
        jwt.encode({"iss": "cocli", "sub": "alice", "exp": 9_999_999_999}, "", "none"),
    ],
)
def test_what_this_service_did_not_sign_is_refused(token: str) -> None:
    with pytest.raises(TokenRefused, match="not signed by this service"):
        TOKENS.account(token, NOON)


@pytest.mark.parametrize("account", ["", "a|b", "x" * 201, "a\0b"])
def test_a_token_that_names_no_account_is_refused(account: str) -> None:
    with pytest.raises(TokenRefused, match="names no account"):
        TOKENS.account(signed(sub=account), NOON)
    with pytest.raises(CocliError):
        TOKENS.make(account, NOON)


@pytest.mark.parametrize("moment", ["soon", None, 1.5e9, [1]])
def test_an_end_that_is_no_time_is_none(moment: Any) -> None:
    with pytest.raises(TokenRefused):
        TOKENS.account(signed(exp=moment), NOON)


@given(st.text(max_size=300))
def test_no_text_is_an_exception_of_another_kind(text: str) -> None:
    with pytest.raises(TokenRefused):
        TOKENS.account(text, NOON)


def test_a_short_secret_is_refused_and_none_is_shown() -> None:
    with pytest.raises(ConfigError, match="fewer than 32 bytes"):
        Tokens(b"short")
    assert SECRET.decode() not in repr(TOKENS)


def test_without_the_library_its_install_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jwt", None)
    with pytest.raises(MissingExtra) as caught:
        TOKENS.make("alice", NOON)
    assert caught.value.hint == "Install it with: pip install 'cocli[http]'"


def test_the_library_is_not_loaded_by_importing_the_module() -> None:
    program = "import sys, cocli.app.documents.tokens; assert 'jwt' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_token_of_a_machine_ends_with_it_and_does_not_come_back() -> None:
    store = MemoryStore()
    tokens = Tokens(SECRET, EvictionBook(store, look_seconds=0).of)
    end = NOON + timedelta(days=30)
    stolen = tokens.make("alice", end, TokenMachine("pi1", NOON))
    other = tokens.make("alice", end, TokenMachine("pi2", NOON))
    assert {tokens.account(token, NOON) for token in (stolen, other)} == {"alice"}
    eviction = Eviction(hostname="pi1", evicted_at=NOON + timedelta(hours=1), evicted_by="bob@laptop", nonce="0" * 24)
    store.put(str(EvictionKey("pi1")), json_records.render(eviction))
    fresh = tokens.make("alice", end, TokenMachine("pi1", NOON + timedelta(hours=2)))
    for token in (stolen, fresh):
        with pytest.raises(TokenRefused, match="the machine that it was made for was evicted"):
            tokens.account(token, NOON)
    admitted = eviction.with_changes(admitted_at=NOON + timedelta(hours=2), admitted_by="bob@laptop")
    store.put(str(EvictionKey("pi1")), json_records.render(admitted))
    assert tokens.account(fresh, NOON) == "alice"
    with pytest.raises(TokenRefused, match="was evicted"):
        tokens.account(stolen, NOON)
    assert tokens.account(other, NOON) == "alice"
    with pytest.raises(TokenRefused, match="when it was made for which machine"):
        tokens.account(signed(host="pi1"), NOON)


def test_what_a_token_allows_and_whom_it_is_for() -> None:
    end = NOON + timedelta(days=1)
    usual = TOKENS.caller(TOKENS.make("alice", end), NOON)
    assert (usual.who, usual.may(TokenScope.WRITE), usual.may(TokenScope.PURGE)) == ("alice", True, False)
    admin = TOKENS.caller(TOKENS.make("alice", end, who="Ada", scopes=scopes_named(["admin"])), NOON)
    assert (admin.who, all(map(admin.may, TokenScope))) == ("Ada", True)
    assert TOKENS.caller(signed(), NOON).scopes == {TokenScope.READ, TokenScope.WRITE}
    assert TOKENS.caller(signed(scope="nonsense"), NOON).scopes == frozenset()
    for names in (["reed"], ["read,nonsense"]):
        with pytest.raises(UsageError):
            scopes_named(names)
    with pytest.raises(UsageError):
        TOKENS.make("alice", end, who="a\nb")


def test_a_token_that_was_revoked_is_refused_where_the_store_is_shared() -> None:
    store = MemoryStore()
    now = [0.0]
    book = RevocationBook(store, look_seconds=2.0, clock=lambda: now[0])
    tokens = Tokens(SECRET, is_revoked=book.has)
    lost, other = (tokens.make("alice", NOON + timedelta(days=1)) for _ in range(2))
    assert tokens.account(lost, NOON) == "alice"
    assert revoke(store, token_id_said(lost), by="me", reason="lost") is True
    assert revoke(store, token_id_said(lost), by="me") is False
    now[0] = 3.0
    with pytest.raises(TokenRefused, match="it was revoked"):
        tokens.account(lost, NOON)
    assert tokens.account(other, NOON) == "alice"
    (record,) = revoked_tokens(store)
    assert (record.token, record.reason) == (token_id_said(lost), "lost")
