"""Who may do what: the table of roles and routes is made from the router, so that no route is forgotten."""

from __future__ import annotations

import re
from typing import Any

import httpx2
import pytest
from tests.kit.web import NAME, OTHER, RunningWeb, company, running_web

from cocli.errors import ConfigError
from cocli.models.campaign import AuthSection, WebSection
from cocli.service.listener import Tls
from cocli.service.web.access import Role
from cocli.service.web.server import WebSettings, check_exposure

ALL_ROLES = tuple(Role)
_PARAMETER = re.compile(r"\{([a-z_]+)(?::path)?\}")
_VALUES = {
    "campaign": NAME,
    "company_hash": company(1).company_hash,
    "queue": "gm-list",
    "task_id": "none",
    "name": "none",
}
PUBLIC = {
    ("GET", "/"),
    ("GET", "/index.html"),
    ("GET", "/map.html"),
    ("GET", "/assets/{path:path}"),
    ("GET", "/auth"),
    ("POST", "/auth"),
    ("POST", "/auth/logout"),
    ("GET", "/auth/login"),
    ("GET", "/auth/callback"),
    ("GET", "/api/session"),
    ("GET", "/api/openapi.json"),
    ("GET", "/healthz"),
}
"""What needs no login. A route that is added here gives something away: think twice."""


def _path(pattern: str) -> str:
    if pattern == "/data/{path:path}":
        return f"/data/{NAME}/config.json"
    if pattern == "/events":
        return f"/events?campaign={NAME}"
    return _PARAMETER.sub(lambda found: _VALUES.get(found[1], "none"), pattern)


def _asked(caller: httpx2.Client, method: str, path: str) -> int:
    """The status; a stream is left once it has begun. The body is nonsense: who may come in is told so."""
    more: dict[str, Any] = {"json": {"nonsense": True}} if method in ("POST", "PUT", "PATCH") else {}
    with caller.stream(method, path, **more) as answer:
        return answer.status_code


def test_only_these_routes_need_no_login(web: RunningWeb) -> None:
    found = {(route.method, route.path) for route in web.served.application.routes() if route.role is Role.NOBODY}
    assert found <= PUBLIC


ADMINS = {
    ("GET", "/api/tokens"),
    ("POST", "/api/tokens"),
    ("DELETE", "/api/tokens/{id}"),
    ("GET", "/api/log"),
    ("POST", "/api/{campaign}/queues/{queue}/recover"),
    ("POST", "/api/{campaign}/queues/{queue}/sideline"),
    ("POST", "/api/{campaign}/promote"),
}


def test_these_routes_are_for_admins(web: RunningWeb) -> None:
    found = {(route.method, route.path) for route in web.served.application.routes() if route.role is Role.ADMIN}
    assert found >= ADMINS


def test_who_only_looks_changes_nothing(web: RunningWeb) -> None:
    """A viewer may ask for a file of a selection by POST; everything else that is no GET needs more."""
    routes = web.served.application.routes()
    found = {(route.method, route.path) for route in routes if route.changes and route.role is Role.VIEWER}
    assert found == {("POST", "/api/{campaign}/export")}


def test_every_route_for_every_role(web: RunningWeb) -> None:
    """Each role is let in exactly where the table says so: else 401 for nobody, and 403 for everybody else."""
    routes = web.served.application.routes()
    assert len(routes) > 30
    wrong = []
    for role in ALL_ROLES:
        for route in routes:
            with web.caller(role) as caller:  # one of its own: a route may end the session
                status = _asked(caller, route.method, _path(route.path))
            is_let_in = status not in (401, 403) or route.path in ("/api/session", "/auth")
            if is_let_in != (role >= route.role):
                wrong.append((role.word, route.method, route.path, status))
    assert not wrong


def test_a_role_in_one_campaign_is_none_in_another(web: RunningWeb) -> None:
    wrong = []
    with web.caller(Role.NOBODY, {OTHER: Role.ADMIN}) as caller:
        for route in web.served.application.routes():
            if "{campaign}" in route.path or route.path in ("/data/{path:path}", "/events"):
                status = _asked(caller, route.method, _path(route.path))
                if status != 403:
                    wrong.append((route.method, route.path, status))
    assert not wrong


