"""The demo town is the same on every machine, has every form of contact, and its truth agrees with its data."""

from __future__ import annotations

import base64
import json
import struct
from collections import Counter
from pathlib import Path
from random import Random

import duckdb
import phonenumbers
import pytest

from cocli.demo.town import Town, Truth, build_town, truth_of, write_overture
from cocli.demo.town.languages import LANGUAGES
from cocli.demo.town.names import NameGiver
from cocli.demo.town.trades import PHRASES, TRADES
from cocli.demo.town.websites.negatives import NEGATIVES
from cocli.demo.town.websites.replies import reply_to
from cocli.demo.town.websites.script_forms import FORMS
from cocli.demo.town.websites.site import TownSite
from cocli.keys.identities import check_same_place, registrable_domain
from cocli.keys.tile import Tile
from cocli.pipeline.plan.geography import distance_m
from cocli.pipeline.websites import SiteFacts, combine, read_page

PAGES_OF_BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "contacts" / "pages"
KINDS_OF_SITES = {"not-form-only", "not-image-only"}


@pytest.fixture(scope="module")
def town() -> Town:
    return build_town(seed=1)


@pytest.fixture(scope="module")
def truth(town: Town) -> Truth:
    return truth_of(town)


def every_page(town: Town) -> dict[tuple[str, str], bytes]:
    paths = ("/robots.txt", "/sitemap.xml", "/app.js")
    pages = {}
    for host, site in town.sites.items():
        for path in (*(LANGUAGES[site.language].path(page) for page in site.pages), *paths):
            pages[host, path] = reply_to(site, host, path).body
    return pages


def test_two_builds_of_one_seed_are_equal_byte_for_byte(tmp_path: Path) -> None:
    first, second = build_town(seed=7), build_town(seed=7)
    write_overture(first, tmp_path / "a.parquet")
    write_overture(second, tmp_path / "b.parquet")

    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    assert truth_of(first).as_json() == truth_of(second).as_json()
    assert every_page(first) == every_page(second)


def test_another_seed_is_another_town() -> None:
    names = [{business.name for business in build_town(seed).businesses} for seed in (1, 2)]

    assert len(names[0] & names[1]) < len(names[0]) / 2


def test_every_form_and_negative_of_the_benchmark_is_in_the_town(town: Town) -> None:
    known = {path.stem for path in PAGES_OF_BENCHMARK.glob("*.html")}
    shown = {email.form for site in town.sites.values() for email in site.emails}
    negatives = {negative.name for site in town.sites.values() for negative in site.negatives}

    assert shown == {form.name for form in FORMS}
    assert negatives == {negative.name for negative in NEGATIVES}
    assert shown | negatives | KINDS_OF_SITES == known


def test_every_form_can_be_found_in_open_data_alone_and_on_the_map_alone(truth: Truth) -> None:
    wanted = {form.name for form in FORMS}
    for source in ("overture", "google-maps"):
        planned = truth.planned(source)
        reached = {email.form for business in planned for email in business.emails_by(source)}
        assert wanted <= reached, source


def test_names_numbers_and_domains_are_valid_and_belong_to_one(town: Town) -> None:
    for business in town.businesses:
        check_same_place(business.place_id, feature_id=business.feature_id)
        assert business.phone is not None
        number = phonenumbers.parse(business.phone)
        assert phonenumbers.is_valid_number(number)
        assert phonenumbers.region_code_for_number(number) == "US"
        if business.site is not None:
            assert registrable_domain(business.site.host) == business.site.domain
    for field in ("place_id", "phone", "gers_id", "address"):
        counts = Counter(getattr(business, field) for business in town.businesses)
        assert set(counts.values()) == {1}, field


def test_a_chain_has_eleven_branches_and_one_website(town: Town) -> None:
    branches = [business for business in town.businesses if business.chain]

    assert len(branches) == 11
    assert len({branch.website for branch in branches}) == 1
    spots = [(branch.spot.lat, branch.spot.lon) for branch in branches]
    assert min(distance_m(*one, *other) for one in spots for other in spots if one != other) > 1_000


def test_businesses_stand_on_corners_and_edges_of_tiles(town: Town) -> None:
    step = 100_000
    on_lat = [business for business in town.businesses if business.spot.lat_micro % step == 0]
    on_lon = [business for business in town.businesses if business.spot.lon_micro % step == 0]
    corners = [business for business in on_lat if business in on_lon]

    assert len(corners) == 4
    assert len(on_lat) + len(on_lon) == 12
    south_west = town.region.tiles[0]
    assert any(business.spot.tile == south_west for business in corners)
    assert any(business.spot.tile not in town.region.tiles for business in corners), "one is just outside"


def test_each_business_of_the_region_is_in_one_search(town: Town, truth: Truth) -> None:
    listed = Counter(number for search in truth.searches for number in search.overture)
    wanted = {business.number for business in truth.planned("overture")}

    assert set(listed) == wanted
    assert set(listed.values()) == {1}
    assert len(truth.searches) == len(town.region.tiles) * len(PHRASES)
    for business in truth.businesses:
        assert business.tile == str(Tile.containing(business.lat, business.lon))


