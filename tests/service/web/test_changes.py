"""What people change in the browser: two who write at once lose nothing, and everything can be undone."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.kit.web import NAME, RunningWeb, company

from cocli.app.campaigns.campaign import edit_campaign
from cocli.app.workspace import open_workspace
from cocli.config.edit import parse_change
from cocli.config.resolve import Flags
from cocli.formats import json_records
from cocli.keys.paths import EvictionKey
from cocli.models.heartbeat import Eviction
from cocli.service.web.access import Role

FIRST = f"/api/{NAME}/companies/{company(1).company_hash}"
SECOND = f"/api/{NAME}/companies/{company(2).company_hash}"
THIRD = f"/api/{NAME}/companies/{company(3).company_hash}"


def _undone(caller: Any, undo: dict[str, Any]) -> Any:
    headers = {"If-Match": undo["if_match"]} if "if_match" in undo else {}
    return caller.request(undo["method"], undo["path"], json=undo["body"] or {}, headers=headers)


def test_a_page_is_edited_in_place_and_undone(web: RunningWeb) -> None:
    with web.caller(Role.EDITOR) as caller:
        before = caller.get(FIRST).json()
        wish = {"set": {"status": "called"}, "add_tags": ["vip"], "body": "Ask for Ann.\n"}
        done = caller.patch(FIRST, json=wish, headers={"If-Match": f'"{before["etag"] or "*"}"'})
        assert done.status_code == 200, done.text
        after = done.json()["company"]
        shown = caller.get(f"/data/{NAME}/companies/{company(1).company_hash[:3]}.json").json()["companies"]
        undone = _undone(caller, done.json()["undo"])
    assert after["written"]["status"] == "called"
    assert "vip" in after["tags"]
    assert after["body"].strip() == "Ask for Ann."
    assert after["etag"] in [known["etag"] for known in shown]
    assert "cocli company edit" in done.json()["command"]
    assert undone.status_code == 200
    assert "status" not in undone.json()["company"]["written"]
    assert "vip" not in undone.json()["company"]["tags"]


def test_the_later_of_two_editors_sees_both(web: RunningWeb) -> None:
    with web.caller(Role.EDITOR) as ann, web.caller(Role.EDITOR) as bob:
        known = ann.get(SECOND).json()["etag"] or "*"
        etag = ann.patch(SECOND, json={"set": {"status": "new"}}, headers={"If-Match": f'"{known}"'}).json()["etag"]
        first = ann.patch(SECOND, json={"set": {"status": "won"}}, headers={"If-Match": f'"{etag}"'})
        second = bob.patch(SECOND, json={"set": {"status": "lost"}}, headers={"If-Match": f'"{etag}"'})
        now = bob.get(SECOND).json()
    assert (first.status_code, second.status_code) == (200, 412)
    told = second.json()
    assert told["yours"]["set"] == {"status": "lost"}
    assert told["theirs"]["written"]["status"] == "won"
    assert second.headers["etag"].strip('"') == told["theirs"]["etag"]
    assert now["written"]["status"] == "won"


@pytest.mark.parametrize(
    ("wish", "status"),
    [
        ({"set": {"cocli": "x"}}, 400),
        ({"set": {"tags": "x"}}, 400),
        ({"set": {"status": "a\x07b"}}, 400),
        ({"add_tags": ["two\nlines"]}, 400),
        ({"unknown": 1}, 400),
        ({"body": "x" * 200_001}, 400),
    ],
)
def test_nonsense_is_refused_and_nothing_is_written(web: RunningWeb, wish: dict[str, Any], status: int) -> None:
    with web.caller(Role.EDITOR) as caller:
        before = caller.get(THIRD).json()
        answer = caller.patch(THIRD, json=wish, headers={"If-Match": f'"{before["etag"] or "*"}"'})
        after = caller.get(THIRD).json()
    assert answer.status_code == status
    assert answer.json()["error"]["message"]
    assert (before["written"], before["tags"], before["body"]) == (after["written"], after["tags"], after["body"])


def test_a_change_says_which_version_it_changes(web: RunningWeb) -> None:
    with web.caller(Role.EDITOR) as caller:
        assert caller.patch(FIRST, json={"set": {"status": "x"}}).status_code == 428


def test_notes_are_written_changed_and_removed(web: RunningWeb) -> None:
    with web.caller(Role.EDITOR) as caller:
        made = caller.post(f"{THIRD}/notes", json={"text": "Called.\nAsks for an offer."}).json()
        path = f"{THIRD}/notes/{made['name']}"
        changed = caller.put(path, json={"text": "Called twice."}, headers={"If-Match": f'"{made["etag"]}"'})
        late = caller.put(path, json={"text": "Mine."}, headers={"If-Match": f'"{made["etag"]}"'})
        texts = [note["text"] for note in caller.get(THIRD).json()["notes"]]
        removed = caller.delete(path)
        left = caller.get(THIRD).json()["notes"]
        back = _undone(caller, removed.json()["undo"])
    assert changed.status_code == 200, changed.text
    assert late.status_code == 412
    assert late.json()["theirs"]["text"] == "Called twice."
    assert texts == ["Called twice."]
    assert left == []
    assert back.status_code == 201


def test_a_selection_is_tagged_and_untagged(web: RunningWeb) -> None:
    hashes = [company(number).company_hash for number in (1, 2, 3)]
    with web.caller(Role.EDITOR) as caller:
        done = caller.post(f"/api/{NAME}/tags", json={"company_hashes": hashes, "add": ["fair-2026"]}).json()
        tags = [caller.get(path).json()["tags"] for path in (FIRST, SECOND, THIRD)]
        _undone(caller, done["undo"])
        later = caller.get(FIRST).json()["tags"]
    assert done["changed"] == 3
    assert all("fair-2026" in known for known in tags)
    assert "fair-2026" not in later


def test_an_excluded_company_is_in_no_list(web: RunningWeb) -> None:
    with web.caller(Role.EDITOR) as caller:
        before = caller.get(f"/api/{NAME}/prospects").json()["total"]
        done = caller.post(f"{SECOND}/exclude", json={}).json()
        during = caller.get(f"/api/{NAME}/prospects").json()["total"]
        said = caller.get(SECOND).json()["excluded"]
        _undone(caller, done["undo"])
        after = caller.get(f"/api/{NAME}/prospects").json()["total"]
    assert (during, after) == (before - 1, before)
    assert said


def test_prospects_by_pages_and_filters(web: RunningWeb) -> None:
    with web.caller(Role.VIEWER) as caller:
        path, seen = f"/api/{NAME}/prospects?limit=1", list[str]()
        page = caller.get(path).json()
        while True:
            seen += [row["company_hash"] for row in page["rows"]]
            if page["after"] is None:
                break
            page = caller.get(f"{path}&after={page['after']}").json()
        one_name = caller.get(f"/api/{NAME}/prospects?q=pipes-2").json()
        bad = [caller.get(f"/api/{NAME}/prospects?{query}").status_code for query in ("limit=0", "after=x", "sort=x")]
    assert len(seen) == len(set(seen)) == page["total"] == 3
    assert [row["company_hash"] for row in one_name["rows"]] == [company(2).company_hash]
    assert bad == [400, 400, 400]


@pytest.mark.parametrize("format_", ["csv", "xlsx", "parquet", "geojson", "kml", "vcard", "hubspot"])
def test_exactly_this_view_as_a_file(web: RunningWeb, format_: str) -> None:
    with web.caller(Role.VIEWER) as caller:
        answer = caller.get(f"/api/{NAME}/export?format={format_}&q=pipes-2")
        some = caller.post(f"/api/{NAME}/export", json={"format": format_, "company_hashes": [company(1).company_hash]})
    assert (answer.status_code, answer.headers["x-cocli-rows"]) == (200, "1")
    assert some.headers["x-cocli-rows"] == "1"
    assert "attachment" in answer.headers["content-disposition"]
    if format_ == "csv":
        assert "pipes-2.example" in answer.text
        assert "pipes-1.example" not in answer.text


def test_a_basket_tells_of_each_wish(web: RunningWeb) -> None:
    wishes = ["add-query drains", "remove-query", "explode", "add-exclude domain:chain.example", "scale gm-list=2"]
    with web.caller(Role.ADMIN) as caller:
        told = caller.post(f"/api/{NAME}/commands", json={"commands": [{"text": text} for text in wishes]}).json()[
            "results"
        ]
        ids = ",".join(sent["id"] for result in told for sent in result["sent"])
        rows = caller.get(f"/api/{NAME}/commands?ids={ids}").json()["commands"]
    assert [result["state"] for result in told] == ["sent", "refused", "refused", "sent", "refused"]
    assert all(result["reason"] for result in told if result["state"] == "refused")
    assert told[0]["undo"]["text"] == "remove-query drains"
    assert told[3]["undo"]["text"] == "remove-exclude domain:chain.example"
    assert "cocli remote send" in told[0]["command"]
    assert {row["state"] for row in rows} == {"waiting"}
    assert {row["sent_by"] for row in rows} == {"test admin"}


def test_how_many_workers_there_were_is_undone(web: RunningWeb) -> None:
    with open_workspace(web.home.environ, Flags()) as workspace:
        edit_campaign(workspace, NAME, [parse_change("workers.pi-1.gm-list=2")])
    with web.caller(Role.ADMIN) as caller:
        wish = {"text": "scale gm-list=5", "host": "pi-1"}
        told = caller.post(f"/api/{NAME}/commands", json={"commands": [wish]}).json()["results"][0]
    assert told["state"] == "sent", told
    assert told["undo"]["text"] == "scale gm-list=2"


def test_a_new_report_is_counted_here(web: RunningWeb) -> None:
    with web.caller(Role.EDITOR) as caller:
        made = caller.post(f"/api/{NAME}/report", json={}).json()
        report = caller.get(f"/data/{NAME}/dashboard.json").json()["report"]
        cards = caller.get("/data/campaigns.json").json()["campaigns"]
    assert report["at"] == made["at"]
    assert next(card for card in cards if card["name"] == NAME)["prospects"] == 3


def test_a_server_that_runs_on_an_evicted_machine_changes_nothing_more(web: RunningWeb) -> None:
    """It began before the eviction. It shows what there is, and each change is refused."""
    here, wish = socket.gethostname(), {"add_tags": ["late"]}
    record = Eviction(hostname=here, evicted_at=datetime(2026, 11, 15, tzinfo=UTC), evicted_by="ann@desk",
                      reason="stolen", sequence=0, nonce="0" * 24)  # fmt: skip
    with web.caller(Role.EDITOR) as caller, open_workspace(web.home.environ, Flags()) as workspace:
        workspace.store.put(str(EvictionKey(here)), json_records.render(record))
        try:
            refused = _until(lambda: caller.patch(THIRD, json=wish, headers={"If-Match": "*"}), _is_refused)
            assert "was evicted" in refused.json()["error"]["message"]
            assert caller.get(THIRD).status_code == 200
        finally:
            workspace.store.delete(str(EvictionKey(here)))
        _until(lambda: caller.patch(THIRD, json=wish, headers={"If-Match": "*"}), lambda done: not _is_refused(done))


def _is_refused(done: Any) -> bool:
    return bool(done.json().get("error", {}).get("code") == "host_evicted")


def _until(ask: Callable[[], Any], holds: Callable[[Any], bool]) -> Any:
    """What was seen holds for two seconds."""
    deadline = time.monotonic() + 60
    while not holds(done := ask()):
        assert time.monotonic() < deadline, done.text
        time.sleep(0.2)
    return done
