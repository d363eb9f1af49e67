"""Which addresses of a site are delivered to the campaign, and why. The rules are in docs/extractors.md.

Whose an address is (`relation`) stays what it is: an address of another domain that a site offers as its contact is
delivered as `other`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.pipeline.websites.page.suffixes import registrable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.pipeline.websites.facts.offer import Offer
    from cocli.pipeline.websites.facts.relation import Doubt, Relation
    from cocli.pipeline.websites.site.facts import SiteEmail

MAX_FOREIGN = 2
"""Domains of others that a site offers beside its own. One that names more lists its partners."""
_NOT_THEIRS: dict[Relation, str] = {
    "agency": "of who made or hosts the site",
    "platform": "of a service that the site uses",
    "authority": "of an authority, a chamber or a register",
}
_DOUBTS: dict[Doubt, str] = {
    "copied": "the page says it is another site's",
    "foreign": "of the site that the page was copied from",
    "officer": "of who watches over privacy",
    "quoted": "of who wrote a review or a comment",
    "partner": "among partners",
}
_OFFERED: dict[Offer, str] = {
    "form": "receives the contact form",
    "contact-word": "stands behind a word for contact",
    "contact-page": "stands on the contact page",
    "footer": "stands in the footer",
    "label": "stands behind a label",
    "imprint": "stands in the imprint",
}
_BESIDE_OWN = frozenset({"form", "contact-word", "contact-page", "footer"})
"""What is delivered beside an own address: imprints name others with a label, too."""


@dataclass(frozen=True, slots=True)
class EmailDelivery:
    """Whether an address is delivered, and why."""

    delivered: bool
    reason: str


def deliveries(emails: Sequence[SiteEmail]) -> dict[str, EmailDelivery]:
    """What becomes of each address of a site."""
    plain = {email.value: _of_relation(email) for email in emails}
    others = [email for email in emails if plain[email.value] is None]
    has_own = any(delivery is not None and delivery.delivered for delivery in plain.values())
    foreign = {_domain(email) for email in others if _is_offered(email, has_own)}
    crowded = len(foreign) > (MAX_FOREIGN if has_own else 2 * MAX_FOREIGN)
    only = None if has_own or len({_domain(email) for email in others}) > 1 else others
    decided = {email.value: _of_other(email, has_own, crowded, only=bool(only)) for email in others}
    return {value: delivery or decided[value] for value, delivery in plain.items()}


def _of_relation(email: SiteEmail) -> EmailDelivery | None:
    """What its relation settles; None for somebody else's."""
    doubt = email.doubt
    if doubt is not None and doubt in _DOUBTS and email.relation != "own":
        return EmailDelivery(False, _DOUBTS[doubt])
    if email.relation in _NOT_THEIRS:
        return EmailDelivery(False, _NOT_THEIRS[email.relation])
    if email.relation == "own":
        return EmailDelivery(True, "of the site's own domain or name")
    if email.relation == "freemail":
        return EmailDelivery(True, "at a mail provider, and the site shows it as its contact")
    if email.kinds == {"privacy"}:
        return EmailDelivery(False, "somebody else's, in a notice on privacy")
    return None


def _of_other(email: SiteEmail, has_own: bool, crowded: bool, *, only: bool) -> EmailDelivery:
    if only:
        return EmailDelivery(True, "somebody else's domain, but the only address of the site")
    if _is_offered(email, has_own) and not crowded and email.offer is not None:
        return EmailDelivery(True, f"somebody else's domain, but it {_OFFERED[email.offer]}")
    if crowded:
        return EmailDelivery(False, "one of many of others")
    return EmailDelivery(False, "somebody else's, in passing")


def _is_offered(email: SiteEmail, has_own: bool) -> bool:
    if email.offer is None:
        return False
    return email.offer in _BESIDE_OWN or not has_own


def _domain(email: SiteEmail) -> str:
    domain = email.value.partition("@")[2]
    return registrable(domain) or domain
