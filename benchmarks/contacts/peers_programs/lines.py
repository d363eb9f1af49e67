"""What the programs share: the protocol, and the usual expressions for addresses, numbers and profiles."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable

EMAIL = re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}")
PHONE = re.compile(r"\+?\d[\d\s().-]{7,}\d")
SOCIAL = re.compile(
    r"https?://(?:www\.|m\.)?(?:facebook|instagram|twitter|x|linkedin|youtube|tiktok|pinterest)\.com/[^\s\"'<>]+"
)


def serve(find: Callable[[str, str], dict[str, object]]) -> None:
    """Answer page after page."""
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps(find(asked["html"], asked["url"])), flush=True)


def found(emails: Iterable[str], phones: Iterable[str] = (), socials: Iterable[str] = ()) -> dict[str, object]:
    """An answer. These programs offer all that they find; the first address is the one to write to."""
    every = list(dict.fromkeys(email.strip() for email in emails))
    return {"emails": every, "primary": every[0] if every else None, "phones": list(phones), "socials": list(socials)}
