"""What kind of page a document holds. Only a list, a single place or a proof that there is none is data.

Judged by structure, which is the same in every language: forms and where they lead, roles, ids, what Maps calls its
parts in its own log. A page that did not load is never taken for an empty list.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from cocli.pipeline.sources.google_maps.parser.details_dom import read_panel
from cocli.pipeline.sources.google_maps.parser.list_dom import FEED, card_links, read_list

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

    from cocli.pipeline.sources.google_maps.parser.details_dom import Panel
    from cocli.pipeline.sources.google_maps.parser.sighting import Sighting

Kind = Literal["list", "single", "empty", "area", "consent", "limited_view", "blocked", "error", "shell"]
NOT_TO_BE_READ: frozenset[Kind] = frozenset({"blocked", "consent", "limited_view"})
"""Pages that say nothing of what is there, or only a part of it: the tile is not read by them."""
PARTIAL: Kind = "limited_view"
"""What it shows is true, and less than there is: its places count, the tile stays unread."""
LOG_LIMITED_VIEW = "295516"
"""What Maps calls the link that explains the limited view."""
RATED_AT_LEAST = 4
"""So many rated places without a single count of reviews are a limited view."""
_STATUS_BLOCKED = (403, 429)
_CAPTCHA = '#captcha-form, form[action*="/sorry/"], .g-recaptcha, #recaptcha, iframe[src*="recaptcha"]'
_CONSENT = 'form[action*="consent."][action*="/save"], form[action*="consent.google"]'
_ERROR = "#main-frame-error, a#logo ~ p > ins, a#logo ~ p ins"
_END_HINT = ".HlvSq"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a page is. `is_data` says whether its places count as read."""

    kind: Kind
    reason: str
    end_seen: bool = False
    """The mark at the end of a list was there: what is listed is all there is."""

    @property
    def is_data(self) -> bool:
        return self.kind in ("list", "single", "empty")


@dataclass(frozen=True, slots=True)
class ShownPage:
    """What was read from the page itself."""

    cards: tuple[Sighting, ...] = ()
    panel: Panel | None = None
    verdict: Verdict = Verdict("error", "there is no page")


def look(tree: LexborHTMLParser | None, *, url: str = "", status: int | None = None, single: bool = False) -> ShownPage:
    """Reads what a page shows and judges it. `single`: a single place was asked for, which may stand beside a list."""
    refused = _refusal(tree, url, status)
    if refused is not None or tree is None:
        return ShownPage(verdict=refused or Verdict("error", "the page cannot be read"))
    panel = read_panel(tree) if single else None
    if panel is not None:
        return ShownPage((), panel, _of_panel(tree, panel))
    cards = tuple(read_list(tree))
    if cards or (tree.css_first(FEED) is not None and end_seen(tree)):
        return ShownPage(cards, None, _of_list(tree, cards))
    panel = read_panel(tree)
    if panel is not None:
        return ShownPage((), panel, _of_panel(tree, panel))
    return ShownPage(verdict=_of_nothing(tree))


def _refusal(tree: LexborHTMLParser | None, url: str, status: int | None) -> Verdict | None:
    host, path = _where(url)
    if status in _STATUS_BLOCKED or path.startswith("/sorry/"):
        return Verdict("blocked", f"Maps refused to answer ({status or path})")
    if status is not None and status >= 400:
        return Verdict("error", f"the answer was an error ({status})")
    if tree is None:
        return Verdict("error", "there is no page that can be read")
    if _has_content(tree):
        # What stands in front of a list that is there keeps nobody from reading it.
        if host.startswith("consent."):
            return Verdict("consent", "Maps asks for consent first")
        return None
    if tree.css_first(_CAPTCHA) is not None:
        return Verdict("blocked", "Maps asks whether a person is there")
    if host.startswith("consent.") or tree.css_first(_CONSENT) is not None:
        return Verdict("consent", "Maps asks for consent first")
    return None


def _where(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
        return (parts.hostname or "").lower(), parts.path
    except ValueError:  # not an address: nothing follows from it
        return "", ""


def _has_content(tree: LexborHTMLParser) -> bool:
    return tree.css_first(FEED) is not None or tree.css_first('[role="main"] h1') is not None


def _of_list(tree: LexborHTMLParser, cards: tuple[Sighting, ...]) -> Verdict:
    end = end_seen(tree)
    rated = [card for card in cards if "rating" in card.values]
    if _is_limited(tree):
        return Verdict("limited_view", "Maps says that it shows a limited view", end)
    if len(rated) >= RATED_AT_LEAST and not any("review_count" in card.values for card in rated):
        return Verdict("limited_view", f"{len(rated)} places have a rating, none a number of reviews", end)
    return Verdict("list", f"a list of {len(cards)} cards", end)


def _of_panel(tree: LexborHTMLParser, panel: Panel) -> Verdict:
    if not panel.is_business:
        return Verdict("area", "a place on the map that is no business")
    if _is_limited(tree):
        return Verdict("limited_view", "Maps says that it shows a limited view")
    return Verdict("single", "the page of one place")


def _of_nothing(tree: LexborHTMLParser) -> Verdict:
    if tree.css_first(_ERROR) is not None:
        return Verdict("error", "an error page")
    if tree.css_first(FEED) is not None or card_links(tree):
        return Verdict("shell", "the list has not loaded")
    if tree.css_first('[itemtype*="schema.org/Place"], #app-container, #searchboxinput, canvas') is not None:
        return Verdict("shell", "the page has not been rendered")
    return Verdict("error", "this is no page of Maps")


def _is_limited(tree: LexborHTMLParser) -> bool:
    return tree.css_first(f'[jslog^="{LOG_LIMITED_VIEW}"]') is not None


def end_seen(tree: LexborHTMLParser) -> bool:
    """Whether the list says that it is over: a paragraph behind the last card, where else more is being loaded."""
    feed = tree.css_first(FEED)
    if feed is None:
        return False
    if feed.css_first(_END_HINT) is not None:
        return True
    last = feed.last_child
    while last is not None and not (last.is_element_node and last.text().strip()):
        last = last.prev
    if last is None or last.css_first("a[href], button, [role='article']") is not None:
        return False
    return any(paragraph.text().strip() for paragraph in last.css("p"))
