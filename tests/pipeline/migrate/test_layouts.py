"""Each older layout → today's records. Tests of failures that happened are named after them."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocli.formats import usv as new_usv
from cocli.formats.rejected import RejectedRow
from cocli.keys.identities import company_hash
from cocli.models.domain import Domain
from cocli.models.email import EmailEntry
from cocli.models.prospect import Prospect
from cocli.models.witness import Witness
from cocli.pipeline.migrate import domains, emails, list_items, prospects
from cocli.pipeline.migrate.columns import Table
from cocli.pipeline.migrate.conversion import Converter, Options
from cocli.pipeline.migrate.repairs import mend
from cocli.pipeline.migrate.row import Foreign, Migrated, Outcome
from cocli.pipeline.migrate.sources import LeftOut, OlderFile, classify

sys.path.insert(0, str(Path(__file__).parent))  # what the tests of this folder share is no package
from old_files import (  # type: ignore[import-not-found,unused-ignore]
    cells,
    compacted,
    feature,
    item_values,
    place,
    prospect_values,
    usv,
    write,
)

CHECKPOINT = "campaigns/plumbers/indexes/google_maps_prospects/prospects.checkpoint.usv"
RESULTS = "campaigns/plumbers/queues/gm-list/completed/results/3/35.2/-80.9/lamp-shop.usv"
INBOX = "campaigns/plumbers/indexes/emails/inbox/68/sales@shop.example.com.usv"
SHARD = "campaigns/plumbers/indexes/emails/shards/68.usv"
DOMAINS = "indexes/domains/shards/00.usv"
TILE = "indexes/scraped-tiles/35.2/-80.9/lamp-shop.csv"
AREA = "indexes/scraped_areas/lamp-shop/lat35_lon-81/35.2_-80.9.json"
EMAIL = ["Sales@Shop.example.com", "shop.example.com", "shop", "website_scraper"]
EMAIL += ["2026-02-24T20:00:19.461756+00:00", "2026-02-20T20:00:19+00:00", "2026-02-25T20:00:19+00:00", "unknown", ""]


def outcomes(folder: Path, key: str, data: bytes | str, **options: object) -> list[Outcome]:
    write(folder, key, data)
    source = classify(key)
    assert isinstance(source, OlderFile), source
    chosen = Options(**({"campaign": "plumbers"} | options))  # type: ignore[arg-type]
    return list(Converter(str(folder), chosen).outcomes(source))


def migrated(folder: Path, key: str, data: bytes | str, **options: object) -> Migrated:
    (outcome,) = outcomes(folder, key, data, **options)
    assert isinstance(outcome, Migrated), outcome
    return outcome


def reason(folder: Path, key: str, data: bytes | str, **options: object) -> str:
    (outcome,) = outcomes(folder, key, data, **options)
    assert isinstance(outcome, RejectedRow), outcome
    return outcome.reason


def prospect(folder: Path, **changes: str) -> tuple[Prospect, tuple[str, ...]]:
    row = cells(prospects.FIFTY_SIX, prospect_values(1, **changes))
    found = migrated(folder, CHECKPOINT, usv([row]), phrases=("Lamp shop",))
    assert isinstance(found.record, Prospect)
    return found.record, found.mends


def refused_prospect(folder: Path, **changes: str) -> str:
    return reason(folder, CHECKPOINT, usv([cells(prospects.FIFTY_SIX, prospect_values(1, **changes))]))


# Prospects


def test_a_prospect_of_56_columns(tmp_path: Path) -> None:
    found, mends = prospect(tmp_path)
    seen = datetime(2026, 2, 5, 9, 30, tzinfo=UTC)
    assert mends == ()
    assert found.company_hash == company_hash(place(1))
    assert (found.place_id, found.slug, found.name) == (place(1), "harbour-lights", "Harbour Lights 1")
    assert (found.phone, found.phone_e164) == ("(704) 555-0100", "+17042000100")
    assert (found.website, found.domain) == ("https://www.harbourlights.example.com/shop", "example.com")
    assert (found.street, found.city, found.region) == ("12 Oak Street", "Springfield", "NC")
    assert (found.postcode, found.country) == ("28000", "US")
    assert (found.lat, found.lon, found.rating, found.review_count) == (35.2271, -80.8431, 4.6, 52)
    assert found.categories == ("Lighting store", "Gift shop")
    assert [(hours.day, hours.opens, hours.closes) for hours in found.hours] == [("mo", "09:00", "17:30")]
    assert found.socials == {"facebook": "https://facebook.com/harbourlights"}
    assert found.primary_email == "hello@harbourlights.example.com"
    assert found.all_emails == ("hello@harbourlights.example.com", "sales@harbourlights.example.com")
    assert (found.campaign, found.phrases, found.tiles) == ("plumbers", ("Lamp shop",), ("35.2_-80.9",))
    assert (found.first_seen, found.updated_at) == (datetime(2026, 1, 5, 8, tzinfo=UTC), seen)
    assert found.sources == ("legacy",)


def test_every_value_of_a_migrated_prospect_has_its_origin(tmp_path: Path) -> None:
    found, _ = prospect(tmp_path)
    (origin,) = found.origins
    assert (origin.source, origin.observed_at) == ("legacy", found.updated_at)
    assert {"name", "phone", "website", "lat", "primary_email", "socials.facebook"} <= set(origin.fields)
    assert new_usv.read_one(Prospect, new_usv.render(Prospect, [found])) == found


def test_a_prospect_by_its_header_in_any_order(tmp_path: Path) -> None:
    values = {"Created_At": "2026-01-05 08:00:00", "Name": "A Name", "Place_ID": place(1), "Phone_1": "555-01001"}
    rows = [list(values), list(values.values())]
    found = migrated(tmp_path, CHECKPOINT, usv(rows))
    assert isinstance(found.record, Prospect)
    assert (found.record.name, found.record.phone) == ("A Name", "555-01001")
    assert found.record.first_seen == datetime(2026, 1, 5, 8, tzinfo=UTC)
    assert "created_at without a zone: read as UTC" in found.mends
    table = "\n".join(",".join(row) for row in rows)
    assert migrated(tmp_path, CHECKPOINT.replace(".usv", ".csv"), table).record == found.record


def test_hollow_saves(tmp_path: Path) -> None:
    """2026-02: a renamed field was loaded as nothing and saved. Such a row must not become a record."""
    hollow = dict.fromkeys(prospect_values(1), "") | {"place_id": place(1), "company_slug": "harbour-lights"}
    data = usv([cells(prospects.FIFTY_SIX, hollow)])
    assert reason(tmp_path, CHECKPOINT, data) == "hollow: the row has no name"


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"reviews_count": "704"}, "a part of the phone number"),
        ({"reviews_count": "704", "phone": "17045550100"}, "a part of the phone number"),
        ({"reviews_count": "1200", "street_address": "1200 Oak Street"}, "a number of the address"),
        ({"reviews_count": "28000"}, "a number of the address"),
    ],
)
def test_reviews_count_is_the_area_code_or_the_street_number(
    tmp_path: Path, changes: dict[str, str], what: str
) -> None:
    found, mends = prospect(tmp_path, **changes)
    assert found.review_count is None
    assert mends == (f"reviews_count left out: {what}",)


def test_a_real_number_of_reviews_stays(tmp_path: Path) -> None:
    assert prospect(tmp_path, reviews_count="1,705")[0].review_count == 1705
    assert prospect(tmp_path, reviews_count="12.0")[0].review_count == 12


@pytest.mark.parametrize(
    "changes",
    [
        {"gmb_url": f"https://www.google.com/maps/place/X/data=!4m7!3m6!1s{feature(2)}!8m2!3d1!4d2"},
        {"gmb_url": f"https://www.google.com/maps/place/?q=place_id:{place(2)}"},
        {"gmb_url": "https://maps.google.com/?cid=77"},
        {"gmb_url": "", "cid": "77"},
    ],
)
def test_ids_of_two_places_in_one_row(tmp_path: Path, changes: dict[str, str]) -> None:
    assert refused_prospect(tmp_path, **changes).startswith("the ids ")


def test_ids_that_agree_are_taken(tmp_path: Path) -> None:
    url = f"https://www.google.com/maps/place/X/data=!4m7!3m6!1s{feature(1)}!8m2!19s{place(1)}?hl=en"
    assert prospect(tmp_path, gmb_url=url, cid="2")[0].place_id == place(1)


def test_shifted_columns_are_seen_by_their_values(tmp_path: Path) -> None:
    values = cells(prospects.FIFTY_SIX, prospect_values(1))
    shifted = [*values[:10], "", *values[10:-1]]
    assert reason(tmp_path, CHECKPOINT, usv([shifted])).startswith(("website:", "domain:", "reviews_count:"))
    assert "not between 0 and 5" in refused_prospect(tmp_path, average_rating="704")
    assert "no position" in refused_prospect(tmp_path, latitude="135.5")


def test_the_corner_of_the_tile_is_no_position(tmp_path: Path) -> None:
    """A validator once filled the tile's corner in where the position was not known."""
    found, mends = prospect(tmp_path, latitude="35.2", longitude="-80.9")
    assert (found.lat, found.lon) == (None, None)
    assert mends == ("position left out: it is the corner of the tile",)


