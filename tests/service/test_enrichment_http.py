"""The enrichment service as it is run: `cocli enrichment serve` in a process of its own, before the demo town."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.kit.host_pages import served_pages
from tests.kit.services import RunningService, environment, running

from cocli.app.websites.enriched_site import EnrichedSite
from cocli.app.websites.service import EnrichRequest
from cocli.demo.town import Town, WebsiteServer, build_town, serve_websites, write_hosts
from cocli.demo.town.websites.site import TownSite
from cocli.errors import ServiceUnavailable, TokenRefused, TooManyRequests, UnknownCampaign, UsageError
from cocli.service.enrichment.client import EnrichmentClient
from cocli.service.rate_limit import RateLimit


@dataclass(frozen=True)
class Service(RunningService):
    @property
    def url(self) -> str:
        return self.lines[0][0]

    def http(self, token: str | None = None) -> httpx2.Client:
        headers = {"Authorization": f"Bearer {token or self.token()}"}
        return httpx2.Client(base_url=self.url, headers=headers, timeout=120)


@pytest.fixture(scope="module")
def town() -> Town:
    return build_town(seed=5)


@pytest.fixture(scope="module")
def websites(town: Town) -> Iterator[WebsiteServer]:
    with serve_websites(town) as server:
        yield server


_ENDLESS = """
import sys
if "cocli.documents.reading.reader_process" in sys.orig_argv:
    from cocli.pipeline.websites.facts import facts

    whole = facts.find_hours

    def find_hours(page):
        while "hours without end" in page.text:
            pass
        return whole(page)

    facts.find_hours = find_hours
