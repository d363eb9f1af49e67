"""Is this page an error that comes as if it were the website: not found, a crash, works in progress?

Such a page says hardly anything, leads nowhere and names nobody. A phrase alone decides nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cocli.pipeline.websites.triage.signals import has_contact, is_thin, own_links

if TYPE_CHECKING:
    from cocli.pipeline.websites.facts.facts import PageFacts
    from cocli.pipeline.websites.page.page import Page

_CHARS = 700
_FEW_LINKS = 4
_GONE = re.compile(
    r"(?:error|fehler|erreur|errore)[ :]{1,2}404|^404\b ?(?:$|[-–:|!]|error|not|page)|"
    r"(?:page|site|file|seite|datei|página|pagina|page demandée|sivua) (?:was |could |wurde |est |n'a )?"
    r"(?:not|nicht|no|non|niet|introuvable|pas)\b[^\n]{0,20}(?:found|gefunden|encontrad|trovata|gevonden|trouvée|exist)|"
    r"no such app|there isn.t a github pages site|site not found|(?:web)?site[^\n]{0,40} (?:is )?no longer available|"
    r"(?:page|url|site)[^\n]{0,30} (?:doesn.t|does not) exist",
    re.IGNORECASE | re.MULTILINE,
)
_PASSING = re.compile(
    r"error establishing a database connection|critical error on this (?:web)?site|\bfatal error\b|"
    r"internal server error|service (?:temporarily )?unavailable|bad gateway|gateway time-?out|web server is down|"
    r"connection timed out|origin is unreachable|error code:? 5\d\d|maintenance mode|"
    r"(?:scheduled|performing some|under|(?:down|closed|offline|unavailable) for) maintenance|"
    r"be (?:right )?back (?:soon|shortly)|temporarily (?:unavailable|offline|down)|wartungs(?:arbeiten|modus)|"
    r"wegen wartung|(?:sitio|web|estamos) en mantenimiento|(?:site|actuellement) en (?:cours de )?maintenance|"
    r"sito in manutenzione|site em manutenção|(?:site|website) (?:is )?in onderhoud|"
    r"przerwa techniczna|メンテナンス中",
    re.IGNORECASE,
)


def broken_evidence(page: Page, facts: PageFacts, site: str) -> tuple[tuple[str, ...], bool]:
    """Why there is no website here, and whether that may pass; no evidence where there may be one."""
    if not page.text.strip() or not is_thin(page, _CHARS) or has_contact(facts) or facts.addresses:
        return (), False
    if own_links(page, site) > _FEW_LINKS:
        return (), False
    for phrases, may_pass in ((_PASSING, True), (_GONE, False)):
        for where, text in (("title", page.title), ("text", page.text[:_CHARS])):
            match = phrases.search(text)
            if match:
                said = f'its {where} says "{" ".join(match[0].split())[:80]}"'
                return (said, f"{len(page.text)} characters of text, no contact, hardly a link"), may_pass
    return (), False
