"""Files of other programs: how many of their fields arrive, and how many of those that arrive are right.

`imports.fields_recall`: of the values that the files hold, those that the observation of their row has.
`imports.fields_precision`: of the values that observations have, those that the file says of that business.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from benchmarks._import_files import EVERYTHING, Firm, ImportCase, cases
from benchmarks.harness import Bench
from cocli.app.sources.imports import ImportOptions, imported_list
from cocli.errors import CocliError
from cocli.pipeline.sources.imports.observation import ImportedPlace

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


@dataclass
class CaseScore:
    """What of one file arrived."""

    expected: int = 0
    right: int = 0
    given: int = 0
    given_right: int = 0
    wrong: dict[str, Any] = field(default_factory=dict)
    """Field → what it is and what it should be, of the first business where it is not."""
    error: str | None = None


def main(bench: Bench) -> None:
    started = time.process_time()
    scores = {case.name: score_case(case) for case in cases()}
    rows = sum(len(case.firms) for case in cases())
    spent = time.process_time() - started
    for name, score in scores.items():
        if score.right < score.expected or score.given_right < score.given:
            bench.note(f"{name}: {score.right} of {score.expected}; {score.error or score.wrong}")
    expected = sum(score.expected for score in scores.values())
    given = sum(score.given for score in scores.values())
    conditions = f"{len(scores)} made-up files of known programs, {rows} rows, {spent:.1f} s"
    recall = sum(score.right for score in scores.values()) / expected
    precision = sum(score.given_right for score in scores.values()) / given
    bench.measure("imports.fields_recall", recall, conditions=conditions)
    bench.measure("imports.fields_precision", precision, conditions=conditions)


def score_case(case: ImportCase) -> CaseScore:
    """Read a file as `cocli import` does, and compare each row with what it says."""
    score = CaseScore(expected=len(case.fields) * len(case.firms))
    try:
        brought = imported_list(case.data, ImportOptions(case.file), at=NOON)
        observed = [brought.observer.observe(row) for row in brought.table.rows]
    except CocliError as error:
        score.error = error.message
        return score
    by_name = {place.place.name: place for place in observed if isinstance(place, ImportedPlace)}
    for firm in case.firms:
        found = by_name.get(firm.name)
        said = said_by(found) if found else {}
        for name in EVERYTHING:
            _compare(score, name, said.get(name), _known(firm, name), is_expected=name in case.fields)
    return score


def _compare(score: CaseScore, name: str, value: Any, known: Any, *, is_expected: bool) -> None:
    is_right = value == known or (name == "category" and known in (value or ()))
    if name == "website" and value:
        is_right = _bare(value) == _bare(known)
    if name == "status" and value is None and known == "operational":
        is_right = True  # nobody says of a business that it is open, unless it is closed otherwise
    score.right += is_expected and is_right
    if value not in (None, ()):
        score.given += 1
        score.given_right += is_right
    if not is_right and (is_expected or value not in (None, ())):
        score.wrong.setdefault(name, (value, known))


def _bare(address: str) -> str:
    return address.partition("://")[2].rstrip("/").removeprefix("www.") or address.removeprefix("www.")


def _known(firm: Firm, name: str) -> Any:
    return getattr(firm, name)


def said_by(found: ImportedPlace) -> dict[str, Any]:
    """What an observation says, by the names that a firm has for it."""
    place = found.place
    return {
        "name": place.name,
        "e164": place.phone_e164,
        "email": found.emails[0] if found.emails else None,
        "website": place.website,
        "street": place.street,
        "city": place.city,
        "postcode": place.postcode,
        "country": place.country,
        "lat": place.lat,
        "lon": place.lon,
        "category": place.category_labels,
        "rating": place.rating,
        "reviews": place.review_count,
        "place_id": place.place_id,
        "status": place.business_status,
    }