def test_what_is_not_understood_is_left_out_and_counted(tmp_path: Path) -> None:
    changes = {
        "monday": "by appointment",
        "country": "Atlantis",
        "email": "nobody",
        "discovery_tile_id": "35.25_-80.95",
    }
    found, mends = prospect(tmp_path, website="facebook.com/harbour", domain="facebook.com", **changes)
    assert (found.hours, found.country, found.primary_email, found.tiles, found.domain) == ((), None, None, (), None)
    assert found.name == "Harbour Lights 1"
    assert len(mends) == 6, mends


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Open 24 hours", [("00:00", "24:00")]),
        ("9 AM–12 PM, 1–5 PM", None),
        ("9 AM to 12 PM, 1 PM to 5:15 PM", [("09:00", "12:00"), ("13:00", "17:15")]),
        ("6 PM – 2 AM", [("18:00", "02:00")]),
        ("12 AM-12 PM", [("00:00", "12:00")]),
        ("13 PM-14 PM", None),
    ],
)
def test_hours(tmp_path: Path, text: str, expected: list[tuple[str, str]] | None) -> None:
    found, mends = prospect(tmp_path, monday=text)
    assert [(hours.opens, hours.closes) for hours in found.hours] == (expected or [])
    assert ("hours left out: not understood" in mends) is (expected is None)