def test_an_admin_of_one_campaign_is_no_admin_of_the_site(web: RunningWeb) -> None:
    with web.caller(Role.NOBODY, {NAME: Role.ADMIN}) as caller:
        assert caller.get("/api/tokens").status_code == 403
        assert caller.get("/api/log").status_code == 403
        assert caller.get(f"/data/{NAME}/config.json").status_code == 200


def test_an_editor_moves_no_machines(web: RunningWeb) -> None:
    with web.caller(Role.EDITOR) as caller:
        wishes = [{"text": "add-query gasfitter"}, {"text": "scale gm-list=3", "host": "pi-1"}]
        told = caller.post(f"/api/{NAME}/commands", json={"commands": wishes}).json()["results"]
    assert [result["state"] for result in told] == ["sent", "refused"]
    assert "admin" in told[1]["reason"]


# --- sessions and tokens


def test_a_link_opens_one_session(web: RunningWeb) -> None:
    token = web.served.link().partition("#")[2]
    with web.caller(Role.NOBODY) as first, web.caller(Role.NOBODY) as second:
        entered = first.post("/auth", json={"token": token})
        again = second.post("/auth", json={"token": token})
        assert first.get("/api/session").json()["role"] == "admin"
        assert second.get("/api/session").status_code == 401
    assert (entered.status_code, again.status_code) == (200, 401)
    cookie = entered.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert token not in "\n".join(web.log)


def test_who_logged_out_is_out(web: RunningWeb) -> None:
    with web.caller(Role.ADMIN) as caller:
        kept = dict(caller.cookies)
        assert caller.get("/api/session").status_code == 200
        caller.post("/auth/logout", json={})
        caller.cookies.update(kept)  # a stolen one is worth nothing either
        assert caller.get("/api/session").status_code == 401


def test_two_hundred_sessions_each_know_themselves(web: RunningWeb) -> None:
    callers = [web.caller(Role.VIEWER, {NAME: Role(1 + number % 3)}) for number in range(200)]
    names = {caller.cookies.get(web.served.application.cookie) for caller in callers}
    roles = []
    for caller in callers:
        with caller:
            roles.append(caller.get("/api/session").json()["campaigns"][NAME])
    assert len(names) == 200
    assert roles == [Role(1 + number % 3).word for number in range(200)]


def test_a_token_does_what_its_scope_says_until_it_is_revoked(web: RunningWeb) -> None:
    with web.caller(Role.ADMIN) as admin:
        wish = {"name": "sheet", "role": "viewer", "campaigns": [NAME], "days": 1}
        made = admin.post("/api/tokens", json=wish).json()
        with web.bearer(made["secret"]) as caller:
            seen = caller.get(f"/data/{NAME}/config.json").status_code
            other = caller.get(f"/data/{OTHER}/config.json").status_code
            changed = caller.post(f"/api/{NAME}/commands", json={"commands": [{"text": "add-query x"}]}).status_code
            admin.delete(f"/api/tokens/{made['token']['id']}")
            later = caller.get(f"/data/{NAME}/config.json").status_code
        listed = admin.get("/api/tokens").text
    assert (seen, other, changed, later) == (200, 403, 403, 401)
    assert made["secret"] not in listed


def test_who_did_what_is_written_down(web: RunningWeb) -> None:
    with web.caller(Role.EDITOR) as editor, web.caller(Role.ADMIN) as admin:
        editor.post(f"/api/{NAME}/commands", json={"commands": [{"text": "add-query secret-phrase"}]})
        editor.delete("/api/tokens/none")
        lines = admin.get("/api/log?limit=5").json()["lines"]
    told = [(line["who"], line["action"], line["status"]) for line in lines]
    assert ("test editor", "POST /api/{campaign}/commands", 202) in told
    assert ("test editor", "DELETE /api/tokens/{id}", 403) in told
    assert "secret-phrase" not in str(lines)


# --- other pages, other names


