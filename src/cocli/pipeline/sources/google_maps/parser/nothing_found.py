"""A search without any result, told from a page that did not load: the page names the phrase where results would be.

What Maps says there differs by language, but it always repeats what was searched for. A page that is still loading,
or that failed, does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from cocli.keys.identities import normalised
from cocli.pipeline.sources.google_maps.parser.list_dom import FEED, PLACE_LINKS

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

_SEARCHES = "/maps/search/"
_NOT_EMPTY = f'{FEED}, {PLACE_LINKS}, [role="progressbar"], [role="main"] h1'


def says_nothing_found(tree: LexborHTMLParser | None, url: str, phrase: str | None) -> bool:
    """Whether the page of a search says that there is nothing: no list, no place, no waiting, but the phrase."""
    if tree is None or not phrase or not _path(url).startswith(_SEARCHES) or tree.css_first(_NOT_EMPTY) is not None:
        return False
    pane = tree.css_first('[role="main"]')
    return pane is not None and names(pane.text(separator=" "), phrase)


def names(text: str, phrase: str) -> bool:
    """Whether a text repeats a phrase, however it is written."""
    wanted = normalised(phrase)
    return bool(wanted) and f" {wanted} " in f" {normalised(text)} "


def _path(url: str) -> str:
    try:
        return urlsplit(url).path
    except ValueError:  # not an address: nothing follows from it
        return ""
