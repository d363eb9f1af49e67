"""The search of the browser beside the search in Python: the same rows in the same order, whatever is asked."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, sync_playwright

import cocli.service.web
from cocli.app.web.prospects.fields import chosen_fields
from cocli.app.web.prospects.files import write_files
from cocli.app.web.prospects.matches import Matched, matched, matching, values_of
from cocli.app.web.prospects.tables import ProspectTable, table_of
from cocli.app.web.prospects.view import FACETS, SORTS, View
from cocli.pipeline.websites.fetch.browser import find_chromium
from tests.app.web.search_rows import made_table
from tests.kit.effort import effort
from tests.kit.range_server import RangeServer, range_server

STATIC = Path(cocli.service.web.__path__[0]) / "static"
_START = """(base) => new Promise((resolve, reject) => {
  const worker = new Worker('/assets/search-worker.js', {type: 'module'});
  const waiting = new Map();
  let last = 0;
  window.ask = (question) => new Promise((done) => {
    waiting.set(++last, done);
    worker.postMessage({id: last, ...question});
  });
  worker.onerror = (event) => reject(new Error(event.message));
  worker.onmessage = ({data}) => {
    const isWhole = data.event === 'progress' && data.loaded === data.rows;
    if (isWhole) window.ask({ask: 'search', view: {}, limit: 0}).then(() => resolve(window.opened));
    if (data.event === 'failed') reject(new Error(data.error));
    waiting.get(data.id)?.(data);
  };
  window.ask({ask: 'open', base}).then((answer) => {
    window.opened = answer;
    if (!answer.ok) reject(new Error(answer.error));
  });
})"""
_WORDS = (
    *("schafer", "SCHÄFER", "strasse", "pl", "l", "info@", "best", "217-555-0", "+1217555", "12175551", "01067", "<b>"),
    *(
        "62701-1234",
        "łodz",
        "lodz",
        "fine",
        "σοφος",
        "ΣΟΦΟΣ",
        "नम",
        "東",
        "izmir",
        "&",
        "24/7",
        "saint-denis",
        "o’neil",
    ),
    *("éclair", "eclair", "zur", "x2", "viii", "hot", "called", "0000000000000003", "nothing at all", "."),
)


@pytest.fixture(scope="module")
def browser_page() -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        yield browser.new_page()
        browser.close()


class Opened:
    """A table, searched in the browser and here."""

    def __init__(self, page: Page, server: RangeServer, table: ProspectTable, *, by_words: bool) -> None:
        self.page, self.table, self.by_words, self.server = page, table, by_words, server
        self.rows = [matched(row, table.names, number) for number, row in enumerate(table.rows)]
        page.goto(f"{server.address}/")
        self.about = page.evaluate(_START, f"{server.address}/data/")

    def ask(self, **question: Any) -> dict[str, Any]:
        answer: dict[str, Any] = self.page.evaluate("(question) => window.ask(question)", question)
        return answer

    def expected(self, view: View) -> list[Matched[int]]:
        return matching(self.rows, view, by_words=self.by_words)


def opened(page: Page, folder: Path, table: ProspectTable, *, by_words: bool) -> Iterator[Opened]:
    data = folder / "data"
    data.mkdir()
    write_files(table, "plumbers", str(data), most_lines=0 if by_words else 10**9)
    (folder / "index.html").write_text("<!doctype html><title>search</title>")
    with range_server({"/": folder, "/assets/": STATIC / "assets", "/data/": data}) as server:
        yield Opened(page, server, table, by_words=by_words)


@pytest.fixture(scope="module", params=["lines", "index"])
def search(
    request: pytest.FixtureRequest, browser_page: Page, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Opened]:
    folder = tmp_path_factory.mktemp("search")
    yield from opened(browser_page, folder, made_table(2_100), by_words=request.param == "index")


def browser_view(view: View) -> dict[str, Any]:
    plain: dict[str, Any] = {"q": view.q, "has": view.has, "lacks": view.lacks, "sort": view.sort, "desc": view.desc}
    return plain | {name: list(values) for name, values in view.facets.items()} | {"min_rating": view.min_rating}


def some_view(chance: random.Random, table: ProspectTable) -> View:
    row = table.cells(chance.choice(table.rows))
    texts = [*_WORDS, *row["name"].split(), row["email"], row["street"], row["phone"][3:9]]
    facets = {
        facet: tuple(dict.fromkeys(chance.choices(values, k=chance.randint(1, 2))))
        for facet in FACETS
        if chance.random() < 0.15 and (values := values_of(row, facet))
    }
    return View(
        q=" ".join(chance.choices(texts, k=chance.choice((0, 1, 1, 2)))),
        facets=facets,
        has=tuple(chance.sample(("email", "phone", "position", "website"), chance.choice((0, 0, 1, 2)))),
        lacks=tuple(chance.sample(("tags", "position", "email"), chance.choice((0, 0, 0, 1)))),
        min_rating=chance.choice((None, None, None, 3.5, 4)),
        sort=chance.choice(SORTS),
        desc=chance.random() < 0.3,
    )


def test_the_browser_finds_what_python_finds_in_the_same_order(search: Opened) -> None:
    chance = random.Random(20)
    views = [View(q=word) for word in _WORDS] + [some_view(chance, search.table) for _ in range(effort(40))]
    found = 0
    for view in views:
        assert View.of(_as_lists(view)) == view
        expected = search.expected(view)
        answer = search.ask(ask="search", view=browser_view(view), limit=30, facets=["city", "category"])
        assert answer["ok"], answer
        ids = [row["id"] for row in answer["rows"]]
        assert (answer["total"], ids) == (len(expected), [row.cells["id"] for row in expected[:30]]), view
        cities = dict(answer["facets"]["city"])
        assert cities == _counted(expected, "city"), view
        assert dict(answer["facets"]["category"]) == _counted(expected, "category"), view
        found += bool(expected)
    assert found > len(views) / 4, "questions that find nothing compare nothing"


# Their first letters are in no word's inside: then lines and an index find the same.
_APART = ("bao", "CEI", "düa", "fóe", "göü", "Hia", "ŁOA", "ßeo", "東aoe", "7eia", "0oio", "Ǆeu", "𝔗oa", "b", "ba")


@pytest.fixture(scope="module")
def both(browser_page: Page, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ProspectTable, Any]]:
    """One table, asked in both ways by two Workers."""
    chance, names = random.Random(7), chosen_fields()
    known = ("name", "city", "street", "tags")
    made = [
        [" ".join(chance.choices(_APART, k=chance.randint(1, 3))) if name in known else "" for name in names]
        for _ in range(300)
    ]
    for number, row in enumerate(made):
        row[names.index("id")] = "x" + "".join("aeiou"[number // 5**place % 5] for place in range(5))
    table, folder = table_of(names, made), tmp_path_factory.mktemp("both")
    (folder / "index.html").write_text("<!doctype html><title>both</title>")
    for way, most in (("lines", 10**9), ("index", 0)):
        (folder / way).mkdir()
        write_files(table, "plumbers", str(folder / way), most_lines=most)
    with range_server({"/": folder, "/assets/": STATIC / "assets"}) as server:
        new_page, asks = browser_page.context.browser.new_page, {}  # type: ignore[union-attr]
        for way in ("lines", "index"):
            asks[way] = new_page()
            asks[way].goto(f"{server.address}/")
            asks[way].evaluate(_START, f"{server.address}/{way}/")

        def ask(way: str, view: View) -> dict[str, Any]:
            answer: dict[str, Any] = asks[way].evaluate(
                "async (view) => ({...await window.ask({ask: 'ids', view}), "
                "...await window.ask({ask: 'search', view, limit: 0, facets: ['city', 'tag']})})",
                browser_view(view),
            )
            return answer

        yield table, ask


def test_beginnings_of_words_are_counted_alike_by_lines_and_by_an_index(both: tuple[ProspectTable, Any]) -> None:
    _, ask = both
    chance, found = random.Random(8), 0
    for _ in range(effort(40)):
        words = chance.choices(_APART, k=chance.choice((1, 1, 2, 3)))
        query = " ".join(word[: chance.randint(1, len(word))] for word in words)
        view = View(q=chance.choice((query, query.upper())), sort=chance.choice(("best", "name", "city")))
        lines, index = ask("lines", view), ask("index", view)
        assert (index["total"], index["facets"]) == (lines["total"], lines["facets"]), view
        assert sorted(index["ids"]) == sorted(lines["ids"]), view
        found += lines["total"]
    assert found > 1_000


def _as_lists(view: View) -> dict[str, list[str]]:
    lists: dict[str, list[str]] = {}
    for name, value in view.as_query():
        lists.setdefault(name, []).append(value)
    return lists


def _counted(rows: list[Matched[int]], facet: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for row in rows:
        for value in values_of(row.cells, facet):
            counts[value] = counts.get(value, 0) + 1
    return counts


def test_all_ids_and_points_of_a_view(search: Opened) -> None:
    view = View(q="schafer", has=("email",), sort="rating", desc=True)
    expected = search.expected(view)
    assert search.ask(ask="ids", view=browser_view(view))["ids"] == [row.cells["id"] for row in expected]
    answer = search.ask(ask="points", view=browser_view(view), limit=5)
    there = [row for row in expected if row.cells["lat"]]
    assert answer["total"] == len(there)
    assert [point[2] for point in answer["points"]] == [row.cells["id"] for row in there[:5]]
    assert answer["points"][0][:2] == [-89.65, 39.78]


def test_rows_come_with_their_cells_and_later_pages_go_on(search: Opened) -> None:
    answer = search.ask(ask="search", view={}, offset=2_090, limit=30)
    assert answer["complete"]
    assert answer["total"] == 2_100
    assert len(answer["rows"]) == 10
    last, cells = answer["rows"][-1], search.table.cells(search.table.rows[-1])
    assert last["name"] == cells["name"]
    assert last["tags"] == values_of(cells, "tag")
    assert set(last) == set(chosen_fields())


def test_a_question_that_nobody_knows_is_answered_by_an_error(search: Opened) -> None:
    answer = search.ask(ask="nonsense")
    assert not answer["ok"]
    assert "nonsense" in answer["error"]


@pytest.mark.parametrize("by_words", [False, True])
@pytest.mark.parametrize("count", [0, 1])
def test_few_rows(browser_page: Page, tmp_path: Path, count: int, by_words: bool) -> None:
    for search in opened(browser_page, tmp_path, made_table(count), by_words=by_words and count > 0):
        assert search.about["rows"] == count
        answer = search.ask(ask="search", view={"q": ""}, facets=["city"])
        assert (answer["ok"], answer["total"], len(answer["rows"])) == (True, count, count)
        assert search.ask(ask="search", view={"q": "nothing at all"})["total"] == 0


def test_an_index_is_read_by_ranges(browser_page: Page, tmp_path: Path) -> None:
    table = made_table(3_000, names=chosen_fields((), ("phone", "email", "emails")))
    for search in opened(browser_page, tmp_path, table, by_words=True):
        whole = sum(path.stat().st_size for path in (tmp_path / "data").rglob("*.bin"))
        assert search.ask(ask="search", view={"q": "lodz"}, limit=20)["total"] == len(search.expected(View(q="lodz")))
        assert search.server.sent < whole
        assert search.ask(ask="search", view={"q": "info@"})["total"] == 0, (
            "columns that were left out are not searched"
        )
        assert "email" not in search.about["columns"]


def replaced(folder: Path, table: ProspectTable, *, by_words: bool) -> None:
    """Another state of the list in place of this one: of the earlier files none is left."""
    data = folder / "data"
    shutil.rmtree(data)
    data.mkdir()
    write_files(table, "plumbers", str(data), most_lines=0 if by_words else 10**9)


def test_a_list_that_is_replaced_meanwhile_is_opened_anew(browser_page: Page, tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()
    for search in opened(browser_page, tmp_path / "index", made_table(300), by_words=True):
        later = made_table(200, seed=5)
        replaced(tmp_path / "index", later, by_words=True)
        rows = [matched(row, later.names, number) for number, row in enumerate(later.rows)]
        expected = len(matching(rows, View(q="best"), by_words=True))
        assert search.ask(ask="search", view={"q": "best"})["total"] == expected
        assert search.ask(ask="search", view={})["total"] == 200
    (tmp_path / "lines").mkdir()

    def replace_first(route: Route) -> None:
        replaced(tmp_path / "lines", made_table(200, seed=5), by_words=False)
        route.continue_()

    browser_page.route("**/*.tsv.gz", replace_first, times=1)
    for search in opened(browser_page, tmp_path / "lines", made_table(300), by_words=False):
        assert search.ask(ask="search", view={})["total"] == 200
