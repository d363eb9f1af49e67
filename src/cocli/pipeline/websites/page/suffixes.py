"""Which texts are domains: only those under a suffix that the public suffix list knows. `logo@2x.png` is none."""

from __future__ import annotations

from functools import lru_cache

from cocli.errors import IdentityError
from cocli.keys.identities import is_under_known_suffix, registrable_domain


@lru_cache(maxsize=4096)
def registrable(host: str) -> str | None:
    """`shop.firm.co.uk` → `firm.co.uk`; None for what nobody can register, and for suffixes that do not exist."""
    if not host or len(host) > 253 or "." not in host:
        return None
    try:
        domain = registrable_domain(host)
    except IdentityError:  # not a domain: that is the answer
        return None
    if is_under_known_suffix(domain):
        return domain
    return None
