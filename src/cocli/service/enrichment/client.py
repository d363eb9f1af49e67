"""A client of the enrichment service, for a laptop that hands its websites to a server.

    with EnrichmentClient("https://server:8790", token) as service:
        site = service.enrich(EnrichRequest(domain="example.com", country="US"))

What the service refuses is raised as the error that it was there; what it does not answer is `ServiceUnavailable`.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any, Self

from pydantic import ValidationError

from cocli.app.websites.enriched_site import EnrichedSite
from cocli.errors import ServiceError, ServiceUnavailable, TooManyRequests, UsageError
from cocli.models.record import explain
from cocli.retries import call_again
from cocli.service.listener import is_this_machine
from cocli.service.statuses import rebuilt

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import httpx2

    from cocli.app.websites.service import EnrichRequest

ANSWER_SECONDS = 60.0
"""Beside the time that the site itself may take: the request may wait for its turn."""
MAX_ANSWER = 16 * 1024 * 1024
_TRIES = 5
_AT_ONCE = 8
_LONGEST_WAIT = 60.0
_START = "Check the address, and that the service runs. Start it with: cocli enrichment serve"


class EnrichmentClient:
    """`certificate` is a PEM file of the authorities to trust, beside the usual ones. Safe to share between threads."""

    def __init__(
        self,
        address: str,
        token: str,
        *,
        certificate: str | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        import httpx2

        url = _service_url(address)
        self._address = str(url)
        self._sleep = sleep
        self._http = httpx2.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {_checked(token)}"},
            verify=_trust(certificate),
            trust_env=False,  # a proxy of the environment would be told the token
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def enrich(self, request: EnrichRequest) -> EnrichedSite:
        """Have a site read. Where the service asks to wait, that is done, a few times."""
        return call_again(
            lambda: self._ask(request),
            retryable=lambda error: isinstance(error, TooManyRequests),
            attempts=_TRIES,
            wait=_wait_asked_for,
            sleep=self._sleep,
        )

    def _ask(self, request: EnrichRequest) -> EnrichedSite:
        import httpx2

        body = request.model_dump_json(exclude_defaults=True)
        try:
            with self._http.stream(
                "POST",
                "/v1/enrich",
                content=body,
                headers={"Content-Type": "application/json"},
                timeout=httpx2.Timeout(10.0, read=request.seconds + ANSWER_SECONDS),
            ) as answer:
                data = self._body(answer)
        except httpx2.HTTPError as error:
            raise ServiceUnavailable(
                address=self._address, reason=str(error) or type(error).__name__, hint=_START
            ) from (error)
        if answer.status_code != 200:
            raise self._refused(answer, data)
        try:
            return EnrichedSite.model_validate_json(data)
        except ValidationError as error:
            raise ServiceError(reason=f"it answers what this version does not understand: {explain(error)}") from error

    def _body(self, answer: httpx2.Response) -> bytes:
        body = bytearray()
        for piece in answer.iter_bytes():
            body += piece
            if len(body) > MAX_ANSWER:
                raise ServiceError(reason=f"its answer has more than {MAX_ANSWER} bytes")
        return bytes(body)

    def _refused(self, answer: httpx2.Response, data: bytes) -> Exception:
        import json

        try:
            envelope: Any = json.loads(data)["error"]
            code = str(envelope["code"])
        except (ValueError, KeyError, TypeError):
            # No service of ours, or one that has too much to do even to say so.
            kind = ServiceUnavailable if answer.status_code >= 500 else ServiceError
            return kind(address=self._address, reason=f"it answers with status {answer.status_code}", hint=_START)
        if code == ServiceUnavailable.code:
            return ServiceUnavailable(address=self._address, reason=str(envelope.get("message", "?"))[:300])
        return rebuilt(envelope)


def enrich_by_service(
    client: EnrichmentClient, requests: Sequence[EnrichRequest], *, on_progress: Callable[[int], object]
) -> list[EnrichedSite]:
    """Several sites side by side; the answers are in the order of the requests. The first failure ends it."""
    from concurrent.futures import ThreadPoolExecutor

    found: list[EnrichedSite] = []
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="enrich") as threads:
        try:
            for number, site in enumerate(threads.map(client.enrich, requests), start=1):
                found.append(site)
                on_progress(number)
        except BaseException:  # also Ctrl-C: what has not begun is not asked any more
            threads.shutdown(wait=False, cancel_futures=True)
            raise
    return found


def _service_url(address: str) -> httpx2.URL:
    import httpx2

    try:
        url = httpx2.URL(address)
    except (httpx2.InvalidURL, ValueError):
        url = httpx2.URL("")
    if url.scheme not in ("http", "https") or not url.host or url.userinfo or url.path not in ("", "/"):
        raise UsageError(
            reason=f'"{address[:200]}" is not the address of a service', hint="Write https://host:8790, without a path."
        )
    if url.scheme == "http" and not is_this_machine(url.host):
        raise UsageError(
            reason=f"{url.host} is another machine, and http would show it the token in the clear",
            hint=f"Write https://{url.netloc.decode('ascii')}",
        )
    return url


def _checked(token: str) -> str:
    if not token.isascii() or not token.isprintable() or not token or " " in token:
        raise UsageError(reason="the token is not one line of plain text", hint="Make one with: cocli documents token")
    return token


def _trust(certificate: str | None) -> Any:
    import ssl

    try:
        return ssl.create_default_context(cafile=certificate)
    except OSError as error:
        raise UsageError(reason=f"{certificate} is no file of certificates: {error}") from error


def _wait_asked_for(_: int, error: Exception) -> float:
    """What the service asks for, within reason."""
    asked = error.details.get("wait") if isinstance(error, TooManyRequests) else None
    return min(_LONGEST_WAIT, _seconds(asked))


def _seconds(value: object) -> float:
    if isinstance(value, (int, float)) and math.isfinite(value) and value > 0:
        return float(value)
    return 1.0