@pytest.mark.parametrize(
    ("key", "note"),
    [("5/{id}", "in the wrong shard"), ("{shard}/{shard}/{id}", "in the wrong shard"), ("{shard}/{id}", None)],
)
def test_double_sharding_and_wrong_shards_are_reported(tmp_path: Path, key: str, note: str | None) -> None:
    """2026-03-03: `2/2/…`. The row itself is whole, so it is moved, and the odd place is counted."""
    shard = place(1)[5].lower()
    name = key.format(id=place(1), shard=shard)
    data = usv([cells(prospects.FIFTY_SIX, prospect_values(1))])
    found = migrated(tmp_path, f"campaigns/plumbers/indexes/google_maps_prospects/wal/{name}.usv", data)
    assert found.mends == ((note,) if note else ())


# Lists


@pytest.mark.parametrize("table", list_items.LAYOUT.tables, ids=lambda table: str(len(table)))
def test_list_items_of_9_to_13_columns(tmp_path: Path, table: Table) -> None:
    names = [column.name for column in table]
    extra = {"category": "Lighting store", "discovery_phrase": "lamp-shop", "discovery_tile_id": "35.3_-80.9"}
    values = item_values(1, **{name: value for name, value in extra.items() if name in names})
    write(tmp_path, RESULTS.replace(".usv", ".json"), json.dumps({"completed_at": "2026-02-25T23:57:19+00:00"}))
    found = migrated(tmp_path, RESULTS, usv([cells(table, values)]), phrases=("lamp shop",)).record
    assert isinstance(found, Prospect)
    assert (found.place_id, found.name, found.slug) == (place(1), "Harbour Lights 1", "harbour-lights")
    assert (found.phone, found.domain, found.street) == ("(704) 555-0100", "example.com", "12 Oak Street")
    assert (found.rating, found.review_count) == (4.6, 52)
    assert found.categories == (("Lighting store",) if "category" in names else ())
    assert found.phrases == ("lamp shop",)
    assert found.tiles == (("35.3_-80.9",) if "discovery_tile_id" in names else ("35.2_-80.9",))
    assert found.updated_at == datetime(2026, 2, 25, 23, 57, 19, tzinfo=UTC)
    assert found.origin_of("name")


