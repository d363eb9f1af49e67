"""Real pages as Maps might write them tomorrow, or in another country, or as they arrive when something went wrong.

The labels stay true: what is said of a page that was changed must still be right. Nothing may be wrong; where another
carrier still has the value, nothing may be missing either.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from cocli.pipeline.sources.google_maps.evaluation import EvaluationReport, evaluate

TAG = re.compile(r'<([a-z][\w-]*)((?:\s+[^\s=>"/]+(?:="[^"]*")?)+)\s*>')
ATTRIBUTE = re.compile(r'\s+[^\s=>"/]+(?:="[^"]*")?')
LABELS = re.compile(r'aria-label="[^"]*[0-9][^"]*(?:stars|[Rr]eviews)[^"]*"|>[0-5]\.[0-9]<|>\([0-9,]+\)<')
NEVER_WRONG = (
    "place_id",
    "feature_id",
    "name",
    "coordinates",
    "phone",
    "phone_e164",
    "website",
    "rating",
    "review_count",
)
ARABIC = str.maketrans("0123456789.,", "٠١٢٣٤٥٦٧٨٩٫٬")
GERMAN = str.maketrans(".,", ",.")

Change = Callable[[str], str]


def new_class_names(html: str) -> str:
    """Maps renames its classes every few months."""
    names: dict[str, str] = {}

    def renamed(match: re.Match[str]) -> str:
        return f'class="{" ".join(names.setdefault(name, f"q{len(names)}") for name in match[1].split())}"'

    return re.sub(r'class="([^"]*)"', renamed, html)


def without(*names: str) -> Change:
    pattern = re.compile(rf'\s(?:{"|".join(names)})="[^"]*"')
    return lambda html: pattern.sub("", html)


def other_order_of_attributes(html: str) -> str:
    return TAG.sub(lambda match: f"<{match[1]}{''.join(reversed(ATTRIBUTE.findall(match[2])))}>", html)


def numbers_of(table: dict[int, int]) -> Change:
    return lambda html: LABELS.sub(
        lambda match: match[0].translate(table).replace("stars", "Sterne").replace("eviews", "ezensionen"), html
    )


def set_apart(html: str) -> str:
    return re.sub(r">(?=<)", ">\n  ", html)


KEPT: dict[str, Change] = {
    "new class names": new_class_names,
    "no classes, no styles": without("class", "style"),
    "no numbers of the log": without("jslog"),
    "no words on buttons, no articles": lambda html: without("data-value")(html).replace(' role="article"', ""),
    "attributes in another order": other_order_of_attributes,
    "German numbers": numbers_of(GERMAN),
    "Arabic digits": numbers_of(ARABIC),
    "no labels of pictures": lambda html: re.sub(r'(role="img"[^>]*?)\saria-label="[^"]*"', r"\1", html),
    "set apart": set_apart,
}


def written(change: Change) -> Callable[[bytes], bytes]:
    """The change, made in the text that a browser would write for the page."""
    return lambda page: change(LexborHTMLParser(page).html or "").encode()


def outcomes(report: EvaluationReport) -> dict[str, list[str]]:
    """What was not right, by field."""
    return {
        f"{kind} {name}": tally.examples
        for kind, scores in report.scores.items()
        for name, tally in scores.fields.items()
        if tally.examples
    }


@pytest.mark.parametrize("name", KEPT)
def test_nothing_is_lost_while_another_carrier_has_it(captures: Path, name: str) -> None:
    assert outcomes(evaluate(captures / "maps", written(KEPT[name]))) == {}


def _inside(tree: LexborHTMLParser) -> list[LexborNode]:
    whole = tree.css_first('[role="feed"]') or tree.css_first('[role="main"]') or tree.body
    return whole.css("div, span, a, button") if whole is not None else []


def lose_elements(html: str, chance: random.Random) -> str:
    tree = LexborHTMLParser(html)
    for node in _inside(tree):
        if chance.random() < 0.02 and node.parent is not None:
            node.decompose(recursive=False)
    return tree.html or ""


def lose_levels(html: str, chance: random.Random) -> str:
    tree = LexborHTMLParser(html)
    for node in _inside(tree):
        if node.tag == "div" and not node.attributes.get("role") and chance.random() < 0.05:
            node.unwrap()
    return tree.html or ""


def lose_the_rest(html: str, chance: random.Random) -> str:
    start = max(html.find('role="feed"'), html.find('role="main"'), 0)
    return html[: chance.randrange(start, len(html) + 1)]


@pytest.mark.parametrize("damage", [lose_elements, lose_levels, lose_the_rest])
def test_what_is_left_of_a_page_is_never_read_wrongly(
    captures: Path, damage: Callable[[str, random.Random], str]
) -> None:
    chance = random.Random(20261116)
    report = evaluate(captures / "maps", written(lambda html: damage(html, chance)))
    # A card that lost its line of category and address has its description there: that one cannot be told.
    told = NEVER_WRONG if damage is lose_elements else (*NEVER_WRONG, "category", "address")
    for kind, scores in report.scores.items():
        for name in told:
            assert scores.tally(name).wrong == scores.tally(name).invented == 0, (
                kind,
                name,
                scores.tally(name).examples,
            )
        assert scores.tally("places").invented == 0, (kind, scores.tally("places").examples)
    assert sum(scores.tally("phone").right for scores in report.scores.values()) > 10, (
        "there is enough left to be wrong"
    )
