"""The map site on loopback: lists that grow while they are scrolled, places, and what gets in the way."""

from __future__ import annotations

import http.client
import json
import re
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import pytest

from cocli.demo.town import MapsBehaviour, MapsSite, Town, build_town, by_tile, serve_maps
from cocli.demo.town.business import Business
from cocli.demo.town.maps.pages import CONSENT_PATH, CONSENT_WORDS
from cocli.demo.town.maps.search import END_SLOT, TownSearch, matches
from cocli.keys.identities import place_id_from_feature_id

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture(scope="module")
def town() -> Town:
    return build_town(seed=1)


def get(site: MapsSite, target: str, cookie: str = "") -> tuple[int, http.client.HTTPMessage, str]:
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=10)
    try:
        connection.request("GET", target, headers={"Cookie": cookie} if cookie else {})
        response = connection.getresponse()
        return response.status, response.headers, response.read().decode()
    finally:
        connection.close()


def answers(site: MapsSite, phrase: str, lat: float, lon: float, zoom: float, offset: int = 0) -> list[Any]:
    pb = f"!4m12!1m3!1d9000!2d{lon}!3d{lat}!3m2!1i1024!2i768!4f{zoom}!7i20!8i{offset}"
    status, _, body = get(site, f"/search?tbm=map&q={quote(phrase)}&pb={quote(pb)}")
    assert status == 200
    prefix, _, rest = body.partition("\n")
    assert prefix == ")]}'"
    answer = json.loads(rest)
    assert isinstance(answer, list)
    return answer


def search_target(site: MapsSite, phrase: str, lat: float, lon: float, zoom: float = 13) -> str:
    parts = urlsplit(site.search_url(phrase, lat, lon, zoom))
    return f"{parts.path}?{parts.query}"


def expected(town: Town, phrase: str, zoom: float = 13) -> list[Business]:
    return matches(town, TownSearch(phrase, *town.region.centre_tile.centre, zoom))


def test_answers_hold_the_places_in_their_slots(town: Town) -> None:
    centre = town.region.centre_tile.centre
    wanted = {business.feature_id: business for business in expected(town, "restaurant")}
    with serve_maps(town) as site:
        messages = [entry[14] for entry in answers(site, "restaurant", *centre, 13)[0][1][1:]]

    assert len(messages) == 20
    for message in messages:
        business = wanted[message[10]]
        assert message[11] == business.name
        assert message[78] == place_id_from_feature_id(message[10]) == business.place_id
        assert message[9][2:] == [business.spot.lat, business.spot.lon]
        assert message[178][0][3] == business.phone
        assert message[4] is None or message[4][7:] == [business.rating, business.review_count]
        assert (message[7] is not None) == (business.website is not None)
        assert message[76][0][0] == "restaurant"
        assert message[243] == "US"
        assert len(message) == 246


def test_a_list_is_paged_to_its_end(town: Town) -> None:
    centre = town.region.centre_tile.centre
    wanted = [business.place_id for business in expected(town, "restaurant")]
    found: list[str] = []
    with serve_maps(town) as site:
        while True:
            answer = answers(site, "restaurant", *centre, 13, len(found))
            found += [entry[14][78] for entry in answer[0][1][1:]]
            if answer[END_SLOT] == 1:
                break

    assert found == wanted
    assert len(wanted) > 40
    assert [request.offset for request in site.requests] == [0, 20, 40]


def test_a_dense_list_is_cut_short_without_an_end(town: Town) -> None:
    centre = town.region.centre_tile.centre
    with serve_maps(town, MapsBehaviour(cap=25)) as site:
        pages = [answers(site, "restaurant", *centre, 13, offset) for offset in (0, 20, 25)]

    assert [len(page[0][1]) - 1 for page in pages] == [20, 5, 0]
    assert [page[END_SLOT] for page in pages] == [0, 0, 0]


