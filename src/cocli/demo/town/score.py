"""How good a run was: the prospects of a campaign against the truth of the town."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.app.indexes.indexes import campaign_indexes
from cocli.index.reader import open_reader

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cocli.app.workspace import Workspace
    from cocli.demo.town.business import TownSource
    from cocli.demo.town.truth import TrueBusiness, Truth
    from cocli.models.prospect import Prospect


@dataclass(frozen=True, slots=True)
class Score:
    """`strangers` are prospects that no business of the plan is, `confused` those that are several."""

    planned: int
    found: int
    """Businesses of the plan that are one prospect each."""
    missing: tuple[str, ...]
    twice: tuple[str, ...]
    strangers: tuple[str, ...]
    confused: tuple[str, ...]
    right: int
    """E-mails of the truth that were found for their business: branches that share one count each."""
    addresses: int
    """Different ones of them."""
    true_addresses: int
    """Different ones of the truth."""
    missed: tuple[str, ...]
    wrong: tuple[str, ...]

    @property
    def businesses_recall(self) -> float:
        return self.found / self.planned

    @property
    def email_recall(self) -> float:
        return self.right / max(self.right + len(self.missed), 1)

    @property
    def email_precision(self) -> float:
        return self.right / max(self.right + len(self.wrong), 1)

    @property
    def perfect(self) -> bool:
        faults = (self.missing, self.twice, self.strangers, self.confused, self.missed, self.wrong)
        return not any(faults)


def businesses_of(workspace: Workspace, campaign: str) -> list[Prospect]:
    """The prospects of a campaign, each business once."""
    indexes = campaign_indexes(workspace, campaign)
    reader = open_reader(indexes.open(indexes.ref("prospects")), fresh=True)
    return [prospect for prospect in reader.scan() if prospect.merged_into is None]


def score_of(
    prospects: Iterable[Prospect], truth: Truth, source: TownSource, phrases: Sequence[str] | None = None
) -> Score:
    """Compare. A prospect is the business whose id in the source it names. Without phrases, all were searched for."""
    wanted_phrases = truth.phrases if phrases is None else phrases
    planned = {business.number: business for business in truth.planned(source) if business.phrase in wanted_phrases}
    owners = {
        listing_id: number for number, business in planned.items() for listing_id in business.listings[source].ids
    }
    seen: Counter[int] = Counter()
    strangers, confused, wrong = list[str](), list[str](), list[str]()
    found: set[tuple[int, str]] = set()
    for prospect in prospects:
        numbers = {owners[listing_id] for listing_id in _ids(prospect) if listing_id in owners}
        seen.update(numbers)
        if not numbers:
            strangers.append(prospect.name)
        elif len(numbers) > 1:
            confused.append(prospect.name)
        for number in numbers:
            true = _emails(planned[number], source)
            had = {email.lower() for email in prospect.all_emails}
            found |= {(number, email) for email in had & true}
            wrong += [f"{prospect.name}: {email}" for email in sorted(had - true)]
    wanted = {(number, email) for number, business in planned.items() for email in _emails(business, source)}
    return Score(
        planned=len(planned),
        found=sum(count == 1 for count in seen.values()),
        missing=tuple(planned[number].name for number in sorted(planned.keys() - seen.keys())),
        twice=tuple(planned[number].name for number in sorted(seen) if seen[number] > 1),
        strangers=tuple(strangers),
        confused=tuple(confused),
        right=len(found),
        addresses=len({email for _, email in found}),
        true_addresses=len({email for _, email in wanted}),
        missed=tuple(f"{planned[number].name}: {email}" for number, email in sorted(wanted - found)),
        wrong=tuple(wrong),
    )


def _ids(prospect: Prospect) -> set[str]:
    ids = {source_id.partition(":")[2] for source_id in prospect.source_ids}
    return ids | ({prospect.place_id} if prospect.place_id else set())


def _emails(business: TrueBusiness, source: TownSource) -> set[str]:
    return {email.address.lower() for email in business.emails_by(source)}