"""


def cocli(home: Path, *words: str) -> Any:
    return subprocess.run(
        [sys.executable, "-m", "cocli", *words], env=environment(home), capture_output=True, text=True, check=False
    )


def configured(folder: Path, websites: WebsiteServer, *, allow: bool = True) -> Path:
    """A home whose fetcher knows the town alone; where `allow` is not set, nothing private may be read."""
    folder.mkdir()
    write_hosts(websites, folder / "hosts.json")
    networks = 'allow_networks = ["127.0.0.0/8"]\n' if allow else ""
    ports = f"allow_ports = [{websites.port}]\n"
    (folder / "user.toml").write_text(f'[fetch]\nrate = 100.0\nhosts_file = "{folder}/hosts.json"\n{networks}{ports}')
    return folder


@contextmanager
def started(home: Path, *words: str) -> Iterator[Service]:
    environ = environment(home, PYTHONPATH=str(home / "mistake"))
    with running(home, "enrichment", "serve", "--port", "0", *words, environ=environ) as service:
        assert service.lines[0][0].startswith("http"), service.log
        yield Service(home, service.process, service.lines)


@pytest.fixture(scope="module")
def service(websites: WebsiteServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    home = configured(tmp_path_factory.mktemp("enrichment") / "home", websites)
    for name, account in (("plumbers", "default"), ("others", "rival")):
        made = cocli(home, "campaign", "new", name, "--query", "plumber", "--location", "Springfield,39.8,-89.65")
        assert made.returncode == 0, made.stderr
        assert cocli(home, "campaign", "edit", name, "--set", f"campaign.account={account}").returncode == 0
    with started(home) as running:
        yield running
    assert "Traceback" not in (home / "log").read_text()


@pytest.fixture(scope="module")
def site(town: Town) -> TownSite:
    return next(one for one in town.sites.values() if one.kind == "ordinary" and one.emails[0].page == "contact")


def test_it_answers_what_the_command_prints(service: Service, site: TownSite, tmp_path: Path) -> None:
    with service.http() as http:
        answer = http.post("/v1/enrich", json={"url": site.url, "country": "US"})
    assert answer.status_code == 200, answer.text
    found = EnrichedSite.model_validate_json(answer.content)
    assert (found.status, found.primary_email, found.saved) == ("alive", site.emails[0].address, False)
    here = cocli(service.home, "enrich", site.url, "--country", "US", "--json")
    assert here.returncode == 0, here.stderr
    (printed,) = json.loads(here.stdout)["sites"]
    times = {"crawled_at": None}
    assert {**answer.json(), **times} == {**printed, **times}
    token = tmp_path / "token"
    token.write_text(service.token() + "\n")
    there = cocli(
        service.home, "enrich", site.url, "--country", "US", "--server", service.url, "--token-file", str(token),
        "--json",
    )  # fmt: skip
    assert there.returncode == 0, there.stderr
    assert {**json.loads(there.stdout)["sites"][0], **times} == {**printed, **times}


def test_by_domain_and_into_a_campaign(service: Service, site: TownSite) -> None:
    with service.http() as http:
        answer = http.post("/v1/enrich", json={"domain": site.domain, "campaign": "plumbers", "seconds": 60})
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert (found["saved"], found["status"]) == (True, "alive"), found["evidence"]
    states = cocli(service.home, "documents", "states", f"site:{site.domain}", "-c", "plumbers", "--json")
    assert states.returncode == 0, states.stderr


def test_a_campaign_of_another_account_does_not_exist(service: Service, site: TownSite) -> None:
    with service.http() as http:
        theirs = http.post("/v1/enrich", json={"url": site.url, "campaign": "others"})
        nobodys = http.post("/v1/enrich", json={"url": site.url, "campaign": "no-such"})
    assert (theirs.status_code, nobodys.status_code) == (404, 404)
    assert theirs.json()["error"]["message"].replace("others", "no-such") == nobodys.json()["error"]["message"]
    with service.http(service.token("rival")) as http:
        assert http.post("/v1/enrich", json={"url": site.url, "campaign": "others"}).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'"x"',
        b"{}",
        b'{"url": "http://a.com/", "domain": "a.com"}',
        b'{"url": "http://a.com/", "more": 1}',
        b'{"url": 5}',
        b'{"url": "http://192.168.1.1/"}',
        b'{"url": "file:///etc/passwd"}',
        b'{"domain": "localhost"}',
        b'{"domain": "not a domain"}',
        b'{"domain": "a.com", "pages": 1000}',
        b'{"domain": "a.com", "seconds": 1e9}',
        b'{"domain": "a.com", "country": "ZZ"}',
        b'{"domain": "a.com", "campaign": "../x"}',
        b'{"domain": "a.com", "save": true}',
        b"\xff\xfe",
    ],
)
def test_what_makes_no_sense_is_an_envelope(service: Service, body: bytes) -> None:
    with service.http() as http:
        answer = http.post("/v1/enrich", content=body)
    assert answer.status_code == 400, answer.text
    assert set(answer.json()["error"]) == {"code", "message", "hint", "retryable", "details"}


def test_too_much_and_too_unknown(service: Service) -> None:
    with service.http() as http:
        large = http.post("/v1/enrich", content=b" " * 70_000)
        assert (large.status_code, large.json()["error"]["code"]) == (413, "too_large")
        for value in ("", "Bearer x", f"Bearer {service.token(days=-1)}"):
            answer = http.post("/v1/enrich", json={"domain": "a.com"}, headers={"Authorization": value})
            assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
        assert http.get("/v1/enrich").status_code == 405
        assert http.get("/etc/passwd").status_code == 404
        assert http.get("/healthz", headers={"Authorization": ""}).json() == {"status": "ok"}


def test_the_openapi_document_describes_it(service: Service) -> None:
    with service.http() as http:
        document = http.get("/openapi.json", headers={"Authorization": ""}).json()
    operation = document["paths"]["/v1/enrich"]["post"]
    assert set(operation["responses"]) >= {"200", "400", "401", "404", "413", "429", "503"}
    schemas = document["components"]["schemas"]
    assert set(schemas["EnrichRequest"]["properties"]) == set(EnrichRequest.model_fields)
    assert set(schemas["EnrichedSite"]["properties"]) == set(EnrichedSite.model_fields)
    for reference in references(document):
        assert reference.removeprefix("#/components/schemas/") in schemas, reference


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from references(one)


def test_private_addresses_are_refused_and_a_token_has_its_rate(
    websites: WebsiteServer, site: TownSite, tmp_path: Path
) -> None:
    home = configured(tmp_path / "home", websites, allow=False)
    with started(home, "--per-minute", "3") as strict, strict.http(token := strict.token()) as http:
        answer = http.post("/v1/enrich", json={"url": site.url})
        assert (answer.status_code, answer.json()["status"]) == (200, "refused")
        assert "address" in answer.json()["evidence"][0]
        assert answer.json()["pages_read"] == []
        codes = [http.post("/v1/enrich", json={"domain": "gmail.com"}).status_code for _ in range(3)]
        assert codes == [200, 200, 429]
        refused = http.post("/v1/enrich", json={"domain": "gmail.com"})
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "too_many_requests")
        assert 1 <= int(refused.headers["Retry-After"]) <= 20
        with strict.http(strict.token("another")) as other:
            assert other.post("/v1/enrich", json={"domain": "gmail.com"}).status_code == 200
        waits: list[float] = []
        with (
            EnrichmentClient(strict.url, token, sleep=waits.append) as client,
            pytest.raises(TooManyRequests),
        ):
            client.enrich(EnrichRequest(domain="gmail.com"))
        assert len(waits) == 4
        assert all(1 <= wait <= 20 for wait in waits)


def test_the_client_raises_what_the_service_refuses(service: Service, site: TownSite) -> None:
    with EnrichmentClient(service.url, "cocli1.nonsense") as unknown, pytest.raises(TokenRefused):
        unknown.enrich(EnrichRequest(url=site.url))
    with EnrichmentClient(service.url, service.token()) as client, pytest.raises(UnknownCampaign):
        client.enrich(EnrichRequest(url=site.url, campaign="others"))
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{closed.getsockname()[1]}"
    with EnrichmentClient(nobody, "x") as client, pytest.raises(ServiceUnavailable):
        client.enrich(EnrichRequest(url=site.url))


@pytest.mark.parametrize(
    "address", ["http://server.example:8790", "server:8790", "ftp://127.0.0.1", "http://a:b@127.0.0.1", "http://[", ""]
)
def test_a_token_travels_encrypted_or_not_at_all(address: str) -> None:
    with pytest.raises(UsageError):
        EnrichmentClient(address, "token")


def test_beyond_this_machine_only_with_a_certificate(websites: WebsiteServer, tmp_path: Path) -> None:
    home = configured(tmp_path / "home", websites)
    refused = cocli(home, "enrichment", "serve", "--host", "0.0.0.0", "--port", "0")
    assert refused.returncode == 3, refused.stderr
    assert "in the clear" in refused.stderr


def test_what_is_wrong_with_the_configuration_is_said_before_anything_is_served(tmp_path: Path) -> None:
    (tmp_path / "user.toml").write_text('[fetch]\nhosts_file = "/nowhere/hosts.json"\n')
    refused = cocli(tmp_path, "enrichment", "serve", "--port", "0")
    assert refused.returncode == 3, refused.stderr
    assert "hosts_file" in refused.stderr


def test_who_hangs_up_frees_the_place(service: Service, town: Town) -> None:
    silent = next(one for one in town.sites.values() if one.kind == "silent")
    host, _, port = service.url.removeprefix("http://").rpartition(":")
    body = json.dumps({"url": silent.url, "seconds": 60}).encode()
    head = f"POST /v1/enrich HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {service.token()}\r\n"
    with socket.create_connection((host, int(port))) as raw:
        raw.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        time.sleep(0.5)
    with service.http() as http:
        assert http.get("/healthz").status_code == 200


def test_it_is_well_while_a_hostile_page_is_read(tmp_path: Path) -> None:
    """The page would take for ever. Health is answered meanwhile, and whoever asked for the page in the end."""
    with served_pages() as server:
        home = tmp_path / "home"
        (home / "mistake").mkdir(parents=True)
        (home / "mistake" / "sitecustomize.py").write_text(_ENDLESS)
        server.pages["endless.com"] = b"<title>Endless</title><p>hours without end"
        (home / "hosts.json").write_text(json.dumps({"*": ["127.0.0.1", server.port]}))
        section = f'rate = 100.0\nhosts_file = "{home}/hosts.json"\nallow_networks = ["127.0.0.0/8"]\n'
        (home / "user.toml").write_text(f"[fetch]\n{section}allow_ports = [80, {server.port}]\n")
        cocli(home, "documents", "token")
        with started(home) as service, service.http() as http, ThreadPoolExecutor(1) as pool:
            asked = pool.submit(http.post, "/v1/enrich", json={"url": "http://endless.com/", "pages": 1})
            slowest = 0.0
            with service.http() as other:
                while not asked.done():
                    began = time.monotonic()
                    assert other.get("/healthz").status_code == 200
                    slowest = max(slowest, time.monotonic() - began)
                    time.sleep(0.05)
            answer = asked.result().json()
        assert "too-costly" in json.dumps(answer)
        assert slowest < 5, "a loop that reads the page itself would answer after the ten seconds that it may take"


def test_the_rate_is_so_many_a_minute_and_no_more() -> None:
    now = 0.0
    limit = RateLimit(6, lambda: now)
    for _ in range(6):
        limit.take("a")
    with pytest.raises(TooManyRequests) as refused:
        limit.take("a")
    assert refused.value.details["wait"] == 10
    limit.take("b")
    now = 10.0
    limit.take("a")
    with pytest.raises(TooManyRequests):
        limit.take("a")
    answered = 0
    for tick in range(600):
        now = 100.0 + tick / 10
        try:
            limit.take("c")
        except TooManyRequests:
            continue
        answered += 1
    assert 6 <= answered <= 12
