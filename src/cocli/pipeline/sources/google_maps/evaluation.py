"""Precision and recall of the parsers over a folder of captures with labels: `python -m … FOLDER [--json]`.

The folder has `lists/`, `details/` and `negative/`, beside them `truth_lists.json`, `truth_details.json` and
`truth_negative.json`; each is optional. docs/google-maps.md describes the labels. Pages are HTML, or JSON answers.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cocli.errors import CocliError, UsageError
from cocli.keys.identities import is_place_id
from cocli.keys.tile import Tile
from cocli.pipeline.sources.google_maps.documents import details_document, list_document
from cocli.pipeline.sources.google_maps.parser.links import feature_id, read_address
from cocli.pipeline.sources.google_maps.parser.parse import MapsReading, read
from cocli.pipeline.sources.google_maps.parser.sighting import identify
from cocli.pipeline.sources.google_maps.parser.tree import saved_from
from cocli.pipeline.sources.google_maps.score import FIELDS, MORE_FIELDS, FieldTally, Scores, Truth, compare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from cocli.models.place import Place

KINDS = ("lists", "details", "negative")
_WHEN = datetime(2026, 1, 1, tzinfo=UTC)
"""The time of fetching is part of a document; here it means nothing."""


@dataclass(slots=True)
class EvaluationReport:
    """What was measured."""

    scores: dict[str, Scores] = field(default_factory=dict)
    verdicts: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    """Labels without a page, and pages without a label."""

    @property
    def invented(self) -> int:
        """Values that a page does not show, and places where there are none."""
        return sum(tally.invented for scores in self.scores.values() for tally in scores.fields.values())

    def as_dict(self) -> dict[str, object]:
        kinds = {kind: scores.as_dict() for kind, scores in self.scores.items()}
        return {"kinds": kinds, "verdicts": self.verdicts, "problems": self.problems, "invented": self.invented}


def evaluate(folder: Path, change: Callable[[bytes], bytes] = bytes) -> EvaluationReport:
    """Parse every labelled page of a folder and compare. `change`: what is done to each page before it is read."""
    if not any((folder / f"truth_{kind}.json").is_file() for kind in KINDS):
        hint = "Give the folder that holds truth_lists.json, truth_details.json or truth_negative.json."
        raise UsageError(reason=f"{folder} holds no labels", hint=hint)
    report = EvaluationReport()
    for kind in KINDS:
        report.scores[kind] = Scores(kind)
        for truth, path in _labelled(folder, kind, report):
            reading = _reading(path, truth, change, is_single=kind == "details")
            report.verdicts[f"{kind}/{path.name}"] = reading.verdict.kind
            report.scores[kind].pages += 1
            report.scores[kind].places += len(reading.places)
            _SCORERS[kind](report.scores[kind], reading, truth, path.name)
    return report


def _labelled(folder: Path, kind: str, report: EvaluationReport) -> Iterator[tuple[Truth, Path]]:
    labels = folder / f"truth_{kind}.json"
    if not labels.is_file():
        return
    try:
        entries = json.loads(labels.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UsageError(reason=f"{labels} is not JSON: {error}") from error
    named: set[str] = set()
    for truth in entries:
        path = folder / kind / str(truth.get("file"))
        named.add(path.name)
        if path.is_file():
            yield truth, path
        else:
            report.problems.append(f"{kind}/{path.name} has labels and is not there")
    for path in sorted((folder / kind).glob("*")):
        if path.name not in named and path.suffix in (".html", ".json"):
            report.problems.append(f"{kind}/{path.name} has no labels")


def _reading(path: Path, truth: Truth, change: Callable[[bytes], bytes], *, is_single: bool) -> MapsReading:
    """As a worker reads it: the page of one place is asked for by its id, a list by a phrase."""
    body = path.read_bytes()
    is_page = path.suffix != ".json"
    body = change(body) if is_page else body
    url = str(truth.get("url") or "")
    place_id = _asked_for(url or (saved_from(body) if is_page else ""), truth) if is_single else None
    answers = () if is_page else (body,)
    html = body if is_page else None
    if place_id is not None:
        document = details_document(
            account="evaluation", place_id=place_id, url=url, html=html, answers=answers, fetched_at=_WHEN
        )
    else:
        document = list_document(
            account="evaluation",
            tile=Tile(0, 0),
            phrase="evaluation",
            url=url,
            html=html,
            answers=answers,
            fetched_at=_WHEN,
        )
    return read(document)


def _asked_for(url: str, truth: Truth) -> str | None:
    """The place that a page was opened for: by its address, else by its label."""
    link = read_address(url)
    found = identify(place_id=link.place_id, feature_id=link.feature_id)
    known = found.place_id if found else truth.get("place_id")
    return known if isinstance(known, str) and is_place_id(known) else None


# --- one page


def _score_list(scores: Scores, reading: MapsReading, truth: Truth, name: str) -> None:
    places = {place.feature_id: place for place in reading.places if place.feature_id}
    entries: dict[str, list[Truth]] = {}
    for entry in [*truth.get("entries", ()), *_embedded(truth)]:
        entries.setdefault(feature_id(entry.get("feature_id")) or "", []).append(entry)
    wanted = _wanted_ids(truth)
    for wanted_id in wanted or entries:
        scores.note("places", "right" if wanted_id in places else "missed", f"{name} {wanted_id}")
    for extra_id in places.keys() - wanted - entries.keys() if wanted else ():
        scores.note("places", "invented", f"{name} {extra_id}")
    for key, labels in entries.items():
        compare(scores, places.get(key), labels, f"{name} {labels[0].get('name')}")


def _embedded(truth: Truth) -> list[Truth]:
    """Places of the page's embedded state, where they are labelled one by one."""
    found = truth.get("init_state")
    entries = found.get("entries", ()) if isinstance(found, dict) else found
    if isinstance(entries, (list, tuple)):
        return [entry for entry in entries if isinstance(entry, dict)]
    return []


