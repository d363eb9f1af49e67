"""Watches: each change is told once, and kept until it was told; what is told is harmless."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from email import message_from_bytes, policy
from pathlib import Path

import pytest

from cocli.app.campaigns.campaign import edit_campaign, new_campaign
from cocli.app.freshness.watches import tell_watches
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.workspace import Workspace, open_workspace
from cocli.config.edit import parse_change
from cocli.config.resolve import Flags
from cocli.index.writer import IndexWriter
from cocli.keys.paths import WatchStateKey
from cocli.models.freshness.change import BusinessChange, ChangeKind
from cocli.models.prospect import Prospect
from tests.kit.webhooks import holding_receiver, receiver, wait_for

HOSTILE = '=HYPERLINK("http://x")<script>alert(1)</script>\r\nBcc: a@b.example'
SECRET = "a long secret of the watch"
CAMPAIGN = "plumbers"


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    environ = {"HOME": str(tmp_path)} | {
        name: str(tmp_path / name.lower())
        for name in ("COCLI_DATA_HOME", "COCLI_CONFIG", "COCLI_CACHE_HOME", "COCLI_STATE_HOME")
    }
    with open_workspace(environ, Flags()) as opened:
        new_campaign(opened, CAMPAIGN, ["plumber"])
        yield opened


def watch(workspace: Workspace, text: str, *further: str) -> None:
    settings = [f"watch={text}", *further]
    edit_campaign(workspace, CAMPAIGN, [parse_change(setting) for setting in settings])


def change(workspace: Workspace, number: int, kind: ChangeKind = "phone", city: str = "Harrowmere") -> None:
    """A business, and something that became different of it."""
    indexes = campaign_indexes(workspace, CAMPAIGN)
    now, company = indexes.store.now(), f"{number:016x}"
    business = Prospect(
        company_hash=company, slug=f"b-{number}", name=HOSTILE, city=city, campaign=CAMPAIGN,
        first_seen=now, updated_at=now,
    )  # fmt: skip
    told = BusinessChange(
        change_id=company, campaign=CAMPAIGN, company_hash=company, name=HOSTILE, kind=kind, before="1", after="2",
        found_at=now + timedelta(seconds=number),
    )  # fmt: skip
    IndexWriter(indexes.open(indexes.ref("prospects"))).append([business])
    IndexWriter(indexes.open(indexes.ref("changes"))).append([told])


def told(workspace: Workspace) -> list[tuple[int, int, str | None]]:
    return [(report.new, report.told, report.problem) for report in tell_watches(workspace, CAMPAIGN)]


def test_each_change_of_interest_is_told_once_in_harmless_files(workspace: Workspace) -> None:
    watch(
        workspace, '[{name = "near", kinds = ["phone"], cities = ["harrowmere"], digest = true, to = ["me@a.example"]}]'
    )
    assert told(workspace) == [(0, 0, None)]
    change(workspace, 1)
    change(workspace, 2, kind="closed")
    change(workspace, 3, city="Ostwick")
    (planned,) = tell_watches(workspace, CAMPAIGN, dry_run=True)
    assert (planned.new, planned.told, planned.written) == (1, 0, [])
    (done,) = tell_watches(workspace, CAMPAIGN)
    assert (done.new, done.told, done.problem) == (1, 1, None)
    store = workspace.campaign(CAMPAIGN).store
    table = store.get(done.written[0]).data.decode("utf-8-sig").splitlines()
    assert len(table) == 2
    assert table[1].startswith("\"'=HYPERLINK"), "no text is a formula"
    message = message_from_bytes(store.get(done.written[1]).data, policy=policy.default)
    assert (message["To"], message["Bcc"]) == ("me@a.example", None)
    html, plain = message.get_body(("html",)), message.get_body(("plain",))
    assert html is not None
    assert plain is not None
    assert "<script>" not in html.get_content()
    assert "kind: phone" in plain.get_content()
    assert told(workspace) == [(0, 0, None)], "nothing is told twice"
    change(workspace, 4)
    assert told(workspace) == [(1, 1, None)]
    assert len(store.get(done.written[0]).data.splitlines()) == 3, "the table has all that was told"


def test_a_call_is_signed_and_kept_until_it_is_taken(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(f"{SECRET}\n", "utf-8")
    with receiver(500) as (url, got):
        text = f'[{{name = "hook", file = false, webhook = "{url}", secret_file = "{tmp_path / "secret"}"}}]'
        watch(workspace, text)
        change(workspace, 1)
        ((_, _, refused),) = told(workspace)
        assert "not called there" in (refused or ""), "a private address is refused"
        assert got == []
        watch(workspace, text, 'web.webhook_networks=["127.0.0.0/8"]')
        assert told(workspace) == [(1, 0, "answered 500")]
        assert told(workspace) == [(1, 1, None)]
        assert told(workspace) == [(0, 0, None)]
    assert len(got) == 2
    for headers, body in got:
        signed = hmac.new(SECRET.encode(), headers["X-Cocli-Timestamp"].encode() + b"." + body, hashlib.sha256)
        assert headers["X-Cocli-Signature"] == f"sha256={signed.hexdigest()}"
    assert got[0][0]["X-Cocli-Delivery"] == got[1][0]["X-Cocli-Delivery"], "who was told twice can tell"
    assert json.loads(got[1][1])["changes"][0]["kind"] == "phone"


_TELL = """
import sys
from cocli.cli.main import main
sys.argv = ["cocli", "campaign", "tell", "plumbers"]
main()
"""


def test_who_is_killed_between_telling_and_noting_is_followed_by_the_same_delivery(
    workspace: Workspace, tmp_path: Path
) -> None:
    """A real process that is killed while the receiver has the call. What is found meanwhile is another delivery."""
    (tmp_path / "secret").write_text(f"{SECRET}\n", "utf-8")
    with holding_receiver() as (url, got, answer):
        text = f'[{{name = "hook", digest = true, webhook = "{url}", secret_file = "{tmp_path / "secret"}"}}]'
        watch(workspace, text, 'web.webhook_networks=["127.0.0.0/8"]')
        change(workspace, 1)
        environ = {**os.environ, **workspace.settings.environ}
        teller = subprocess.Popen([sys.executable, "-c", _TELL], env=environ, stderr=subprocess.DEVNULL)
        try:
            wait_for(lambda: got or teller.poll() is not None)
        finally:
            teller.kill()
            teller.wait()
        assert len(got) == 1, "it was told before it was killed"
        answer.set()
        ((_, _, problem),) = told(workspace)
        assert "is telling it" in (problem or ""), "it might still be alive"
        change(workspace, 2)
        let_time_pass(workspace)
        assert told(workspace) == [(2, 2, None)]
        assert told(workspace) == [(0, 0, None)]
    deliveries = [headers["X-Cocli-Delivery"] for headers, _ in got]
    assert deliveries[0] == deliveries[1] != deliveries[2]
    assert got[0][1] == got[1][1], "word for word"
    store = workspace.campaign(CAMPAIGN).store
    digests = [info.key for info in store.list(f"campaigns/{CAMPAIGN}/exports/watches/hook/")]
    assert len(digests) == 2, "the first one was written again, and not beside itself"


def let_time_pass(workspace: Workspace) -> None:
    """As if the five minutes were over that somebody has for telling."""
    store, key = workspace.campaign(CAMPAIGN).store, str(WatchStateKey(CAMPAIGN, "hook"))
    state = json.loads(store.get(key).data)
    state["telling"]["until"] = state["telling"]["at"]
    store.put(key, json.dumps(state).encode())
