"""How the browser behaves: how long it waits for what, and when it starts anew. Polite by default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from cocli.models.campaign import GoogleMapsSection

REAL_SITE = "https://www.google.com"


@dataclass(frozen=True, slots=True)
class BrowserSettings:
    """Seconds, unless it says otherwise."""

    url: str = REAL_SITE
    """Whose Maps is read: the real one, or one on loopback."""
    load: float = 45.0
    """For a page to show a list, a place, or that there is none."""
    visit: float = 300.0
    """For everything about one page, however long its list."""
    rounds: int = 5
    """In a row that bring nothing new before a list without an end is given up."""
    round: float = 2.5
    """For the next places to come after scrolling. Longer with each round that brought none."""
    look: float = 0.2
    """Between two looks at the page."""
    settle: float = 3.0
    """For a place to come to rest once its name is there."""
    tabs: int = 2
    """Pages that are open at the same time."""
    pages: int = 40
    """Until the browser is started anew: it never gives back all of its memory."""
    html_bytes: int = 12_000_000
    answer_bytes: int = 40_000_000
    """Of all answers to one page."""

    @classmethod
    def of(cls, section: GoogleMapsSection) -> Self:
        """From a campaign's configuration."""
        return cls(url=section.url.rstrip("/"), load=section.timeout_seconds, tabs=section.tabs)
