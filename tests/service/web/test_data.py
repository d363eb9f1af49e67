"""The files of the dashboard, as the live server answers them: each fits its schema, and says when it changed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from tests.kit.web import NAME, OTHER, RunningWeb, company

from cocli.app.web.schemas import MODELS
from cocli.app.web.shell import WebShell
from cocli.service.web.access import Role

HASH = company(1).company_hash
FILES = {
    "site.json": "site",
    "campaigns.json": "campaigns",
    f"{NAME}/dashboard.json": "dashboard",
    f"{NAME}/queues.json": "queues",
    f"{NAME}/machines.json": "machines",
    f"{NAME}/config.json": "config",
    f"{NAME}/compare.json": "compare",
    f"{NAME}/coverage.geojson": "coverage",
    f"{NAME}/companies/{HASH[:3]}.json": "companies",
    f"{NAME}/why/{HASH}.json": "why",
}


def test_every_schema_has_a_file_that_is_tried() -> None:
    assert set(FILES.values()) == set(MODELS)


@pytest.mark.parametrize("path", FILES)
def test_a_live_answer_fits_its_schema(web: RunningWeb, path: str) -> None:
    with web.caller(Role.VIEWER) as caller:
        schema = caller.get(f"/data/schemas/{FILES[path]}.json").json()
        answer = caller.get(f"/data/{path}")
    assert answer.status_code == 200, answer.text
    document = answer.json()
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(document)
    assert document["schema"] == schema["$id"]


def test_a_schema_refuses_what_lacks_a_key(web: RunningWeb) -> None:
    with web.caller(Role.VIEWER) as caller:
        schema = caller.get("/data/schemas/config.json").json()
        document = caller.get(f"/data/{NAME}/config.json").json()
    del document["queries"]
    assert not Draft202012Validator(schema).is_valid(document)


def test_a_company_costs_one_request_and_names_its_sources(web: RunningWeb) -> None:
    with web.caller(Role.VIEWER) as caller:
        shard = caller.get(f"/data/{NAME}/companies/{HASH[:3]}.json").json()
    found = next(known for known in shard["companies"] if known["company_hash"] == HASH)
    facts = {fact["field"]: fact for fact in found["facts"]}
    assert facts["phone_e164"]["source"] == "overture"
    assert facts["phone_e164"]["link"] == "tel:+12175550001"
    assert facts["website"]["link"] == "https://pipes-1.example/"


def test_an_etag_stays_while_nothing_changes(web: RunningWeb) -> None:
    with web.caller(Role.VIEWER) as caller:
        first = caller.get(f"/data/{NAME}/config.json")
        web.served.application.files.forget()
        second = caller.get(f"/data/{NAME}/config.json")
        unchanged = caller.get(f"/data/{NAME}/config.json", headers={"If-None-Match": first.headers["etag"]})
    assert first.headers["etag"] == second.headers["etag"]
    assert first.json()["at"] != second.json()["at"]
    assert (unchanged.status_code, unchanged.content) == (304, b"")


@pytest.mark.parametrize(
    ("asked", "part"),
    [("bytes=0-3", slice(0, 4)), ("bytes=-5", slice(-5, None)), ("bytes=9-", slice(9, None))],
)
def test_parts_of_a_file(web: RunningWeb, asked: str, part: slice) -> None:
    path = f"/data/{NAME}/exports/{NAME}.csv"
    with web.caller(Role.VIEWER) as caller:
        whole = caller.get(path)
        answer = caller.get(path, headers={"Range": asked})
        beyond = caller.get(path, headers={"Range": f"bytes={len(whole.content)}-"})
    assert (answer.status_code, answer.content) == (206, whole.content[part])
    assert beyond.status_code == 416


def test_parts_of_the_search_are_read_where_they_lie(web: RunningWeb) -> None:
    with web.caller(Role.VIEWER) as caller:
        manifest = caller.get(f"/data/{NAME}/prospects/manifest.json").json()
        path = f"/data/{NAME}/prospects/{manifest['lines'][0]['file']}"
        whole = caller.get(path)
        part = caller.get(path, headers={"Range": "bytes=3-9"})
        unchanged = caller.get(path, headers={"If-None-Match": whole.headers["etag"]})
    assert web.served.application.site.stored(path.removeprefix("/data/")) is not None
    assert web.served.application.files.cache.fresh(path.removeprefix("/data/")) is None, "no copy in memory"
    assert (part.status_code, part.content) == (206, whole.content[3:10])
    assert part.headers["content-range"] == f"bytes 3-9/{len(whole.content)}"
    assert unchanged.status_code == 304
    assert "immutable" in whole.headers["cache-control"]


@pytest.mark.parametrize(
    "path",
    [
        "nothing.json",
        f"{NAME}/nothing.json",
        f"{NAME}/../../etc/passwd",
        f"{NAME}/prospects/..%2f..%2fx",
        f"{NAME}/exports/x.csv",
    ],
)
def test_a_file_that_is_not_there_is_no_page(web: RunningWeb, path: str) -> None:
    with web.caller(Role.VIEWER) as caller:
        answer = caller.get(f"/data/{path}")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["error"]["message"]


def test_who_sees_one_campaign_sees_no_other(web: RunningWeb) -> None:
    with web.caller(Role.NOBODY, {NAME: Role.VIEWER}) as caller:
        names = [card["name"] for card in caller.get("/data/campaigns.json").json()["campaigns"]]
        mine = caller.get(f"/data/{NAME}/dashboard.json")
        theirs = caller.get(f"/data/{OTHER}/dashboard.json")
        index = caller.get("/").text
    assert names == [NAME]
    assert (mine.status_code, theirs.status_code) == (200, 403)
    assert f"data/{NAME}/report.html" in index
    assert OTHER not in index


def test_the_report_remains_without_script(web: RunningWeb) -> None:
    with web.caller(Role.VIEWER) as caller:
        answer = caller.get(f"/data/{NAME}/report.html")
    assert "Pipes 1" in answer.text
    assert "script-src" not in answer.headers["content-security-policy"]


def test_the_shell_names_its_assets_by_what_they_say(web: RunningWeb) -> None:
    with web.caller(Role.NOBODY) as caller:
        page = caller.get("/")
        tree = page.text.partition("assets/")[2].partition("/")[0]
        script = caller.get(f"/assets/{tree}/main.js")
        other = caller.get("/assets/0000000000000000/main.js")
    assert "{{assets}}" not in page.text
    assert "trusted-types" in page.headers["content-security-policy"]
    assert script.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert script.headers["content-type"].startswith("text/javascript")
    assert other.status_code == 404


def test_scripts_are_sent_compressed_to_who_takes_it(web: RunningWeb) -> None:
    shell = WebShell.installed()
    path = f"/assets/{shell.tree_hash}/main.js"
    with web.caller(Role.NOBODY) as caller:
        zipped = caller.get(path, headers={"Accept-Encoding": "gzip"})
        plain = caller.get(path, headers={"Accept-Encoding": "identity"})
    assert zipped.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert zipped.content == plain.content == shell.asset("main.js").data
    assert int(zipped.headers["content-length"]) < len(plain.content) / 2
    assert zipped.headers["etag"] != plain.headers["etag"]


def test_events_tell_what_a_page_should_read_again(web: RunningWeb) -> None:
    with web.caller(Role.EDITOR) as caller, caller.stream("GET", f"/events?campaign={NAME}") as stream:
        lines = stream.iter_lines()
        first = _event(lines, "files")
        caller_two = web.caller(Role.EDITOR)
        with caller_two:
            sent = caller_two.post(f"/api/{NAME}/commands", json={"commands": [{"text": "add-query roofer"}]}).json()
        later = _event(lines, "files")
    path = f"{NAME}/config.json"
    assert sent["results"][0]["state"] == "sent"
    assert first["etags"][path] != later["etags"][path]


def _event(lines: Any, kind: str) -> dict[str, Any]:
    for line in lines:
        if line == f"event: {kind}":
            next(lines)
            found: dict[str, Any] = json.loads(next(lines).removeprefix("data: "))
            return found
    raise AssertionError("the stream ended")
