"""The documented API against the one that answers: what is sent is made from the document."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import content_type_conformance, status_code_conformance
from tests.kit.effort import effort
from tests.kit.web import NAME, RunningWeb, company, running_web

from cocli.service.web.access import Role

CHECKS = (not_a_server_error, status_code_conformance, content_type_conformance)
EXAMPLES = effort(1)
KNOWN = {"campaign": NAME, "company_hash": company(1).company_hash, "queue": "gm-list"}


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningWeb]:
    """A server of its own: what is tried here changes whatever an editor may change."""
    with running_web(tmp_path_factory.mktemp("web-api")) as running:
        yield running


@pytest.fixture(scope="module")
def described(web: RunningWeb) -> dict[str, Any]:
    with web.caller(Role.NOBODY) as caller:
        found: dict[str, Any] = caller.get("/api/openapi.json").json()
    return found


@pytest.fixture(scope="module")
def token(web: RunningWeb) -> str:
    """An editor: what moves machines, runs and webhooks is refused, and that is an answer too."""
    with web.caller(Role.ADMIN) as caller:
        return str(caller.post("/api/tokens", json={"name": "fuzz", "role": "editor"}).json()["secret"])


def test_every_route_of_the_api_is_described(web: RunningWeb, described: dict[str, Any]) -> None:
    found = {(method.upper(), path) for path, methods in described["paths"].items() for method in methods}
    routes = {
        (route.method, route.path.replace(":path", ""))
        for route in web.served.application.routes()
        if route.path.startswith("/api/") and route.path not in ("/api/openapi.json", "/api/session")
    }
    assert found == routes


def test_what_the_document_allows_is_answered_as_it_says(
    web: RunningWeb, described: dict[str, Any], token: str
) -> None:
    schema = schemathesis.openapi.from_dict(described)
    schema.config.base_url = web.url
    tried = 0
    for result in schema.get_all_operations():
        _try(result.ok() if isinstance(result, Ok) else pytest.fail(str(result.err())), token)
        tried += 1
    assert tried == sum(len(methods) for methods in described["paths"].values())


def _try(operation: Any, token: str) -> None:
    quiet = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]

    @given(case=operation.as_strategy())
    @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=quiet, phases=[Phase.generate])
    def answers(case: Any) -> None:
        known = {name: value for name, value in KNOWN.items() if name in (case.path_parameters or {})}
        if known:
            case.path_parameters = {**case.path_parameters, **known}
        case.call_and_validate(headers={"Authorization": f"Bearer {token}"}, checks=CHECKS)

    answers()


def test_the_page_of_the_api_names_every_route_and_its_role(web: RunningWeb) -> None:
    page = (Path(__file__).parents[3] / "docs" / "web-api.md").read_text("utf-8")
    for route in web.served.application.routes():
        if route.path.startswith("/api/"):
            role = route.role.word if route.role else "–"
            assert f"| `{route.method} {route.path.replace(':path', '')}` | {role} |" in page
