"""Real and made-up pages, damaged at random: whatever comes of it, no extractor may raise an exception."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from cocli.demo.town import build_town
from cocli.demo.town.websites.replies import reply_to
from cocli.pipeline.websites import combine
from cocli.pipeline.websites.facts.stored_facts import facts_from_json, facts_to_json
from cocli.pipeline.websites.site.look import LookRequest, look_at
from cocli.pipeline.websites.triage.triage import Expected
from tests.pipeline.websites.test_fuzz import PIECES

_CAPTURES = Path(__file__).parents[3] / "shared" / "captures" / "sites" / "pages"
_MUTATIONS = 12
_TOWN_SITES = 60
_NUMBERS = (
    *(b"0", b"-1", b"99999999999999999999", b"1e309", b"&#xD800;", b"&#0;", b"\\ud800", b"\\u{110000}"),
    b"9" * 5_000,
)
_LITTLE = 60_000
"""Bytes of a piece of a page: damage is found sooner in many small pages than in few large ones."""
_CHARSETS = (None, None, None, "utf-8", "iso-8859-1", "shift_jis", "utf-16-le", "gb18030", "punycode", "x")
_COUNTRIES = ("DE", "DE", "US", None, "GB", "JP", "XX")
_URL = "https://www.hainwerk.de/kontakt"


def pages() -> list[bytes]:
    """The captured pages, where they are, and those of the town."""
    found = [file.read_bytes() for file in sorted(_CAPTURES.rglob("*.html"))] if _CAPTURES.is_dir() else []
    sites = islice(build_town().sites.items(), _TOWN_SITES)
    found += [reply_to(site, host, "/").body for host, site in sites]
    return [page for page in found if page]


def mutants(sources: list[bytes], rng: random.Random) -> Iterator[LookRequest]:
    """For ever: a page, or a piece of one, with some damage, as a reader is asked for it."""
    while True:
        page = rng.choice(sources)
        start = rng.choice((0, rng.randrange(max(1, len(page) - _LITTLE))))
        data = bytearray(page[start : start + _LITTLE])
        for _ in range(rng.randint(1, _MUTATIONS)):
            _damage(data, sources, rng)
        yield LookRequest(
            body=bytes(data),
            charset=rng.choice(_CHARSETS),
            uri=_URL,
            country=rng.choice(_COUNTRIES),
            where=_URL,
            status=rng.choice((200, 200, 200, 404, 503)),
            asked=rng.choice(("hainwerk.de", "hainwerk.de", "elsewhere.com")),
            expected=Expected(names=("Hainwerk",), phones=("+493023125042",)),
        )


def crash_of(request: LookRequest) -> str | None:
    """What went wrong on a page: what the barrier held back, or what got past it. None where nothing did.

    All that a worker does with a page is done: its facts are put together with those of others, stored and read back.
    """
    try:
        facts = look_at(request).facts
        if facts.failures:
            return f"{facts.failures[0].extractor}: {facts.failures[0].reason}"
        combine([facts])
        stored = json.dumps(facts_to_json(facts), allow_nan=False).encode()
        if facts_from_json(json.loads(stored)) != facts:
            return "its facts are others when they are read back"
    except Exception as error:  # noqa: BLE001  that is what is looked for
        return f"past the barrier: {type(error).__name__}: {error}"[:300]
    return None


def _damage(data: bytearray, sources: list[bytes], rng: random.Random) -> None:
    at = rng.randrange(len(data) + 1)
    length = rng.choice((1, 2, 8, 64, 512))
    kind = rng.randrange(6)
    if kind == 0:
        del data[at : at + length]
    elif kind == 1:
        data[at:at] = rng.choice(PIECES).encode("utf-8", "surrogatepass") * rng.choice((1, 1, 3, 50))
    elif kind == 2:
        data[at : at + length] = rng.randbytes(length)
    elif kind == 3:
        other = rng.choice(sources)
        start = rng.randrange(len(other))
        data[at:at] = other[start : start + length * 4]
    elif kind == 4:
        data[at:at] = rng.choice(_NUMBERS)
    else:
        data[at:at] = data[at : at + length] * rng.choice((2, 5, 40))
