"""What runs at the edge: the guard in node, as CloudFront runs it, and the login against a provider on loopback."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from cocli.app.infra.edge import login as login_module

login: Any = login_module  # it runs on AWS as it is, and has no types

KEY = "a key of a test"
GUARD = Path(login_module.__file__).with_name("guard.js")
_RUN = """
var asked = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify(asked.map(function (request) { return handler({ request: request }); })));
"""


def test_the_login_fits_into_a_template() -> None:
    assert len(Path(login.__file__).read_bytes()) <= 4096, "CloudFormation takes no longer function"
    assert len(GUARD.read_bytes()) <= 10_000, "CloudFront takes no longer function"


def signed(body: dict[str, Any] | str, key: str = KEY) -> str:
    text = login.text((body if isinstance(body, str) else json.dumps(body)).encode())
    return f"{text}.{login.text(hmac.digest(key.encode(), text.encode(), 'sha256'))}"


def guard(*asked: tuple[str, str | None]) -> list[dict[str, Any]]:
    """What the guard makes of requests: an address, and the value of the cookie."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    requests = [
        {
            "method": "GET",
            "uri": uri,
            "headers": {"host": {"value": "d1.cloudfront.net"}, "x-cocli-host": {"value": "evil.example"}},
            "cookies": {} if cookie is None else {"cocli_login": {"value": cookie}},
        }
        for uri, cookie in asked
    ]
    program = GUARD.read_text("utf-8").replace("@KEY@", KEY) + _RUN
    done = subprocess.run([node, "-e", program], input=json.dumps(requests), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    answers: list[dict[str, Any]] = json.loads(done.stdout)
    return answers


def test_who_may_read() -> None:
    later = int(time.time()) + 600
    good = signed({"sub": "1", "campaigns": ["plumbers"], "exp": later})
    data = "/data/plumbers/dashboard.json"
    tampered = good.replace(good[5], "A" if good[5] != "A" else "B", 1)
    cases: list[tuple[str, str | None, object]] = [
        (data, good, "passes"),
        ("/", good, "passes"),
        ("/data/site.json", good, "passes"),
        ("/data/schemas/web-site.json", good, "passes"),
        ("/assets/abc/page.js", good, "passes"),
        ("/robots.txt", None, "passes"),
        ("/data/florists/dashboard.json", good, 403),
        ("/%64ata/florists/dashboard.json", good, 403),
        ("/%2564ata/florists/dashboard.json", good, 403),
        ("/data/plumbers/../florists/x.json", good, 400),
        ("/data//florists/x.json", good, 400),
        ("/data/%zz", good, 400),
        (data, None, 401),
        ("/", None, 302),
        (data, tampered, 401),
        (data, signed({"sub": "1", "campaigns": ["plumbers"], "exp": later}, "another key"), 401),
        (data, signed({"sub": "1", "campaigns": ["plumbers"], "exp": later - 1200}), 401),
        (data, signed({"sub": "1", "campaigns": ["plumbers"]}), 401),
        (data, signed({"sub": "1", "campaigns": "plumbers", "exp": later}), 401),
        (data, signed("no JSON"), 401),
        (data, good.split(".")[0], 401),
        (data, "a.b.c", 401),
        (data, ".", 401),
    ]
    answers = guard(*((uri, cookie) for uri, cookie, _ in cases))
    found = [(uri, answer.get("statusCode", "passes")) for (uri, _, _), answer in zip(cases, answers, strict=True)]
    assert found == [(uri, wanted) for uri, _, wanted in cases]
    assert answers[13]["headers"]["location"]["value"] == "/auth/login"
    assert json.loads(answers[12]["body"])["error"]["code"] == "login_required"


def test_the_login_is_told_its_name_by_the_guard_alone() -> None:
    (passed,) = guard(("/auth/login", None))
    assert passed["headers"]["x-cocli-host"]["value"] == "d1.cloudfront.net"


class Provider(ThreadingHTTPServer):
    """Gives an id token for one code."""

    claims: dict[str, Any]
    forms: list[dict[str, list[str]]]


class _ProviderHandler(BaseHTTPRequestHandler):
    server: Provider

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.server.forms.append(form)
        is_good = form.get("code") == ["good"]
        claims = base64.urlsafe_b64encode(json.dumps(self.server.claims).encode()).decode().rstrip("=")
        self.send_response(200 if is_good else 400)
        self.end_headers()
        self.wfile.write(json.dumps({"id_token": f"e30.{claims}.c2ln"}).encode())

    def log_message(self, *args: object) -> None: ...


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider(("127.0.0.1", 0), _ProviderHandler) as server:
        server.claims = {"aud": "app", "sub": "anna", "exp": time.time() + 60, "cognito:groups": ["plumbers:viewer"]}
        server.forms = []
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield server
        server.shutdown()


def logged_in(provider: Provider, **changed: str) -> dict[str, Any]:
    """From the first request to the answer of the callback."""
    known = {"client": "app", "pages": f"http://127.0.0.1:{provider.server_port}", "key": KEY}
    here = "https://d1.cloudfront.net/auth/callback"
    started = login.start(known, here)
    asked = {name: values[0] for name, values in parse_qs(urlsplit(started["headers"]["location"]).query).items()}
    flow = started["cookies"][0].partition(";")[0].partition("=")[2]
    provider.claims.setdefault("nonce", asked["nonce"])
    said = {"code": "good", "state": asked["state"]} | changed
    answer: dict[str, Any] = login.finish(known, here, said, {"cocli_flow": flow}, time.time())
    if provider.forms:
        verifier = provider.forms[-1]["code_verifier"][0]
        assert asked["code_challenge"] == login.text(hashlib.sha256(verifier.encode()).digest())
    return answer


def test_a_login_gives_a_cookie_that_the_guard_takes(provider: Provider) -> None:
    answer = logged_in(provider)
    assert (answer["statusCode"], answer["headers"]["location"]) == (302, "/")
    cookie = answer["cookies"][0]
    assert {"Secure", "HttpOnly", "SameSite=Lax"} <= {part.strip() for part in cookie.split(";")}
    value = cookie.partition(";")[0].removeprefix("cocli_login=")
    mine, other = guard(("/data/plumbers/dashboard.json", value), ("/data/florists/dashboard.json", value))
    assert "statusCode" not in mine
    assert other["statusCode"] == 403


@pytest.mark.parametrize(
    ("changed", "claims", "status"),
    [
        ({"state": "another"}, {}, 400),
        ({"state": "ünïcode"}, {}, 400),
        ({"code": "bad"}, {}, 403),
        ({}, {"aud": "another app"}, 403),
        ({}, {"exp": 1}, 403),
        ({}, {"nonce": "of another login"}, 403),
    ],
)
def test_a_login_that_is_refused(
    provider: Provider, changed: dict[str, str], claims: dict[str, Any], status: int
) -> None:
    provider.claims |= claims
    answer = logged_in(provider, **changed)
    assert answer["statusCode"] == status
    assert answer["cookies"] == []


def test_a_user_without_a_group_reads_no_campaign(provider: Provider) -> None:
    provider.claims["cognito:groups"] = []
    value = logged_in(provider)["cookies"][0].partition(";")[0].removeprefix("cocli_login=")
    (answer,) = guard(("/data/plumbers/dashboard.json", value))
    assert answer["statusCode"] == 403