def test_a_list_without_a_receipt_has_the_time_of_its_file(tmp_path: Path) -> None:
    found = migrated(tmp_path, RESULTS, usv([cells(list_items.NINE, item_values(1))])).record
    assert isinstance(found, Prospect)
    assert found.updated_at == datetime.fromtimestamp(1_770_000_000, UTC)


# E-mail addresses


def test_email_inbox_and_shards(tmp_path: Path) -> None:
    found = migrated(tmp_path, INBOX, usv([EMAIL], "\x1e\n")).record
    assert isinstance(found, EmailEntry)
    assert (found.email, found.domain, found.method) == ("sales@shop.example.com", "example.com", "website_scraper")
    assert found.first_seen == datetime(2026, 2, 20, 20, 0, 19, tzinfo=UTC)
    assert found.last_seen == datetime(2026, 2, 25, 20, 0, 19, tzinfo=UTC)
    assert (found.verification, found.tags, found.company_hash) == ("unknown", (), None)
    assert migrated(tmp_path, SHARD, usv([EMAIL])).record == found


def test_email_tags_that_u001e_leaked_into(tmp_path: Path) -> None:
    """Defect 11: the last column is `tags`, and one more U+001E stood in it after each run."""
    for leaks in range(5):
        row = [*EMAIL[:-1], "vip;flooring" + "\x1e" * leaks]
        for end in ("\n", "\x1e\n"):
            found = migrated(tmp_path, SHARD, usv([row], end)).record
            assert isinstance(found, EmailEntry)
            assert found.tags == ("flooring", "vip")
    quoted = usv([[*EMAIL[:-1], compacted('the "best"\x1e', 2)]])
    found = migrated(tmp_path, SHARD, quoted).record
    assert isinstance(found, EmailEntry)
    assert found.tags == ('the "best"',)


def test_email_inbox_collisions(tmp_path: Path) -> None:
    """2026-02-18: file names were slugs. The address in the row counts, whatever the file is called."""
    content = {"email": "a+b@shop.example.com", "domain": "unknown", "source": "https://shop.example.com/contact"}
    content |= {"first_seen": "2026-02-20T20:00:19", "tags": ["x;y", "z"], "verification_status": "valid"}  # type: ignore[dict-item]
    key = "campaigns/plumbers/indexes/emails/shop.example.com/a-b.json"
    found = migrated(tmp_path, key, json.dumps(content)).record
    assert isinstance(found, EmailEntry)
    assert (found.email, found.domain) == ("a+b@shop.example.com", "example.com")
    assert (found.source_page, found.method) == ("https://shop.example.com/contact", None)
    assert (found.tags, found.verification) == (("x;y", "z"), "deliverable")


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ([*EMAIL[:4], "yesterday", *EMAIL[5:]], "found_at:"),
        (EMAIL[:-1], "8 fields, expected 9"),
        (["x@localhost", *EMAIL[1:]], "not one e-mail address"),
        (["badge_1@2x.png", *EMAIL[1:]], "not one e-mail address"),
    ],
)
def test_emails_that_are_set_aside(tmp_path: Path, row: list[str], expected: str) -> None:
    assert reason(tmp_path, SHARD, usv([row])).startswith(expected)