SITES = (None, "same-origin", "same-site", "cross-site", "none")


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize("origin", [None, "own", "http://evil.example", "null"])
def test_only_our_own_pages_change_something(
    web: RunningWeb, method: str, site: str | None, origin: str | None
) -> None:
    path = f"/api/{NAME}/companies/{company(2).company_hash}"
    if method == "POST":
        path = f"/api/{NAME}/commands"
    if method in ("PUT", "DELETE"):
        path += "/notes/none"
    headers = {"Sec-Fetch-Site": site, "Origin": web.url if origin == "own" else origin}
    with web.caller(Role.ADMIN) as caller:
        for name, value in headers.items():
            if value is None:
                del caller.headers[name]
            else:
                caller.headers[name] = value
        status = _asked(caller, method, path)
    if method == "GET":
        assert (status == 403) == (site in ("same-site", "cross-site"))
        return
    is_ours = site in (None, "same-origin") and origin in (None, "own") and (site, origin) != (None, None)
    assert (status == 403) != is_ours


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_a_form_changes_nothing(web: RunningWeb, kind: str) -> None:
    with web.caller(Role.ADMIN) as caller:
        answer = caller.post(
            f"/api/{NAME}/commands", content=b'{"commands":[{"text":"add-query x"}]}', headers={"Content-Type": kind}
        )
    assert answer.status_code == 415


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "127.0.0.1:1", "", "localhost:1"]
)
def test_another_name_is_refused(web: RunningWeb, host: str) -> None:
    with web.caller(Role.ADMIN) as caller:
        assert caller.get(f"/data/{NAME}/config.json", headers={"Host": host}).status_code in (400, 421)


def test_our_own_names_are_not(web: RunningWeb) -> None:
    port = web.url.rpartition(":")[2]
    with web.caller(Role.ADMIN) as caller:
        for name in ("127.0.0.1", "localhost", "[::1]"):
            assert caller.get("/healthz", headers={"Host": f"{name}:{port}"}).status_code == 200


def test_what_every_answer_says(web: RunningWeb) -> None:
    with web.caller(Role.ADMIN) as caller:
        for path in ("/", f"/data/{NAME}/config.json", "/api/session", "/nothing"):
            headers = caller.get(path).headers
            assert "default-src 'none'" in headers["content-security-policy"]
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["cross-origin-resource-policy"] == "same-origin"
            assert "access-control-allow-origin" not in headers


# --- beyond this machine


@pytest.mark.parametrize(
    ("auth", "web_settings", "has_certificate", "is_let"),
    [
        ({}, {}, False, False),
        ({}, {"behind_proxy": True}, True, False),
        ({"provider": "oidc", "issuer": "https://id.example", "client_id": "x"}, {}, False, False),
        ({"provider": "oidc", "issuer": "https://id.example", "client_id": "x"}, {}, True, True),
        ({"provider": "oidc", "issuer": "https://id.example", "client_id": "x"}, {"behind_proxy": True}, False, True),
    ],
)
def test_beyond_this_machine_it_wants_a_login_and_a_certificate(
    auth: dict[str, Any], web_settings: dict[str, Any], has_certificate: bool, is_let: bool
) -> None:
    settings = WebSettings(WebSection(host="0.0.0.0", **web_settings), AuthSection(**auth))
    tls = Tls("certificate.pem", "key.pem", b"", b"") if has_certificate else None
    if is_let:
        check_exposure(settings, tls)
        return
    with pytest.raises(ConfigError):
        check_exposure(settings, tls)


def test_a_configured_name_is_asked_for(tmp_path: Any) -> None:
    with running_web(
        tmp_path, filled=False, web={"url": "https://dash.example", "allowed_hosts": ("dash.lan",)}
    ) as web:
        address = f"http://127.0.0.1:{web.served.application.origin.port}"
        with httpx2.Client(base_url=address) as caller:
            statuses = [
                caller.get("/healthz", headers={"Host": host}).status_code
                for host in ("dash.example", "dash.lan", "evil.example")
            ]
        assert web.served.application.cookie == "__Host-cocli"
    assert statuses == [200, 200, 421]
