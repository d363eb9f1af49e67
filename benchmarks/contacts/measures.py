"""The figures that are promised, on the half kept apart and on captured pages, with the peers that are installed."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from random import Random

from benchmarks._enrich_pages import padded
from benchmarks.contacts.answer import Answer
from benchmarks.contacts.calibration import calibration_error
from benchmarks.contacts.contestants import contestants
from benchmarks.contacts.figures import Figures, figures_of, grouped
from benchmarks.contacts.generator.build import write
from benchmarks.contacts.generator.words import Half
from benchmarks.contacts.ours import ours
from benchmarks.contacts.pairs.fresh import fresh_pairs
from benchmarks.contacts.pairs.pairs import pairs
from benchmarks.contacts.pairs.score import PairFigures, score_pairs
from benchmarks.contacts.pairs.town import town_pairs
from benchmarks.contacts.tables import figures_table, pairs_table, reliability_table
from benchmarks.contacts.truth import Labelled, read_truth
from benchmarks.harness import Bench
from cocli.pipeline.websites import read_page

HERE = Path(__file__).parent
CAPTURES = HERE.parents[2] / "shared" / "captures" / "sites"
Answers = list[tuple[Labelled, Answer]]


def measure(bench: Bench) -> None:
    with tempfile.TemporaryDirectory() as folder:
        made = _pages("apart", Path(folder))
        captured = _captured(bench)
        apart = _answers(bench, "the half kept apart", made)
        real = _answers(bench, "captured pages", captured)
        _tables(bench, apart)
        _quality(bench, apart, real)
        if "peers=0" not in bench.arguments:
            _peers(bench, made, figures_of(apart))
    _merging(bench)
    _speed(bench)


def _pages(half: Half, folder: Path) -> list[Labelled]:
    write(half, folder)
    return read_truth(folder)


def _captured(bench: Bench) -> list[Labelled]:
    """Pages of real companies, where they are: they are no part of the repository."""
    given = [argument.partition("=")[2] for argument in bench.arguments if argument.startswith("captures=")]
    folder = Path(given[0]) if given else CAPTURES
    return read_truth(folder) if (folder / "truth.jsonl").is_file() else []


def _answers(bench: Bench, name: str, pages: list[Labelled]) -> Answers:
    bench.note(f"reading {len(pages)} pages: {name}")
    return [(page, ours(page, page.path.read_bytes())) for page in pages]


def _tables(bench: Bench, apart: Answers) -> None:
    print(figures_table(grouped(apart, lambda page: page.family), "class"), end="\n\n")
    print(figures_table(grouped(apart, lambda page: page.language), "language"), end="\n\n")
    judged = figures_of(apart).judged
    if judged:
        print(reliability_table(judged), end="\n\n")
    else:
        bench.note("no address has a confidence: there is no reliability table, and calibration_error is null")


def _quality(bench: Bench, apart: Answers, real: Answers) -> None:
    made, captured = figures_of(apart), figures_of(real)
    both = figures_of([*apart, *real])
    where = f"{made.pages} made-up and {captured.pages} captured pages"
    bench.measure("email_found_f1", both.found.f1, conditions=where)
    bench.measure(
        "email_delivered_f1", min(made.delivered.f1, captured.delivered.f1), conditions="the worse of the two"
    )
    bench.measure("email_delivered_f1_made", made.delivered.f1, conditions=f"{made.pages} pages of the half apart")
    if captured.pages:
        bench.measure("email_delivered_f1_captured", captured.delivered.f1, conditions=f"{captured.pages} pages")
    bench.measure("primary_accuracy", both.primary_accuracy, conditions=f"{both.primary_asked} pages with an address")
    bench.measure("phone_f1", both.phones.f1, conditions=where)
    bench.measure("social_f1", both.socials.f1, conditions=where)
    bench.measure("address_recall", made.addresses.recall, conditions=f"{made.pages} pages of the half apart")
    bench.measure("hours_recall", made.hours.recall, conditions="hours of days")
    bench.measure("people_recall", made.people.recall, conditions="people with their own address")
    bench.measure("junk", both.junk, conditions="values that must not be found")
    error = calibration_error(both.judged)
    if error is None:
        bench.unmeasured.append("calibration_error")
    else:
        bench.measure("calibration_error", error, conditions=f"{len(both.judged)} addresses, ten bins")


def _peers(bench: Bench, pages: list[Labelled], mine: Figures) -> None:
    rows = {"cocli": mine}
    for contestant in contestants():
        bench.note(f"{contestant.name} on the same pages")
        with contestant.opened() as ask:
            rows[contestant.name] = figures_of([(page, ask(page, page.path.read_bytes())) for page in pages])
    print(figures_table(rows, "program"), end="\n\n")


def _merging(bench: Bench) -> None:
    bench.note("matching pairs")
    apart, town = score_pairs(pairs("apart")), score_pairs(town_pairs())
    every = score_pairs([*pairs("open"), *pairs("apart"), *town_pairs()])
    fresh, held = score_pairs(fresh_pairs("fresh")), score_pairs(fresh_pairs("held"))
    rows = {"half apart": apart, "demo town": town, "all": every, "fresh": fresh, "held back": held}
    print(pairs_table(rows), end="\n\n")
    _measure_pairs(bench, "merge.precision", every.total.precision, every)
    _measure_pairs(bench, "merge.recall", every.total.recall, every)
    _measure_pairs(bench, "merge.precision_apart", apart.total.precision, apart)
    _measure_pairs(bench, "merge.recall_apart", apart.total.recall, apart)
    _measure_pairs(bench, "merge.precision_held", held.total.precision, held)
    _measure_pairs(bench, "merge.recall_held", held.total.recall, held)


def _measure_pairs(bench: Bench, name: str, value: float, figures: PairFigures) -> None:
    bench.measure(name, value, conditions=f"{figures.pairs} pairs")


def _speed(bench: Bench) -> None:
    """As `make bench NAME=enrich` measures it: all extractors on pages of ordinary size, processor time of one core."""
    rounds = bench.size("rounds", 3)
    pages = read_truth(HERE)
    bodies = [(page, padded(page.path.read_bytes())) for page in pages]
    Random(1).shuffle(bodies)
    bench.note(f"{rounds} rounds over {len(bodies)} pages")
    rates = []
    for _ in range(rounds + 1):  # the first round loads tables
        started = time.process_time()
        for page, body in bodies:
            read_page(body, page.url, page.country)
        rates.append(len(bodies) / (time.process_time() - started))
    bench.measure("pages_s_core", max(rates[1:]), unit="pages/s", conditions="all extractors, padded hand-made pages")