def test_results_are_near_first_and_not_cut_at_the_tile(town: Town) -> None:
    tile = town.region.centre_tile
    found = expected(town, "dentist")
    inside = [business.spot.tile == tile for business in found]

    assert not all(inside), "what lies outside of the tile is shown as well"
    assert len(expected(town, "dentist", zoom=16)) < len(found), "a closer look shows less"
    truth = [b for b in town.businesses if b.trade.phrase == "dentist" and b.spot.tile == tile]
    assert {b.number for b in truth if "google-maps" in b.sources} == {
        b.number for b, within in zip(found, inside, strict=True) if within
    }


def test_the_page_of_a_place_has_its_message_in_the_state_and_a_panel(town: Town) -> None:
    business = next(b for b in town.businesses if b.website and b.rating and "google-maps" in b.sources)
    with serve_maps(town) as site:
        status, _, body = get(site, f"/maps/place/x/data=!4m7!3m6!1s{business.feature_id}!8m2?hl=en")
        by_id = get(site, f"/maps/place/?q=place_id:{business.place_id}")[2]
        missing = get(site, "/maps/place/x/data=!1s0x1:0x2")[0]
    state = re.search(r"APP_INITIALIZATION_STATE=(.*?);window", body)

    assert status == 200
    assert state is not None
    answer = json.loads(json.loads(state[1])[3]["wf"][6].removeprefix(")]}'"))
    assert answer[6][78] == business.place_id
    assert f'data-item-id="phone:tel:{business.phone}"' in body
    assert 'data-item-id="authority"' in body
    assert by_id == body
    assert missing == 404
    assert [request.place_id for request in site.requests] == [business.place_id] * 2


def test_a_search_without_results_has_no_list_and_one_result_is_shown_at_once(town: Town) -> None:
    centre = town.region.centre_tile.centre
    lonely = expected(town, "florist")[0]
    with serve_maps(town) as site:
        nothing = get(site, search_target(site, "submarine dealer", *centre))
        alone = get(site, search_target(site, lonely.name.lower(), lonely.spot.lat, lonely.spot.lon, 17))

    assert nothing[0] == 200
    assert 'role="feed"' not in nothing[2]
    assert alone[0] == 302
    assert lonely.feature_id in alone[1]["Location"]


@pytest.mark.parametrize("language", sorted(CONSENT_WORDS))
def test_visitors_are_asked_for_consent_in_several_languages(town: Town, language: str) -> None:
    centre = town.region.centre_tile.centre
    with serve_maps(town, MapsBehaviour(consent=True, language=language)) as site:
        target = search_target(site, "dentist", *centre)
        status, headers, _ = get(site, target)
        _, _, asked = get(site, headers["Location"])
        allowed = get(site, target, cookie="SOCS=CAESHAgB")

    assert status == 302
    assert asked.count("<form ") == 2
    assert CONSENT_WORDS[language][1] in asked
    assert 'role="feed"' in allowed[2]
    assert [request.kind for request in site.requests] == ["consent", "search"]


def test_conditions_hold_for_their_tiles_only(town: Town) -> None:
    tiles = town.region.tiles
    behaviour = MapsBehaviour(
        condition=by_tile({str(tiles[0]): "sorry", str(tiles[1]): "error", str(tiles[2]): "limited"})
    )
    with serve_maps(town, behaviour) as site:
        pages = [get(site, search_target(site, "restaurant", *tile.centre)) for tile in (*tiles[:3], tiles[5])]
        sorry = get(site, pages[0][1]["Location"])
        limited = [entry[14] for entry in answers(site, "restaurant", *tiles[2].centre, 13)[0][1][1:]]

    assert [page[0] for page in pages] == [302, 500, 200, 200]
    assert sorry[0] == 429
    assert "captcha-form" in sorry[2]
    assert 'jslog="295516' in pages[2][2]
    assert 'jslog="295516' not in pages[3][2]
    assert sum(message[4] is not None for message in limited) > 4, "ratings without numbers of reviews"
    assert all(message[4] is None or len(message[4]) == 8 for message in limited)


