"""The label of a company in paths and links that people read. Never an identity."""

from __future__ import annotations

import re
import unicodedata

_LONGEST = 60


def slug_of(name: str, company_hash: str) -> str:
    """`Müller & Söhne GmbH` → `muller-sohne-gmbh`. Letters of other scripts stay; a name without any gives the hash."""
    plain = unicodedata.normalize("NFKD", name).casefold()
    plain = unicodedata.normalize("NFC", "".join(c for c in plain if not ("\u0300" <= c <= "\u036f")))
    words = re.sub(r"[\W_]+", "-", plain).strip("-")
    return words[:_LONGEST].rstrip("-") or company_hash


def distinct_slug(slug: str, company_hash: str) -> str:
    """For the second company that wants a slug."""
    return f"{slug}-{company_hash[:6]}"
