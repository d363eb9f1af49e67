"""Which texts are domains: only those under a suffix that the public suffix list knows. `logo@2x.png` is none."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from cocli.errors import IdentityError
from cocli.keys.identities import registrable_domain

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList


@lru_cache(maxsize=4096)
def registrable(host: str) -> str | None:
    """`shop.firm.co.uk` → `firm.co.uk`; None for what nobody can register, and for suffixes that do not exist."""
    if not host or len(host) > 253 or "." not in host:
        return None
    try:
        domain = registrable_domain(host)
    except IdentityError:  # not a domain: that is the answer
        return None
    if _known_suffixes().publicsuffix(domain):
        return domain
    return None


@cache
def _known_suffixes() -> PublicSuffixList:
    from publicsuffixlist import PublicSuffixList  # 300 kB of text: read when the first domain is looked at

    return PublicSuffixList(accept_unknown=False, only_icann=True)
