"""The generated pages of benchmarks/contacts: the same each time, with their truth on them, scored by any program."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.contacts.answer import Answer, BadAnswer, answer_of
from benchmarks.contacts.calibration import calibration_error, reliability
from benchmarks.contacts.figures import figures_of
from benchmarks.contacts.generator.build import cases, page_of, write
from benchmarks.contacts.generator.words import HALVES, words_of
from benchmarks.contacts.ours import ours
from benchmarks.contacts.programs import program
from benchmarks.contacts.truth import Labelled, read_truth

PLAIN = ("text", "link", "footer", "contact-word", "form", "team", "credit", "element")


def test_there_are_enough_pages_in_enough_languages() -> None:
    every = [case for half in HALVES for case in cases(half)]
    assert len(every) >= 400
    assert len({case.name for case in every}) == len(every)
    assert len({case.words.language for case in every}) >= 25
    assert len(cases("apart")) * 2 >= len(every)


def test_a_half_comes_out_the_same_and_shares_no_words(tmp_path: Path) -> None:
    first = [page_of(case) for case in cases("open")]
    assert first == [page_of(case) for case in cases("open")]
    for language, words in words_of("open").items():
        for topic in ("firms", "credit", "contact", "mailboxes", "parent"):
            shared = {*words.every(topic)} & {*words_of("apart")[language].every(topic)}
            assert not shared, (language, topic, shared)


@pytest.mark.parametrize("half", HALVES)
def test_what_is_true_of_a_page_stands_on_it(half: str) -> None:
    for case in cases("open" if half == "open" else "apart"):
        html, row = page_of(case)
        assert row["licence"] == "CC0-1.0"
        assert row["url"].startswith("https://www.")
        for text in case.ingredients:
            kind, _, where = text.partition("@")
            if kind.startswith("email:") and where in PLAIN:
                every = [value for name, values in row.items() if name.startswith("emails") for value in values]
                assert any(value in html for value in every), (case.name, text)


def labelled(folder: Path, html: str) -> Labelled:
    (folder / "pages").mkdir(exist_ok=True)
    (folder / "pages" / "one.html").write_text(html, "utf-8")
    row = (
        '{"file": "pages/one.html", "url": "https://www.tannhof.de/", "country": "DE", "emails": ["info@tannhof.de"], '
        '"emails_thirdparty": ["studio@pixelhof.de"], "emails_reject": ["name@example.com"], '
        '"addresses": [{"street": "Lange Gasse 14", "postcode": "07743", "city": "Jena"}]}'
    )
    (folder / "truth.jsonl").write_text(row + "\n", "utf-8")
    return read_truth(folder)[0]


def test_what_is_delivered_is_counted_apart_from_what_is_found(tmp_path: Path) -> None:
    page = labelled(tmp_path, "<p>x</p>")
    both = frozenset({"info@tannhof.de", "studio@pixelhof.de"})
    good = figures_of([(page, Answer(both, frozenset({"info@tannhof.de"}), "info@tannhof.de"))])
    assert (good.found.f1, good.delivered.f1, good.primary_accuracy, good.addresses.recall) == (1.0, 1.0, 1.0, 0.0)
    bad = figures_of([(page, Answer(both, both, "studio@pixelhof.de", addresses=("Lange Gasse 14, 07743 Jena",)))])
    assert (bad.found.f1, bad.delivered.precision, bad.primary_accuracy) == (1.0, 0.5, 0.0)
    assert bad.addresses.recall == 1.0
    junk = figures_of([(page, Answer(frozenset({"name@example.com"}), frozenset()))])
    assert (junk.junk, junk.found.recall, junk.found.precision) == (1, 0.0, 0.0)


def test_ours_goes_through_the_records(tmp_path: Path) -> None:
    page = labelled(
        tmp_path, "<h1>Tannhof</h1><a href='mailto:info@tannhof.de'>info@tannhof.de</a>" + "<p>Text.</p>" * 9
    )
    answer = ours(page, page.path.read_bytes())
    assert answer.found == answer.delivered == {"info@tannhof.de"}
    assert answer.primary == "info@tannhof.de"


def test_confidences_are_held_against_what_is_right() -> None:
    assert calibration_error([]) is None
    sure = [(0.9, True)] * 9 + [(0.9, False)]
    assert calibration_error(sure) == pytest.approx(0.0)
    assert calibration_error([(0.9, False)] * 10) == pytest.approx(0.9)
    assert calibration_error([(1.0, True), (0.0, True)]) == pytest.approx(0.5)
    assert [(row.low, row.count, row.right) for row in reliability(sure)] == [(0.9, 10, 0.9)]


PROGRAM = """
import json, os, re, sys
html = sys.stdin.read()
assert sys.argv[-1] == os.environ["CONTACTS_URL"] == "https://www.tannhof.de/", sys.argv
own = [{"value": v, "own": "tannhof" in v, "confidence": 0.5} for v in re.findall(r"[a-z]+@[a-z.]+", html)]
print(json.dumps({"emails": own, "primary": own[0]["value"], "phones": ["03641 829174"]}))
"""
LINES = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({"emails": [asked["html"].split()[0]]}), flush=True)
"""


def test_any_program_takes_part(tmp_path: Path) -> None:
    page = labelled(tmp_path, "info@tannhof.de studio@pixelhof.de")
    (tmp_path / "one.py").write_text(PROGRAM, "utf-8")
    (tmp_path / "lines.py").write_text(LINES, "utf-8")
    with program(f"{sys.executable} {tmp_path / 'one.py'}", stream=False) as ask:
        answer = ask(page, page.path.read_bytes())
    assert answer.found == {"info@tannhof.de", "studio@pixelhof.de"}
    assert answer.delivered == {"info@tannhof.de"}
    assert answer.phones == {"+493641829174"}
    assert set(answer.confidences.values()) == {0.5}
    with program(f"{sys.executable} {tmp_path / 'lines.py'}", stream=True) as ask:
        assert [ask(page, page.path.read_bytes()).found for _ in range(3)] == [{"info@tannhof.de"}] * 3
    with pytest.raises(BadAnswer, match="no JSON"):
        answer_of("Traceback", page)


def test_a_half_is_written_as_a_folder(tmp_path: Path) -> None:
    assert write("open", tmp_path) == len(read_truth(tmp_path)) == len(list(tmp_path.glob("pages/*.html")))