# Domains


def test_domains(tmp_path: Path) -> None:
    values = {"domain": "www.Shop.example.com", "company_name": "The Shop", "ip_address": "192.0.2.1", "tags": "a;b"}
    values |= {"scraper_version": "6", "is_email_provider": "False", "updated_at": "2026-02-25T20:00:19+00:00"}
    found = migrated(tmp_path, DOMAINS, usv([cells(domains.TWENTY_ONE, values)])).record
    assert isinstance(found, Domain)
    assert (found.domain, found.ip, found.scraper_version) == ("example.com", "192.0.2.1", "6")
    assert (found.is_email_provider, found.last_crawled) == (False, datetime(2026, 2, 25, 20, 0, 19, tzinfo=UTC))
    table = "domain,company_name,is_email_provider,personnel\nfreemail.example.org,,True,x\n"
    master = migrated(tmp_path, "indexes/domains_master.csv", table).record
    assert isinstance(master, Domain)
    assert (master.domain, master.is_email_provider) == ("example.org", True)
    assert migrated(tmp_path, "indexes/domains_master.csv", table).mends == ("columns that are not read: personnel",)


# Coverage


def witness(folder: Path, key: str, data: str, **options: object) -> Witness:
    found = migrated(folder, key, data, **options).record
    assert isinstance(found, Witness)
    return found


@pytest.mark.parametrize("shard", ["", "3/", "3/3/"])
@pytest.mark.parametrize("suffix", [".csv", ".json", ".usv"])
def test_witnesses_in_two_places(tmp_path: Path, shard: str, suffix: str) -> None:
    """Defect 2: written to `scraped-tiles/{lat}/{lon}`, looked for in `scraped-tiles/{shard}/{lat}/{lon}`."""
    content = {
        ".csv": "scrape_date,items_found\n2026-02-25T20:00:19+00:00,12\n",
        ".json": '{"scrape_date": "2026-02-25T20:00:19+00:00", "items_found": 12}',
        ".usv": "2026-02-25T20:00:19+00:00\x1f12\x1e\n",
    }
    found = witness(tmp_path, f"indexes/scraped-tiles/{shard}35.2/-80.9/lamp-shop{suffix}", content[suffix])
    assert (str(found.tile), found.phrase, found.count) == ("35.2_-80.9", "lamp-shop", 12)
    assert (found.campaign, found.source, found.worker) == ("plumbers", "google-maps", "legacy")


def test_no_older_file_proves_that_the_list_was_read_to_its_end(tmp_path: Path) -> None:
    assert witness(tmp_path, TILE, "scrape_date,items_found\n2026-02-25T20:00:19,120\n").outcome == "cut_short"


@pytest.mark.parametrize("count", ["0", ""])
def test_zero_items_is_also_what_a_page_that_did_not_load_left(tmp_path: Path, count: str) -> None:
    """Defect 6: zero results and a failed navigation were both recorded as done."""
    assert "no proof" in reason(tmp_path, TILE, f"scrape_date,items_found\n2026-02-25T20:00:19,{count}\n")
    area = {"phrase": "lamp-shop", "scrape_date": "2026-02-25T20:00:19", "tile_id": "35.2_-80.9", "items_found": 0}
    assert "no proof" in reason(tmp_path, AREA, json.dumps(area))
    receipt = {"search_phrase": "lamp shop", "completed_at": "2026-02-25T20:00:19", "result_count": 0}
    assert "no proof" in reason(tmp_path, RESULTS.replace(".usv", ".json"), json.dumps(receipt))


