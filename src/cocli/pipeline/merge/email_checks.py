"""What is known of an address without writing to it: syntax, the hosts of its mail, and hosts that throw mail away.

No mailbox is ever asked for: whether a domain takes mail for every name (catch-all) stays unknown, and so `deliverable`
is said by nobody but a person or another program.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.pipeline.websites.facts.emails.address import read_address
from cocli.pipeline.websites.hosts.providers import is_disposable

if TYPE_CHECKING:
    from cocli.models.email import Verification
    from cocli.pipeline.websites.site.mx import MxAnswer

UNDELIVERABLE_CONFIDENCE = 0.01
RISKY_CONFIDENCE = 0.3


@dataclass(frozen=True, slots=True)
class EmailCheck:
    """What the checks came to."""

    verification: Verification
    by_name_servers: bool
    """Whether the name servers said so; else the address itself does."""


def check_email(address: str, answer: MxAnswer | None) -> EmailCheck:
    """The first that speaks: syntax, the domain's word that it takes no mail, a host of throw-away mail, mail hosts."""
    if read_address(address) is None:
        return EmailCheck("undeliverable", by_name_servers=False)
    state = answer.state if answer is not None else "unknown"
    if state in ("null-mx", "no-domain"):
        return EmailCheck("undeliverable", by_name_servers=True)
    if is_disposable(address.rpartition("@")[2]):
        return EmailCheck("risky", by_name_servers=False)
    if state == "mx":
        return EmailCheck("mx", by_name_servers=True)
    return EmailCheck("syntax", by_name_servers=False)


def checked_confidence(confidence: float | None, verification: Verification) -> float | None:
    """What is left of it: mail that does not arrive is no contact, whoever's it is."""
    if confidence is None:
        return None
    if verification == "undeliverable":
        return min(confidence, UNDELIVERABLE_CONFIDENCE)
    if verification == "risky":
        return min(confidence, RISKY_CONFIDENCE)
    return confidence
