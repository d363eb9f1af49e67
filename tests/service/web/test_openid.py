"""Logging in by a provider of OpenID Connect: one that is right, and many that are wrong."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import httpx2
import pytest
from tests.kit.openid import CLIENT, SECRET, LyingProvider, has_npm_provider, lying_provider, npm_provider
from tests.kit.web import NAME, OTHER, RunningWeb, fill, running_web

from cocli.app.campaigns.campaign import edit_campaign
from cocli.app.workspace import open_workspace
from cocli.config.edit import parse_change
from cocli.config.resolve import Flags
from cocli.demo.town.campaign import TownHome


def _configured(folder: Path, issuer: str, changes: list[str]) -> None:
    """Two campaigns of one provider; only one of them names anybody."""
    home = TownHome(folder)
    home.data.mkdir(parents=True, exist_ok=True)
    same = ["auth.provider=oidc", f"auth.issuer={issuer}", f"auth.client_id={CLIENT}"]
    with open_workspace(home.environ, Flags()) as workspace:
        fill(workspace, 1)
        fill(workspace, 1, OTHER)
        edit_campaign(workspace, NAME, [parse_change(text) for text in [*same, *changes]])
        edit_campaign(workspace, OTHER, [parse_change(text) for text in same])


@contextmanager
def _serving(folder: Path, issuer: str, changes: list[str]) -> Iterator[RunningWeb]:
    _configured(folder, issuer, changes)
    secret = folder / "secret"
    secret.write_text(f"{SECRET}\n", "utf-8")
    auth: dict[str, Any] = {
        "provider": "oidc",
        "issuer": issuer,
        "client_id": CLIENT,
        "client_secret_file": str(secret),
    }
    with running_web(folder, filled=False, **auth) as web:
        yield web


@pytest.fixture(scope="module")
def provider() -> Iterator[LyingProvider]:
    with lying_provider() as running:
        yield running


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory, provider: LyingProvider) -> Iterator[RunningWeb]:
    changes = ['auth.editors=["ann@example.org"]', 'auth.admins=["root-subject"]', "auth.role_claim=groups"]
    with _serving(tmp_path_factory.mktemp("openid"), provider.issuer, changes) as running:
        yield running


@pytest.fixture(autouse=True)
def _honest(provider: LyingProvider) -> Iterator[None]:
    yield
    provider.lies = {}
    provider.person = {"sub": "ann", "email": "ann@example.org", "email_verified": True}


def _browser(web: RunningWeb) -> httpx2.Client:
    return httpx2.Client(base_url=web.url, timeout=60)


def _login(browser: httpx2.Client, path: str = "/auth/login") -> httpx2.Response:
    """Follow the way to the provider and back, by hand: the answer of the callback."""
    there = browser.get(path)
    assert there.status_code == 303, there.text
    back = httpx2.get(there.headers["location"])
    return browser.get(back.headers["location"])


def test_who_is_named_gets_in(web: RunningWeb) -> None:
    with _browser(web) as browser:
        answer = _login(browser, f"/auth/login?next=/?campaign={NAME}")
        session = browser.get("/api/session").json()
        seen = browser.get(f"/data/{NAME}/config.json").status_code
        other = browser.get(f"/data/{OTHER}/config.json").status_code
    assert (answer.status_code, answer.headers["location"]) == (303, f"/?campaign={NAME}")
    assert (session["name"], session["campaigns"], session["site_role"]) == (
        "ann@example.org",
        {NAME: "editor"},
        "nobody",
    )
    assert (seen, other) == (200, 403)


@pytest.mark.parametrize(
    ("person", "role"),
    [
        ({"sub": "root-subject"}, "admin"),
        ({"sub": "x", "groups": ["viewer", "other"]}, "viewer"),
        ({"sub": "x", "groups": f"{NAME}:admin"}, "admin"),
        ({"sub": "x", "groups": [f"{OTHER}:admin"]}, None),
        ({"sub": "x", "groups": ["superuser"]}, None),
        ({"sub": "x", "groups": {"admin": True}}, None),
        ({"sub": "x"}, None),
        ({"sub": "x", "email": "ann@example.org", "email_verified": False}, None),
        ({"sub": "x", "email": "ann@example.org"}, None),
        ({"sub": "x", "email": "ANN@example.org", "email_verified": True}, "editor"),
    ],
)
def test_roles_by_list_and_by_claim(
    web: RunningWeb, provider: LyingProvider, person: dict[str, Any], role: str | None
) -> None:
    provider.person = person
    with _browser(web) as browser:
        answer = _login(browser)
        session = browser.get("/api/session")
    if role is None:
        assert (answer.status_code, session.status_code) == (403, 401)
    else:
        assert session.json()["campaigns"] == {NAME: role}


LIES: dict[str, dict[str, Any]] = {
    "nonce of another login": {"nonce": "other"},
    "no nonce": {"nonce": None},
    "another audience": {"aud": "somebody"},
    "two audiences, the other is meant": {"aud": [CLIENT, "somebody"], "azp": "somebody"},
    "two audiences, nobody is meant": {"aud": [CLIENT, "somebody"]},
    "another issuer": {"iss": "http://127.0.0.1:1"},
    "over": {"exp": int(time.time()) - 3600},
    "no end": {"exp": None},
    "from the future": {"iat": int(time.time()) + 3600},
    "no subject": {"sub": None},
    "unsigned": {"alg": "none"},
    "signed with the public key": {"alg": "HS256"},
    "signed by a stranger": {"key": "stranger"},
    "an unknown key": {"kid": "two"},
    "another provider answers": {"iss_parameter": "http://127.0.0.1:1"},
}


@pytest.mark.parametrize("lie", LIES)
def test_a_provider_that_lies_lets_nobody_in(web: RunningWeb, provider: LyingProvider, lie: str) -> None:
    provider.lies = LIES[lie]
    with _browser(web) as browser:
        answer = _login(browser)
        assert browser.get("/api/session").status_code == 401
    assert answer.status_code == 401, answer.text
    assert web.served.application.cookie not in answer.headers.get("set-cookie", "").replace("-login", "")


def test_a_code_works_once(web: RunningWeb) -> None:
    with _browser(web) as browser:
        back = httpx2.get(browser.get("/auth/login").headers["location"]).headers["location"]
        kept = dict(browser.cookies)
        first = browser.get(back)
        browser.cookies.clear()
        browser.cookies.update(kept)
        again = browser.get(back)
    assert (first.status_code, again.status_code) == (303, 401)


def test_a_stolen_code_under_a_state_of_ones_own(web: RunningWeb, provider: LyingProvider) -> None:
    """The code of one login with the state of another: the provider refuses the verifier."""
    with _browser(web) as victim, _browser(web) as thief:
        httpx2.get(victim.get("/auth/login").headers["location"])
        code = provider.used[-1]
        there = thief.get("/auth/login").headers["location"]
        state = re.search(r"state=([^&]+)", there)
        assert state is not None
        assert thief.get(f"/auth/callback?code={code}&state={state[1]}").status_code == 401


def test_a_login_of_another_browser_is_not_taken_over(web: RunningWeb) -> None:
    with _browser(web) as thief, _browser(web) as victim:
        back = httpx2.get(thief.get("/auth/login").headers["location"]).headers["location"]
        assert victim.get(back).status_code == 401
        assert victim.get("/api/session").status_code == 401


@pytest.mark.parametrize(
    "place", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:x", "/a\nb"]
)
def test_nobody_is_led_elsewhere(web: RunningWeb, place: str) -> None:
    with _browser(web) as browser:
        there = browser.get("/auth/login", params={"next": place})
        back = httpx2.get(there.headers["location"]).headers["location"]
        assert browser.get(back).headers["location"] == "/"


def test_there_is_no_link_beside_the_provider(web: RunningWeb) -> None:
    assert web.served.link() == web.url


def test_a_provider_under_another_name_is_not_asked(tmp_path: Path) -> None:
    with lying_provider() as provider:
        provider.lies = {"issuer": "http://127.0.0.1:1"}
        with _serving(tmp_path, provider.issuer, []) as web, _browser(web) as browser:
            assert browser.get("/auth/login").status_code == 503


@pytest.mark.skipif(not has_npm_provider(), reason="make openid installs the provider")
def test_the_provider_of_npm(tmp_path: Path) -> None:
    """Its own pages are filled in, as a person would."""
    folder = tmp_path / "home"
    folder.mkdir()
    home = TownHome(folder)
    home.data.mkdir(parents=True)
    secret = folder / "secret"
    secret.write_text(SECRET, "utf-8")
    from cocli.models.campaign import AuthSection, WebSection
    from cocli.service.listener import listening
    from cocli.service.web.server import WebSettings, serving_web

    with listening("127.0.0.1", 0, "") as found:
        port = found.getsockname()[1]
    with npm_provider(f"http://127.0.0.1:{port}/auth/callback", tmp_path) as issuer:
        _configured(folder, issuer, ["auth.role_claim=groups"])
        auth = AuthSection(provider="oidc", issuer=issuer, client_id=CLIENT, client_secret_file=str(secret))
        with (
            open_workspace(home.environ, Flags()) as workspace,
            serving_web(workspace, WebSettings(WebSection(port=port), auth), lambda _: None) as served,
            httpx2.Client(timeout=60) as browser,
        ):
            answer = _through_the_pages(browser, f"{served.url}/auth/login")
            assert answer.headers["location"] == "/"
            session = browser.get(f"{served.url}/api/session").json()
    assert (session["name"], session["campaigns"]) == ("ann@example.org", {NAME: "editor"})


def _through_the_pages(browser: httpx2.Client, address: str) -> httpx2.Response:
    """Follow redirects, and fill in the provider's two forms: the login, and the consent."""
    for _ in range(20):
        answer = browser.get(address)
        if answer.headers.get("location") == "/":
            return answer
        while answer.status_code in (302, 303):
            address = urljoin(address, answer.headers["location"])
            answer = browser.get(address)
            if answer.headers.get("location") == "/":
                return answer
        assert answer.status_code == 200, answer.text
        action = re.search(r'<form[^>]*action="([^"]+)"', answer.text)
        prompt = re.search(r'name="prompt" value="([^"]+)"', answer.text)
        assert action is not None, answer.text
        assert prompt is not None, answer.text
        form = {"prompt": prompt[1], "login": "ann", "password": "any"}
        answer = browser.post(urljoin(address, action[1]), data=form)
        address = urljoin(address, answer.headers["location"])
    raise AssertionError("the pages have no end")
