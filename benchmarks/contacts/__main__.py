"""`python -m benchmarks.contacts [FOLDER]`: how well contacts are found on pages whose contacts are known."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.contacts.answer import Answer
from benchmarks.contacts.calibration import calibration_error
from benchmarks.contacts.figures import Ask, Figures, figures_of, grouped
from benchmarks.contacts.generator.build import write
from benchmarks.contacts.generator.words import HALVES
from benchmarks.contacts.ours import ours
from benchmarks.contacts.peers import PEERS
from benchmarks.contacts.programs import program
from benchmarks.contacts.scorer import Score, score
from benchmarks.contacts.tables import aligned, figures_table, reliability_table
from benchmarks.contacts.truth import KINDS, Labelled, read_truth

HERE = Path(__file__).parent
Answers = list[tuple[Labelled, Answer]]


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    if options.write:
        print(f"{write(options.half or 'open', options.write)} pages in {options.write}")
        return 0
    with _folder(options) as folder:
        pages = [page for page in read_truth(folder) if not options.only or options.only in page.path.name]
        if options.half or options.program or options.delivered:
            return _whole(options, pages)
        return _found_only(options, pages)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.contacts", description="Score contacts found on pages.")
    parser.add_argument("folder", nargs="?", type=Path, default=HERE, help="a folder with truth.jsonl (default: ours)")
    parser.add_argument("--half", choices=HALVES, help="generated pages; apart is not for those who write extractors")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="only write the pages of a half (default: open)")
    parser.add_argument("--program", metavar="COMMAND", help="score a program that reads HTML and prints JSON")
    parser.add_argument("--stream", action="store_true", help="the program reads and prints a line per page")
    parser.add_argument("--delivered", action="store_true", help="all figures for FOLDER, also what is delivered")
    parser.add_argument("--no-peers", action="store_true", help="only our own extractors")
    parser.add_argument("--slips", action="store_true", help="say on stderr what was missed and what was wrong")
    parser.add_argument("--only", help="only pages whose file name contains this text")
    return parser


@contextmanager
def _folder(options: argparse.Namespace) -> Iterator[Path]:
    if options.half is None:
        yield options.folder
        return
    with tempfile.TemporaryDirectory() as folder:
        write(options.half, Path(folder))
        yield Path(folder)


def answers_of(pages: list[Labelled], ask: Ask) -> Answers:
    """A page that is not there is an error, not a miss."""
    return [(page, ask(page, page.path.read_bytes())) for page in pages]


def _whole(options: argparse.Namespace, pages: list[Labelled]) -> int:
    if options.program:
        with program(options.program, stream=options.stream) as ask:
            answers = answers_of(pages, ask)
    else:
        answers = answers_of(pages, ours)
    total = figures_of(answers)
    if options.slips and options.half != "apart":
        print(*total.slips, sep="\n", file=sys.stderr)
    print(figures_table(grouped(answers, lambda page: page.family), "class"), end="\n\n")
    print(figures_table(grouped(answers, lambda page: page.language), "language"), end="\n\n")
    if total.judged:
        print(reliability_table(total.judged), end="\n\n")
    print(figures_table({"all": total}, ""))
    print(json.dumps(keys_of(total)))
    return 0


def keys_of(total: Figures) -> dict[str, float | int | None]:
    """The figures that are promised, by their names. `calibration_error` is null where nothing has a confidence."""
    error = calibration_error(total.judged)
    return {
        "pages": total.pages,
        "email_found_f1": round(total.found.f1, 4),
        "email_delivered_f1": round(total.delivered.f1, 4),
        "primary_accuracy": round(total.primary_accuracy, 4),
        "phone_f1": round(total.phones.f1, 4),
        "social_f1": round(total.socials.f1, 4),
        "address_recall": round(total.addresses.recall, 4),
        "hours_recall": round(total.hours.recall, 4),
        "people_recall": round(total.people.recall, 4),
        "junk": total.junk,
        "calibration_error": None if error is None else round(error, 4),
    }


def _found_only(options: argparse.Namespace, pages: list[Labelled]) -> int:
    """The pages made by hand: every form and every negative, ours beside the usual ways."""
    names = ["cocli"] if options.no_peers else list(PEERS)
    scores = {name: score(pages, PEERS[name], name_values=options.slips) for name in names}
    if options.slips:
        print(*scores["cocli"].slips, sep="\n", file=sys.stderr)
    print(table(scores))
    print(forms_table(scores["cocli"]))
    print(json.dumps({"pages": len(pages), **{name: as_dict(one) for name, one in scores.items()}}))
    return 0


def as_dict(one: Score) -> dict[str, object]:
    figures: dict[str, object] = {
        kind: {
            "precision": round(tally.precision, 4),
            "recall": round(tally.recall, 4),
            "f1": round(tally.f1, 4),
            "junk": tally.junk,
        }
        for kind, tally in one.tallies.items()
    }
    return {
        **figures,
        "forms_recovered": round(one.forms_recovered, 4),
        "negatives_reported": one.negatives_reported,
        "negatives": one.negatives_total,
    }


def table(scores: dict[str, Score]) -> str:
    rows: list[tuple[str, ...]] = [("", "kind", "precision", "recall", "F1", "right", "missed", "wrong", "junk")]
    for name, one in scores.items():
        for kind in KINDS:
            tally = one.tallies[kind]
            shares = (f"{share:.3f}" for share in (tally.precision, tally.recall, tally.f1))
            counts = (str(count) for count in (tally.right, tally.missed, tally.wrong, tally.junk))
            rows.append((name, kind, *shares, *counts))
    lines = [aligned(rows)]
    for name, one in scores.items():
        if one.forms_total or one.negatives_total:
            forms = f"{sum(one.forms.values())} of {sum(one.forms_total.values())} pages with a form recovered"
            lines.append(f"{name}: {forms}, {one.negatives_reported} of {one.negatives_total} negatives reported")
    return "\n".join(lines)


def forms_table(one: Score) -> str:
    rows: list[tuple[str, ...]] = [
        (form, f"{one.forms[form]} of {total}") for form, total in sorted(one.forms_total.items())
    ]
    return aligned([("form", "recovered"), *rows]) if rows else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