def _wanted_ids(truth: Truth) -> set[str]:
    found = truth.get("init_state")
    embedded = found.get("feature_ids", ()) if isinstance(found, dict) else found
    listed = [*truth.get("feature_ids", ()), *(embedded if isinstance(embedded, (list, tuple)) else ())]
    return {known for link in listed if (known := feature_id(link))}


def _score_details(scores: Scores, reading: MapsReading, truth: Truth, name: str) -> None:
    place: Place | None = reading.places[0] if reading.places else None
    scores.note("places", "right" if place else "missed", name)
    for _ in reading.places[1:]:
        scores.note("places", "invented", name)
    compare(scores, place, [truth], name)


def _score_negative(scores: Scores, reading: MapsReading, _truth: Truth, name: str) -> None:
    if not reading.places:
        scores.note("places", "silent", name)
    for place in reading.places:
        scores.note("places", "invented", f"{name} {place.name}")


_SCORERS = {"lists": _score_list, "details": _score_details, "negative": _score_negative}


# --- the table


def table(report: EvaluationReport) -> str:
    """The report for people."""
    lines: list[str] = []
    for kind, scores in report.scores.items():
        lines += [f"{kind}: {scores.pages} pages, {scores.places} places", _HEAD]
        order = ("places", *FIELDS, *MORE_FIELDS)
        lines += [_line(name, scores.fields[name]) for name in order if name in scores.fields]
        lines.append("")
    lines.append("verdicts: " + ", ".join(f"{count} {kind}" for kind, count in _counted(report.verdicts.values())))
    lines += report.problems
    examples = [
        f"{kind} {name}: {example}"
        for kind, scores in report.scores.items()
        for name, tally in scores.fields.items()
        for example in tally.examples
    ]
    return "\n".join([*lines, *(["", "not right:"] if examples else []), *examples])


_HEAD = (
    f"  {'field':<14}{'precision':>10}{'recall':>10}{'right':>8}{'wrong':>8}{'invented':>10}{'missed':>8}{'silent':>8}"
)


def _line(name: str, tally: FieldTally) -> str:
    share = [f"{100 * value:.1f} %" if value is not None else "–" for value in (tally.precision, tally.recall)]
    counts = f"{tally.right:>8}{tally.wrong:>8}{tally.invented:>10}{tally.missed:>8}{tally.silent:>8}"
    return f"  {name:<14}{share[0]:>10}{share[1]:>10}{counts}"


def _counted(kinds: Iterable[str]) -> list[tuple[str, int]]:
    counts: dict[str, int] = {}
    for kind in kinds:
        counts[kind] = counts.get(kind, 0) + 1
    return sorted(counts.items())


def run(arguments: Sequence[str] | None = None) -> tuple[str, int]:
    """What to print, and the exit code: 1 where a value or a place was invented."""
    parser = argparse.ArgumentParser(prog="cocli-eval maps", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="the folder with lists/, details/, negative/ and their labels")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    options = parser.parse_args(arguments)
    report = evaluate(options.folder)
    data: dict[str, Any] = report.as_dict()
    return (json.dumps(data, ensure_ascii=False) if options.json else table(report)), int(report.invented > 0)


def main() -> int:
    try:
        text, code = run()
    except CocliError as error:
        print(f"error: {error.message}\nhint: {error.hint}", file=sys.stderr)
        return error.exit_code
    print(text)
    return code


if __name__ == "__main__":
    sys.exit(main())
