"""What a company's page says of its prospect, under the program's key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.models.company import CompanyFacts

if TYPE_CHECKING:
    from cocli.models.prospect import Prospect


def facts_of(prospect: Prospect) -> CompanyFacts:
    """The facts of one campaign's prospect; its primary address first."""
    primary = (prospect.primary_email,) if prospect.primary_email else ()
    return CompanyFacts(
        company_hash=prospect.company_hash,
        place_id=prospect.place_id,
        name=prospect.name or None,
        domain=prospect.domain,
        website=prospect.website or None,
        phone_e164=prospect.phone_e164,
        emails=(*primary, *(email for email in prospect.all_emails if email not in primary)),
        address=prospect.address,
        categories=prospect.categories,
        campaigns=(prospect.campaign,),
        updated_at=prospect.updated_at,
    )


def refreshed(known: CompanyFacts | None, found: CompanyFacts) -> CompanyFacts:
    """The facts that a page gets. The very ones that it has where nothing but the time would change.

    Campaigns may know one company differently: the newer knowledge stays, whoever is refreshed last.
    """
    if known is None:
        return found
    campaigns = tuple(sorted({*known.campaigns, *found.campaigns}))
    newest = found
    if campaigns != found.campaigns and found.updated_at <= known.updated_at:
        newest = known
    merged = newest.model_copy(update={"campaigns": campaigns, "company_hash": found.company_hash})
    if campaigns == found.campaigns and merged.model_copy(update={"updated_at": known.updated_at}) == known:
        return known
    return merged