def test_tiles_that_all_searched_the_same_place_can_be_distrusted(tmp_path: Path) -> None:
    """Defect 1: from one day on every tile searched one city. A person says from when."""
    table = "scrape_date,items_found\n2026-03-06T00:00:00+00:00,12\n"
    until = datetime(2026, 3, 5, tzinfo=UTC)
    assert "not trusted" in reason(tmp_path, TILE, table, witnesses_until=until)
    assert witness(tmp_path, TILE, table).count == 12


def test_areas(tmp_path: Path) -> None:
    box = {"lat_min": 35.15, "lat_max": 35.25, "lon_min": -80.95, "lon_max": -80.85, "lat_miles": 8, "lon_miles": 8}
    area = {"phrase": "lamp-shop", "scrape_date": "2026-02-25T20:00:19", "items_found": 7, **box}
    named = witness(tmp_path, AREA, json.dumps(area | {"tile_id": "35.2_-80.9"}), phrases=("Lamp Shop",))
    assert (str(named.tile), named.phrase, named.count) == ("35.2_-80.9", "Lamp Shop", 7)
    assert "0 whole tiles" in reason(tmp_path, AREA, json.dumps(area))
    around = area | {"lat_min": 35.19, "lat_max": 35.31, "lon_min": -80.90001, "lon_max": -80.79999}
    assert str(witness(tmp_path, AREA, json.dumps(around)).tile) == "35.2_-80.9"
    assert "4 whole tiles" in reason(
        tmp_path, AREA, json.dumps(area | {"lat_min": 35.1, "lat_max": 35.3, "lon_min": -81.0, "lon_max": -80.8})
    )
    header = "phrase,scrape_date,lat_min,lat_max,lon_min,lon_max,lat_miles,lon_miles,items_found"
    table = f"{header}\nlamp-shop,2026-02-25T20:00:19,-0.10000,0.00000,-0.10000,0.00000,8,8,3\n"
    assert str(witness(tmp_path, "indexes/scraped_areas/lamp-shop.csv", table).tile) == "-0.1_-0.1"
    assert "wilderness" in reason(
        tmp_path, "indexes/scraped_areas/wilderness_areas.csv", table.replace("lamp-shop", "wilderness")
    )


def test_receipts(tmp_path: Path) -> None:
    receipt = {"search_phrase": "lamp shop", "completed_at": "2026-02-25T20:00:19+00:00", "worker_id": "pi-5"}
    receipt |= {"result_count": 20, "status": "success", "latitude": 35.25, "longitude": -80.85}  # type: ignore[dict-item]
    key = RESULTS.replace(".usv", ".json")
    found = witness(tmp_path, key, json.dumps(receipt))
    assert (str(found.tile), found.phrase, found.worker, found.count) == ("35.2_-80.9", "lamp shop", "pi-5", 20)
    assert "did not succeed" in reason(tmp_path, key, json.dumps(receipt | {"status": "failed"}))
    flat = "campaigns/plumbers/queues/gm-list/completed/x.json"
    assert reason(tmp_path, flat, json.dumps(receipt)) == "no tile of the grid"


@pytest.mark.parametrize(
    "data", ["", "[]", "{", '{"scrape_date": 5}', '{"a": "\\ud800"}', "[" * 100_000, '{"scrape_date": "NaN"}']
)
def test_broken_json_is_set_aside(tmp_path: Path, data: str) -> None:
    assert reason(tmp_path, AREA, data)


def test_broken_csv_is_set_aside(tmp_path: Path) -> None:
    rows = b"2026-02-25T20:00:19,1,extra\n2026-02-25T20:00:19,\xff\n" + b"x" * 200_000 + b",2\n2026-02-25T20:00:19,3\n"
    found = outcomes(tmp_path, TILE, b"scrape_date,items_found\n" + rows)
    assert [type(one) for one in found] == [RejectedRow, RejectedRow, RejectedRow, Migrated]
    assert reason(tmp_path, TILE, b"a,b\n1,2\n") == "the header is of no known layout"


