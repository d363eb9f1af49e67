"""A list is brought by the browser, its run is watched, the file is got back, and a webhook is told."""

from __future__ import annotations

import hashlib
import hmac
import json
from pathlib import Path

import pytest

from cocli.service.web.access import Role
from tests.kit.web import running_web
from tests.kit.webhooks import receiver, wait_for
from tests.scenarios.conftest import in_make_scenarios

LIST = b"name,city,phone\nAcme Roofing,Springfield,+1 217 555 0100\nBob's Pipes,Springfield,+1 217 555 0101\n"
OCTETS = {"Content-Type": "application/octet-stream"}


@in_make_scenarios
@pytest.mark.timeout(600)
def test_a_list_is_brought_run_and_got_back(tmp_path: Path) -> None:
    with running_web(tmp_path, 1) as web, web.caller(Role.ADMIN) as caller, receiver() as (address, got):
        brought = caller.post("/api/uploads?name=leads.csv", content=LIST, headers=OCTETS).json()
        assert (brought["kind"], brought["rows"]) == ("list", 2), brought
        begun = caller.post("/api/runs", json={"campaign": "leads", "upload": brought["upload"]}).json()
        wait_for(lambda: "leads" in {card["name"] for card in caller.get("/data/campaigns.json").json()["campaigns"]})
        hook = caller.post("/api/webhooks", json={"url": address, "campaign": "leads", "events": ["run-ended"]}).json()
        path = f"/api/runs/{begun['run']}"
        ended = wait_for(lambda: (run := caller.get(path).json())["state"] != "running" and run)
        assert ended["state"] == "met", ended
        file = caller.get(ended["file"])
        web.served.application.webhooks.look()
        wait_for(lambda: len(got) >= 2)
        listed = caller.get("/api/runs").json()["runs"]
    assert file.status_code == 200
    assert "Acme Roofing" in file.text
    assert ended["command"].startswith("cocli run")
    assert begun["run"] in {run["id"] for run in listed}
    headers, body = got[-1]
    signed = headers["X-Cocli-Timestamp"].encode() + b"." + body
    expected = hmac.new(hook["secret"].encode(), signed, hashlib.sha256).hexdigest()
    assert headers["X-Cocli-Signature"] == f"sha256={expected}"
    assert json.loads(body)["event"] == "run-ended"
    assert hook["secret"] not in str(hook["webhook"])
