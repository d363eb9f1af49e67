"""What a site calls itself and says about itself: title, name, description."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.pipeline.websites.facts.finding import Finding
from cocli.pipeline.websites.page.structured import facts_of

if TYPE_CHECKING:
    from cocli.pipeline.websites.page.page import Page

MAX_CHARS = 1_000
_META = (
    ("description", "meta"),
    ("og:description", "open-graph"),
    ("twitter:description", "twitter-card"),
    ("dc.description", "meta"),
)
_ORGANISATION = ("organization", "localbusiness", "corporation", "store", "restaurant", "professionalservice")


@dataclass(frozen=True, slots=True)
class Description:
    title: str | None
    name: Finding | None
    description: Finding | None


def find_description(page: Page) -> Description:
    return Description(page.title or None, _name(page), _description(page))


def _description(page: Page) -> Finding | None:
    for key, method in _META:
        text = _clean(page.meta.get(key, ""))
        if text:
            return Finding(text, method, text, 0, "head")
    return next(
        (
            Finding(text, fact.method, text, fact.position, "data")
            for fact in facts_of(page)
            if fact.name == "description" and len(fact.path) < 2 and (text := _clean(fact.value))
        ),
        None,
    )


def _name(page: Page) -> Finding | None:
    for fact in facts_of(page):
        if (
            fact.name in ("name", "legalname")
            and _is_organisation(fact.kind)
            and not set(fact.path) & {"review", "author"}
        ):
            text = _clean(fact.value)
            if text:
                return Finding(text, fact.method, text, fact.position, "data")
    text = _clean(page.meta.get("og:site_name", ""))
    if text:
        return Finding(text, "open-graph", text, 0, "head")
    return None


def _is_organisation(kind: str) -> bool:
    return kind in _ORGANISATION or kind.endswith(
        ("business", "organization", "service", "store", "contractor", "shop")
    )


def _clean(text: str) -> str:
    return " ".join(text.split())[:MAX_CHARS]