# Folders


def test_results_written_into_the_wrong_campaign(tmp_path: Path) -> None:
    """2026-03-13: rows lay in the folder of another campaign, or said so themselves."""
    data = usv([cells(prospects.FIFTY_SIX, prospect_values(1))])
    key = CHECKPOINT.replace("plumbers", "bakers")
    (found,) = outcomes(tmp_path, key, data)
    assert found == Foreign(key, 1, "bakers")
    assert migrated(tmp_path, key, data, include_foreign=True).record.model_dump()["campaign"] == "plumbers"
    nested = f"campaigns/plumbers/{key}"
    assert outcomes(tmp_path, nested, data) == [Foreign(nested, 1, "bakers")]
    area = {"phrase": "x", "scrape_date": "2026-02-25T20:00:19", "tile_id": "35.2_-80.9", "campaign_name": "bakers"}
    assert outcomes(tmp_path, AREA, json.dumps(area)) == [Foreign(AREA, 1, "bakers")]


@pytest.mark.parametrize(
    ("key", "layout"),
    [
        ("data/data/campaigns/plumbers/indexes/google_maps_prospects/wal/2/x.usv", "prospects"),
        ("campaigns/plumbers/indexes/IndexIdentity.PROSPECTS/wal/2/x.usv", "prospects"),
        ("campaigns/plumbers/indexes/google_maps_prospects/inbox/x.csv", "prospects"),
        (RESULTS, "list-items"),
        (RESULTS.replace(".usv", ".json"), "list-receipts"),
        (INBOX, "emails"),
        (SHARD, "emails"),
        (DOMAINS, "domains"),
        (AREA, "scraped-areas"),
        ("scraped_areas/lamp-shop.csv", "scraped-areas"),
        (TILE, "scraped-tiles"),
        ("campaigns/plumbers/indexes/emails/datapackage.json", None),
        (f"campaigns/plumbers/indexes/emails/shards/{'a' * 64}.usv", None),
        (f"campaigns/plumbers/indexes/emails/ab/{'a' * 16}.usv", None),
        ("indexes/domains/manifests/x.usv", None),
        ("campaigns/plumbers/indexes/prospects/a/x.usv", None),
        ("companies/shop/_index.md", None),
    ],
)
def test_files_are_known_by_their_path(key: str, layout: str | None) -> None:
    """Double nesting `data/data`, and the folder that Python 3.11 made of an enumeration, are found as well."""
    found = classify(key)
    assert (found.layout if isinstance(found, OlderFile) else None) == layout
    assert isinstance(found, LeftOut) is (layout is None)


# Fields


@given(st.text('ab"\n<', max_size=10), st.integers(0, 6))
def test_mending_undoes_any_number_of_compactions(text: str, times: int) -> None:
    text = text.replace("<", "").replace('""', '"').strip('"')
    assert mend(compacted(text, times)) == text


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ('"Quoted Name"', '"Quoted Name"'),
        ('"A" and "B"', '"A" and "B"'),
        ('O"Reilly', 'O"Reilly'),
        ('"""X"" Diner"', '"X" Diner'),
        ('"""""""X"""" Diner"""', '"X" Diner'),
        ('""""', '"'),
        ('""', ""),
        ('""""""', ""),
        ("12 Oak Street<br>Suite 4<BR/>x", "12 Oak Street\nSuite 4\nx"),
        ("vip\x1e\x1e", "vip"),
        ("O'Reilly \\n", "O'Reilly \\n"),
    ],
)
def test_mending(field: str, expected: str) -> None:
    assert mend(field) == expected


def test_the_email_table_is_the_only_one_of_its_layout() -> None:
    assert emails.LAYOUT.widths == {9}
