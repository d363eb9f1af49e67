"""From the descriptions to pages with their truth."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.contacts.generator.apart.look import ApartLook
from benchmarks.contacts.generator.draft import LICENCE, Draft
from benchmarks.contacts.generator.ingredients import add
from benchmarks.contacts.generator.look import Look, Parts
from benchmarks.contacts.generator.open.look import OpenLook
from benchmarks.contacts.generator.words import HERE, SEEDS, Half, Words, words_of

_LOOKS: dict[Half, type[OpenLook | ApartLook]] = {"open": OpenLook, "apart": ApartLook}
_PATHS = {"home": "/", "contact": "/contact", "legal": "/legal-notice", "team": "/team", "other": "/services"}
_HEADINGS = {"contact": "contact", "legal": "legal"}
_STRIDE = 7
"""Languages that one class steps on by, so that classes with few languages have different ones."""


@dataclass(frozen=True, slots=True)
class Case:
    """A page to be made."""

    name: str
    half: Half
    family: str
    """The class."""
    words: Words
    kind: str
    hinted: bool
    site: str
    ingredients: tuple[str, ...]
    turn: int


def cases(half: Half) -> list[Case]:
    """Every case of a half, in the order of the descriptions."""
    rows = tomllib.loads((HERE / "cases.toml").read_text("utf-8"))["case"]
    every = list(words_of(half).values())
    found: list[Case] = []
    for number, row in enumerate(rows):
        for turn, words in enumerate(_languages(every, int(row["languages"]), number)):
            name = f"{half}-{number:02d}-{words.language}"
            found.append(
                Case(
                    name, half, row["class"], words, row["page"], row.get("country") != "", row.get("site", ""),
                    tuple(row["with"]), turn,
                )
            )  # fmt: skip
    return found


def _languages(every: list[Words], count: int, start: int) -> Iterator[Words]:
    for turn in range(min(count, len(every))):
        yield every[(start * 3 + turn * _STRIDE) % len(every)]


def page_of(case: Case) -> tuple[str, dict[str, Any]]:
    """The page and its row of truth."""
    random = Random(f"{SEEDS[case.half]} {case.name}")
    draft = _draft(case, random)
    for text in case.ingredients:
        add(draft, text)
    return _html(case, draft), _row(case, draft)


def _draft(case: Case, random: Random) -> Draft:
    firm, _, domain = case.words.any("firms", random).partition("=")
    if case.site:
        domain = f"{domain.partition('.')[0]}.{case.site}"
    look: Look = _LOOKS[case.half](random)
    return Draft(random, case.words, look, firm, domain, case.kind, case.words.place(random))


def _html(case: Case, draft: Draft) -> str:
    if draft.graph:
        graph = {"@context": "https://schema.org", "@type": "LocalBusiness", "name": draft.firm, **draft.graph}
        draft.head.append(f'<script type="application/ld+json">{json.dumps(graph, ensure_ascii=False)}</script>')
    heading = draft.say(_HEADINGS[case.kind]) if case.kind in _HEADINGS else draft.firm
    # A page for visitors of every country says that it is English, whatever it is.
    language = case.words.language if case.hinted else "en"
    return draft.look.page(
        Parts(
            language=language,
            title=escape(f"{heading} – {draft.firm}" if heading != draft.firm else draft.firm, quote=False),
            menu=[escape(draft.firm, quote=False), draft.label("contact"), draft.label("legal")],
            heading=escape(heading, quote=False),
            texts=[escape(text, quote=False) for text in draft.words.every("text")],
            head=draft.head,
            body=draft.body,
            footer=draft.footer,
            credits=draft.credits,
        )
    )


def _row(case: Case, draft: Draft) -> dict[str, Any]:
    return {
        "file": f"pages/{case.name}.html",
        "url": f"https://www.{draft.domain}{_PATHS[case.kind]}",
        "country": case.words.country.code if case.hinted else None,
        "lang": case.words.language,
        "class": case.family,
        "licence": LICENCE,
        **draft.truth.as_row(),
    }


def write(half: Half, folder: Path) -> int:
    """Write a half as a folder that any program can read; how many pages it has."""
    (folder / "pages").mkdir(parents=True, exist_ok=True)
    rows = []
    for case in cases(half):
        html, row = page_of(case)
        (folder / row["file"]).write_text(html, "utf-8")
        rows.append(json.dumps(row, ensure_ascii=False))
    (folder / "truth.jsonl").write_text("\n".join(rows) + "\n", "utf-8")
    return len(rows)