def test_the_open_data_file_says_what_the_truth_says(town: Town, truth: Truth, tmp_path: Path) -> None:
    path = tmp_path / "places.parquet"
    rows = write_overture(town, path)
    with duckdb.connect() as connection:
        read = connection.execute(
            "SELECT id, geometry, names.primary, websites, phones, emails, socials, operating_status, bbox,"
            " categories.primary, taxonomy.hierarchy, addresses[1].freeform, sources[1].license FROM read_parquet(?)",
            [str(path)],
        ).fetchall()
    by_id = {row[0]: row for row in read}
    twins = 0
    assert len(by_id) == rows == len(read)
    for business in truth.businesses:
        listing = business.listings.get("overture")
        if listing is None:
            continue
        twins += len(listing.ids) - 1
        _, point, name, websites, phones, emails, socials, status, box, category, hierarchy, street, licence = by_id[
            listing.ids[0]
        ]
        lon, lat = struct.unpack("<dd", bytes(point)[5:])
        assert (name, street, lat, lon) == (business.name, business.street, business.lat, business.lon)
        assert [*(websites or []), *(socials or [])] == ([listing.website] if listing.website else [])
        assert ["".join(c for c in one if c.isdigit())[-10:] for one in phones] == [(listing.phone or "")[2:]]
        assert set(emails or []) <= {email.address for email in business.emails}
        assert (status == "permanently_closed") == (business.business_status == "permanently_closed")
        assert box["xmin"] <= lon <= box["xmax"]
        assert box["ymin"] <= lat <= box["ymax"]
        assert hierarchy[-1] == category == business.category
        assert licence
    assert rows == sum("overture" in business.listings for business in truth.businesses) + twins
    assert twins == 4


def test_open_data_is_out_of_date_here_and_there(truth: Truth) -> None:
    stale = [
        business
        for business in truth.planned("overture")
        if business.listings["overture"].website != business.website and business.website
    ]

    assert stale
    assert not any(business.emails_by("overture") for business in stale)


def read_site(site: TownSite) -> SiteFacts:
    host, language = site.target or site.host, LANGUAGES[site.language]
    paths = [language.path(page) for page in site.pages]
    return combine([read_page(reply_to(site, host, path).body, f"http://{host}{path}", "US") for path in paths])


def test_the_pages_show_what_the_truth_says_and_nothing_else_as_theirs(town: Town, truth: Truth) -> None:
    read = 0
    for known in truth.sites:
        if known.status != "alive" or known.kind == "robots-contact":
            continue
        read += 1
        facts = read_site(town.sites[f"www.{known.domain}"])
        offered = {email.value: email for email in facts.emails if email.relation in ("own", "freemail")}
        others = {(email.value, email.relation) for email in facts.emails} - {
            (email.value, email.relation) for email in offered.values()
        }
        assert set(offered) == {email.address for email in known.emails}, known
        assert others - {(address, "other") for address in known.optional} == set(known.others), known
        assert not {email.value for email in facts.emails} & set(known.rejected)
        assert {(e.address, e.label, e.name) for e in known.emails} == {
            (e.value, e.label, e.name) for e in offered.values()
        }
        primary = [email.address for email in known.emails if email.primary]
        assert [facts.primary_email.value] if facts.primary_email else primary == []
        assert {phone.finding.value for phone in facts.phones} == set(known.phones), known
    assert read > 200


def test_every_negative_would_mislead_a_plain_reader(town: Town, truth: Truth) -> None:
    """What must not be reported is on the pages: the truth does not forbid what nobody could find."""
    for known in truth.sites:
        site = town.sites[f"www.{known.domain}"]
        host = site.target or site.host
        text = "".join(
            reply_to(site, host, LANGUAGES[site.language].path(page)).body.decode("utf-8", "replace")
            for page in site.pages
        )
        for address in (*known.rejected, *(other for other, _ in known.others)):
            assert all(part in text for part in address.split("@")), (known.domain, address)


def test_all_kinds_and_charsets_of_sites_are_there(truth: Truth, town: Town) -> None:
    statuses = {site.status for site in truth.sites} | {business.website_status for business in truth.businesses}

    assert statuses >= {"alive", "dead", "parked", "for-sale", "social-only", "directory", "redirected", "blocked"}
    assert {site.charset for site in town.sites.values()} == {"utf-8", "windows-1252", "utf-16", "meta-only"}
    assert {site.language for site in town.sites.values()} == set(LANGUAGES)
    assert {business.business_status for business in truth.businesses} == {
        "operational",
        "temporarily_closed",
        "permanently_closed",
    }


def test_some_addresses_are_for_browsers_only(town: Town, truth: Truth) -> None:
    shells = [site for site in truth.sites if site.status == "script-shell"]

    assert shells
    for known in shells:
        site = town.sites[f"www.{known.domain}"]
        page, script = (reply_to(site, site.host, path).body.decode() for path in ("/", "/app.js"))
        shown = base64.b64decode(script.split("atob('")[1].split("'")[0]).decode()
        assert not known.emails
        assert known.emails_in_browser
        assert all(address in shown and address not in page for address in known.emails_in_browser)


def test_the_truth_is_written_as_json(truth: Truth, tmp_path: Path) -> None:
    truth.write(tmp_path / "truth.json")

    read = json.loads((tmp_path / "truth.json").read_text("utf-8"))
    assert len(read["businesses"]) == len(truth.businesses)
    assert read["businesses"][0]["place_id"] == truth.businesses[0].place_id


def test_a_bigger_town_has_what_the_usual_one_has() -> None:
    town = build_town(seed=3, size=2_000)

    assert len(town.businesses) == 2_000
    assert {email.form for site in town.sites.values() for email in site.emails} == {form.name for form in FORMS}


def test_a_town_of_sixteen_thousand_still_gives_everybody_a_name() -> None:
    names = NameGiver(Random(1))
    trade = TRADES[0]
    given = [names.business(trade) for _ in range(6_000)]
    assert len(set(given)) == len(given)
    assert " & " not in given[0]
    assert " & " in given[-1]  # there are fewer families than that


def test_a_town_that_is_too_small_is_refused() -> None:
    with pytest.raises(ValueError, match="at least"):
        build_town(size=20)
