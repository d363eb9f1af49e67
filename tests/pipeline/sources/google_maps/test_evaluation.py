"""`cocli-eval maps FOLDER`: its arithmetic on a folder with known mistakes, and the figures on real pages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks._maps_pages import Business, business, card, details_answer, list_page, message, search_answer, state_of
from cocli.cli.evaluation import main
from cocli.pipeline.sources.google_maps.evaluation import evaluate


def label(one: Business, **changes: Any) -> dict[str, Any]:
    values = {
        "name": one.name,
        "place_id": one.place_id,
        "feature_id": one.feature_id,
        "lat": one.lat,
        "lng": one.lon,
        "rating": 4.5,
        "reviews": 1234,
        "category": one.category,
        "address_short": one.address,
        "phone": one.phone,
        "website": one.website,
        "sponsored": one.sponsored,
    }
    return values | changes


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for kind in ("lists", "details", "negative"):
        (tmp_path / kind).mkdir()
    shown = [business(1), business(2), business(3)]
    (tmp_path / "lists" / "a.html").write_text(list_page([card(one) for one in shown]), "utf-8")
    (tmp_path / "lists" / "b.json").write_bytes(search_answer([message(business(4))]))
    (tmp_path / "lists" / "c.html").write_text(list_page([], state=state_of(search_answer([message(business(6))]))))
    (tmp_path / "details" / "d.json").write_bytes(details_answer(message(business(5))))
    (tmp_path / "negative" / "e.html").write_text(list_page([]), "utf-8")
    (tmp_path / "negative" / "unlabelled.html").write_text("x", "utf-8")
    lists = [
        {
            "file": "a.html",
            "feature_ids": [one.feature_id for one in shown[:2]] + [business(9).feature_id],
            "entries": [label(shown[0]), label(shown[1], phone=None, rating=3.0), label(business(9))],
        },
        {"file": "b.json", "feature_ids": [business(4).feature_id], "entries": [label(business(4))]},
        {"file": "c.html", "init_state": [label(business(6))]},
        {"file": "gone.html"},
    ]
    (tmp_path / "truth_lists.json").write_text(json.dumps(lists))
    (tmp_path / "truth_details.json").write_text(json.dumps([{"file": "d.json", **label(business(5))}]))
    (tmp_path / "truth_negative.json").write_text(json.dumps([{"file": "e.html"}]))
    return tmp_path


def test_right_wrong_invented_and_missed(folder: Path) -> None:
    report = evaluate(folder)
    fields = report.scores["lists"].fields
    assert (fields["places"].right, fields["places"].invented, fields["places"].missed) == (4, 1, 1)
    assert (fields["phone"].right, fields["phone"].invented, fields["phone"].missed) == (3, 1, 1)
    assert (fields["rating"].right, fields["rating"].wrong, fields["rating"].missed) == (3, 1, 1)
    assert (fields["phone"].precision, fields["phone"].recall) == (3 / 4, 3 / 4)
    assert report.scores["details"].fields["address"].right == 1
    assert report.scores["negative"].fields["places"].silent == 1
    assert report.problems == ["lists/gone.html has labels and is not there", "negative/unlabelled.html has no labels"]
    assert report.invented == 2


def test_the_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["maps", str(folder)]) == 1, "something was invented"
    shown = capsys.readouterr().out
    assert "invented: a.html" in shown
    assert "lists: 3 pages, 5 places" in shown
    assert main(["maps", str(folder), "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["kinds"]["lists"]["fields"]["phone"]["invented"] == 1
    assert data["verdicts"]["negative/e.html"] == "shell"


def test_the_command_says_what_it_needs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "usage: cocli-eval" in capsys.readouterr().out
    assert main(["places"]) == 2
    assert "no kind called 'places'" in capsys.readouterr().err
    assert main(["maps", str(tmp_path)]) == 2
    assert "holds no labels" in capsys.readouterr().err
    assert main(["maps", str(tmp_path), "--json"]) == 2
    assert json.loads(capsys.readouterr().err)["error"]["code"] == "usage"
    (tmp_path / "truth_lists.json").write_text("{")
    assert main(["maps", str(tmp_path)]) == 2
    assert "is not JSON" in capsys.readouterr().err


def test_real_pages(captures: Path) -> None:
    report = evaluate(captures / "maps")
    assert report.invented == 0
    for kind in ("lists", "details"):
        for name, tally in report.scores[kind].fields.items():
            least = 1.0 if name in ("places", "place_id", "feature_id", "name", "coordinates") else 0.98
            assert tally.precision is not None, (kind, name)
            assert tally.precision >= least, (kind, name, tally.examples)
            assert tally.recall is not None, (kind, name)
            assert tally.recall >= least, (kind, name, tally.examples)
    kinds = {name: kind for name, kind in report.verdicts.items() if name.startswith("negative/")}
    assert set(kinds.values()) <= {"shell", "area", "error"}, kinds


def test_the_benchmark_reads_the_same_with_both_parsers() -> None:
    pytest.importorskip("bs4", reason="BeautifulSoup is installed with the benchmarks")
    from benchmarks.places_parsing import _check, _document, _made_up

    _check([_document(page) for page in _made_up()])
