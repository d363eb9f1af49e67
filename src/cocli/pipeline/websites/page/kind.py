"""What a page of a website is for, by its address and its name: contact, imprint, about, team, privacy, home."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import unquote_plus, urlsplit

from cocli.pipeline.websites.facts.identity import plain
from cocli.pipeline.websites.page.words import ALSO, PLAIN, PageKind

__all__ = ["PageKind", "is_plain", "kind_of"]

_HOME = re.compile(r"/?(?:index|home|default|start|main)?(?:\.[a-z]{2,5})?/?\Z|/[a-z]{2}(?:-[a-z]{2})?/?\Z")
_PLAIN = re.compile(r"https?://[\w.:-]++(/[\w./~%-]*+)?(?:\?([\w=&%./~-]*+))?", re.ASCII)
_MAX_ADDRESS, _MAX_NAME = 300, 100
_NO_DASH = re.compile(r"[\s_+]+")


def kind_of(url: str, title: str = "") -> PageKind:
    """By the address; where that says nothing, by the title of the page or the words of a link to it."""
    return _kind(url, title)[0]


def is_plain(url: str, title: str = "") -> bool:
    """Does it say plainly what it is? `/contact` does, `/locations` does not."""
    return _kind(url, title)[1]


def _kind(url: str, title: str) -> tuple[PageKind, bool]:
    path, query = _address(url)
    return _by_address_and_name(path, query, title[:_MAX_NAME])


@lru_cache(maxsize=8192)
def _by_address_and_name(path: str, query: str, name: str) -> tuple[PageKind, bool]:
    """Remembered without the host: the pages of a site have one menu, and sites call their pages by the same names."""
    if path and not query and _HOME.match(path):
        return "home", True
    by_path, by_query, by_name = _by_words(path), _by_words(query), _by_words(name)
    for kind, _ in (by_path, by_query, by_name):
        if kind is not None:
            return kind, True
    for _, also in (by_path, by_query, by_name):
        if also is not None:
            return also, False
    if path and _HOME.match(path):
        return ("home", True)
    return ("other", False)


def _address(url: str) -> tuple[str, str]:
    """Path and query. Sites of some systems have all pages at one path: `/index.php?page=contact`."""
    if plain_address := _PLAIN.fullmatch(url):  # what taking it apart comes to, much faster
        return (plain_address[1] or "/").lower()[:_MAX_ADDRESS], (plain_address[2] or "").lower()[:_MAX_ADDRESS]
    try:
        parts = urlsplit(url)
    except ValueError:  # not an address: only the title can tell
        return "", ""
    path = parts.path or ("/" if parts.netloc else "")
    return path.lower()[:_MAX_ADDRESS], parts.query.lower()[:_MAX_ADDRESS]


@lru_cache(maxsize=8192)
def _by_words(text: str) -> tuple[PageKind | None, PageKind | None]:
    """What a text says plainly, and what it may mean besides. Remembered: sites call their pages by the same names."""
    if not text:
        return None, None
    name = plain(unquote_plus(text) if "%" in text else text)
    name = _NO_DASH.sub("-", name)
    for words in PLAIN:
        if words.are_in(name):
            return words.kind, None
    for words in ALSO:
        if words.are_in(name):
            return None, words.kind
    return None, None
