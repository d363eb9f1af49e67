"""A person in front of the deployed dashboard, in Chromium: refused without a login, let in with one, and out again.

Everything between is what the stack deployed: CloudFront with its guard, the function of the login with its role, the
pool and its page, the private bucket. Three things are told by the test, because the emulator is not AWS: where the
pool's page is, whose certificates the function trusts, and that the function answers requests that are not signed
(the emulator's CloudFront signs those to buckets only).
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from tests.kit.cloud import LocalCloud

from cocli.app.infra.cloud import CloudAccount
from cocli.app.infra.deployment import read_stack
from cocli.app.infra.users import throwaway_user
from cocli.models.campaign import AwsSection

if TYPE_CHECKING:
    from playwright.sync_api import Page

playwright = pytest.importorskip("playwright.sync_api")

PAGE = b"<!doctype html><title>Dashboard</title><h1>305 prospects</h1>"
DATA = "/data/plumbers/dashboard.json"
LOGIN = "cocli-login-plumbers"


@pytest.fixture
def site(cloud: LocalCloud, as_owner: LocalCloud) -> str:
    """The address of the dashboard, with a page and a file behind it."""
    outputs = read_stack(CloudAccount(AwsSection()), "plumbers").outputs
    files = {"index.html": (PAGE, "text/html"), DATA[1:]: (b'{"prospects": 305}', "application/json")}
    files["data/florists/dashboard.json"] = (b'{"prospects": 7}', "application/json")
    for key, (data, kind) in files.items():
        cloud.client("s3").put_object(Bucket=outputs["WebBucket"], Key=key, Body=data, ContentType=kind)
    _as_the_emulator_needs(cloud)
    return outputs["Site"]


def _as_the_emulator_needs(cloud: LocalCloud) -> None:
    parameters, functions = cloud.client("ssm"), cloud.client("lambda")
    told = json.loads(parameters.get_parameter(Name=LOGIN)["Parameter"]["Value"])
    assert told["pages"] == f"https://{LOGIN}.auth.us-east-1.amazoncognito.com"
    value = json.dumps({**told, "pages": cloud.endpoint})
    parameters.put_parameter(Name=LOGIN, Value=value, Type="String", Overwrite=True)
    known = functions.get_function_configuration(FunctionName=LOGIN)["Environment"]["Variables"]
    trusted = dict.fromkeys(("AWS_CA_BUNDLE", "SSL_CERT_FILE"), str(cloud.authority))
    functions.update_function_configuration(FunctionName=LOGIN, Environment={"Variables": {**known, **trusted}})
    assert functions.get_function_url_config(FunctionName=LOGIN)["AuthType"] == "AWS_IAM"
    functions.update_function_url_config(FunctionName=LOGIN, AuthType="NONE")
    for number, action in enumerate(("lambda:InvokeFunctionUrl", "lambda:InvokeFunction")):
        kind = {"FunctionUrlAuthType": "NONE"} if number == 0 else {}
        functions.add_permission(FunctionName=LOGIN, StatementId=f"open{number}", Action=action, Principal="*", **kind)


@pytest.fixture
def person(cloud: LocalCloud, site: str) -> Iterator[Page]:
    """A browser that finds the distribution on this machine, and nothing else."""
    from cocli.pipeline.websites.fetch.browser import find_chromium

    host, port = urlsplit(site).hostname, urlsplit(cloud.endpoint).port
    rules = f"--host-resolver-rules=MAP {host} 127.0.0.1:{port}, MAP * ~NOTFOUND, EXCLUDE localhost"
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox", rules])
        page = browser.new_context(ignore_https_errors=True).new_page()
        page.set_default_timeout(60_000)
        yield page
        browser.close()


def _open(person: Page, address: str) -> Any:
    """On a busy machine the emulator gives its functions up before they have started: then it says 502 or 503."""
    until = time.monotonic() + 120
    while True:
        answer = person.goto(address)
        assert answer is not None
        if answer.status not in (502, 503) or time.monotonic() > until:
            return answer


def _log_in(person: Page, email: str, password: str) -> None:
    person.locator("input[name=username]").first.fill(email)
    person.locator("input[name=password]").first.fill(password)
    person.locator("button[type=submit], input[type=submit]").first.click()


@pytest.mark.timeout(300)
def test_who_logs_in_sees_the_dashboard_and_nobody_else_does(person: Page, site: str) -> None:
    refused = _open(person, site + DATA)
    assert (refused.status, refused.json()["error"]["code"]) == (401, "login_required")
    with throwaway_user(CloudAccount(AwsSection()), "plumbers") as (email, password):
        _open(person, site + "/")
        assert "/oauth2/authorize" in person.url, "the way to the dashboard leads to the pool's page"
        _log_in(person, email, "Wrong-Password-1!")
        person.locator(".error").wait_for()
        assert not person.url.startswith(site)
        _log_in(person, email, password)
        person.wait_for_url(site + "/")
    assert person.locator("h1").inner_text() == "305 prospects"
    seen = person.evaluate(f"fetch('{DATA}').then(answer => answer.json())")
    assert seen == {"prospects": 305}
    other = person.evaluate("fetch('/data/florists/dashboard.json').then(answer => answer.status)")
    assert other == 403, "a campaign that the groups of the user do not name"
    (cookie,) = (cookie for cookie in person.context.cookies() if cookie["name"] == "cocli_login")
    assert (cookie["httpOnly"], cookie["secure"], cookie["sameSite"]) == (True, True, "Lax")
    _open(person, site + "/auth/logout")
    assert _open(person, site + DATA).status == 401
