"""How often matching says the same as the labels: by the way of workers, who settle afterwards."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from benchmarks.contacts.pairs.pairs import LabelledPair
from benchmarks.contacts.scorer import Tally
from cocli.models.place import Place
from cocli.pipeline.merge.assignment import assign
from cocli.pipeline.merge.reconciliation import reconcile
from cocli.pipeline.merge.transformations import sighted_prospect


@dataclass(slots=True)
class PairFigures:
    """`right` are pairs rightly brought together, `missed` those left apart, `wrong` those wrongly brought together."""

    total: Tally = field(default_factory=Tally)
    families: dict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    languages: dict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    pairs: int = 0
    slips: list[str] = field(default_factory=list)


def meet(first: Place, second: Place) -> bool:
    """Whether two observations come to one prospect when a campaign is settled."""
    one, other = (sighted_prospect(place, "pairs") for place in (first, second))
    if one.company_hash == other.company_hash:
        return True
    return bool(reconcile([one, other]))


def meet_in_import(first: Place, second: Place) -> bool:
    """… when they are imported together."""
    hashes = {assignment.match.company_hash for assignment in assign([first, second], [])}
    return len(hashes) == 1


def score_pairs(pairs: Iterable[LabelledPair]) -> PairFigures:
    figures = PairFigures()
    for pair in pairs:
        figures.pairs += 1
        said = meet(pair.first, pair.second)
        for tally in (figures.total, figures.families[pair.family], figures.languages[pair.language]):
            tally.right += pair.same and said
            tally.missed += pair.same and not said
            tally.wrong += said and not pair.same
        if said != pair.same:
            what = "missed" if pair.same else "wrong"
            figures.slips.append(f"{pair.name}: {pair.family}: {what}: {pair.first.name} | {pair.second.name}")
    return figures
