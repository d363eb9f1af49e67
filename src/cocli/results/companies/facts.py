"""What a company's page says of its prospect, under the program's key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
        phone=None if prospect.phone_e164 else prospect.phone,
        emails=(*primary, *(email for email in prospect.all_emails if email not in primary)),
        address=prospect.address,
        categories=prospect.categories,
        hours=prospect.hours or None,
        people=prospect.people or None,
        campaigns=(prospect.campaign,),
        updated_at=prospect.updated_at,
    )


def refreshed(known: CompanyFacts | None, found: CompanyFacts) -> CompanyFacts:
    """The facts that a page gets. The very ones that it has where nothing but the time would change.

    Campaigns may know one company differently, and under different hashes: the newer knowledge stays, whoever is
    refreshed last. What the newer one does not say of a company with several hashes, the older one says.
    """
    if known is None:
        return found
    campaigns = tuple(sorted({*known.campaigns, *found.campaigns}))
    also = tuple(sorted({*(known.also or ()), found.company_hash} - {known.company_hash})) or None
    newest = found
    if _is_older(found, known, several=campaigns != found.campaigns, also=also):
        newest = known
    elif also:
        newest = found.model_copy(update=_gaps(found, known))
    kept = {"campaigns": campaigns, "company_hash": known.company_hash, "also": also, "formerly": known.formerly}
    merged = newest.model_copy(update=kept)
    if campaigns == found.campaigns and merged.model_copy(update={"updated_at": known.updated_at}) == known:
        return known
    return merged


def _is_older(found: CompanyFacts, known: CompanyFacts, *, several: bool, also: tuple[str, ...] | None) -> bool:
    if not several and not also:
        return False
    if several or found.company_hash != known.company_hash:
        return found.updated_at <= known.updated_at
    return found.updated_at < known.updated_at


def _gaps(found: CompanyFacts, known: CompanyFacts) -> dict[str, Any]:
    """What only the older knowledge says."""
    names = [name for name in CompanyFacts.model_fields if name not in ("also", "formerly", "updated_at")]
    return {name: getattr(known, name) for name in names if getattr(found, name) in (None, (), "")}
