"""What Maps writes where a business is closed for good or for now, in the languages where that is known."""

from __future__ import annotations

from cocli.pipeline.websites.page.languages import words_of

_STATUS = {
    **dict.fromkeys(words_of("closed.for_good"), "permanently_closed"),
    **dict.fromkeys(words_of("closed.for_now"), "temporarily_closed"),
}


def closed_status(text: str) -> str | None:
    """The status that a piece of a line says, where it says nothing else before the first dot."""
    return _STATUS.get(text.partition(" ⋅")[0].partition(" ·")[0].casefold())