def test_a_block_can_end_after_some_requests(town: Town) -> None:
    centre = town.region.centre_tile.centre
    with serve_maps(town, MapsBehaviour(condition=lambda _search, asked: "error" if asked < 2 else "ordinary")) as site:
        statuses = [get(site, search_target(site, "dentist", *centre))[0] for _ in range(3)]

    assert statuses == [500, 500, 200]


def test_what_was_asked_is_remembered_in_order(town: Town) -> None:
    with serve_maps(town) as site:
        for tile in town.region.tiles[:3]:
            get(site, search_target(site, "hair salon", *tile.centre, 14.5))

    assert site.searches == [TownSearch("hair salon", *tile.centre, 14.5) for tile in town.region.tiles[:3]]


# --- in a real browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    api = pytest.importorskip("playwright.sync_api", reason="needs the extra `browser`")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("needs Chromium on this machine")
    with api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1000, "height": 800})
    yield context.new_page()
    context.close()


def scroll_to_the_end(page: Page, rounds: int = 40) -> bool:
    """Whether the end of the list came into sight."""
    page.wait_for_selector("a.hfpxzc")
    before, still = -1, 0
    for _ in range(rounds):
        if page.query_selector("[role=feed] .HlvSq"):
            return True
        page.evaluate(
            "() => { const feed = document.querySelector('[role=feed]'); feed.scrollTop = feed.scrollHeight; }"
        )
        page.wait_for_timeout(50)
        count = page.locator("a.hfpxzc").count()
        still = still + 1 if count == before else 0
        before = count
        if still == 6:
            return False
    raise AssertionError("the list grew without end")


def shown_place_ids(page: Page) -> list[str]:
    links = page.eval_on_selector_all("[role=feed] a.hfpxzc", "links => links.map(link => link.href)")
    return [re.split(r"!19s|\?", link)[1] for link in links]


def test_in_a_browser_every_place_of_a_list_is_shown_once_beside_the_sponsored_ones(town: Town, page: Page) -> None:
    centre = town.region.centre_tile.centre
    wanted = [business.place_id for business in expected(town, "restaurant")]
    with serve_maps(town) as site:
        page.goto(site.search_url("restaurant", *centre))
        ended = scroll_to_the_end(page)
        shown = shown_place_ids(page)
        sponsored = page.locator("[role=article] [jslog^='198204']").count()

    assert ended
    assert sponsored == 2
    assert shown[2:] == wanted
    assert set(shown[:2]) <= set(wanted)
    assert [request.offset for request in site.requests if request.kind == "answer"] == [0, 20, 40]


def test_in_a_browser_a_list_that_is_cut_short_has_no_end(town: Town, page: Page) -> None:
    centre = town.region.centre_tile.centre
    with serve_maps(town, MapsBehaviour(cap=30, sponsored=0)) as site:
        page.goto(site.search_url("restaurant", *centre))
        ended = scroll_to_the_end(page)

        assert not ended
        assert len(shown_place_ids(page)) == 30


def test_in_a_browser_the_consent_form_leads_to_the_list(town: Town, page: Page) -> None:
    centre = town.region.centre_tile.centre
    with serve_maps(town, MapsBehaviour(consent=True, language="el")) as site:
        page.goto(site.search_url("dentist", *centre))
        assert urlsplit(page.url).path.startswith(CONSENT_PATH)
        page.locator("form").first.locator("button").click()
        page.wait_for_selector("a.hfpxzc")

        assert "/maps/search/dentist/" in page.url


def test_in_a_browser_a_card_leads_to_the_page_of_the_place(town: Town, page: Page) -> None:
    centre = town.region.centre_tile.centre
    with serve_maps(town, MapsBehaviour(sponsored=0)) as site:
        page.goto(site.search_url("florist", *centre))
        page.wait_for_selector("a.hfpxzc")
        page.goto(page.locator("a.hfpxzc").first.get_attribute("href") or "")

        assert page.locator("[role=main] h1").inner_text() == expected(town, "florist")[0].name
        assert page.evaluate("() => window.APP_INITIALIZATION_STATE[3].wf[6].slice(0, 4)") == ")]}'"
