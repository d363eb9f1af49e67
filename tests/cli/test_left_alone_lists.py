"""Lists of other programs as they write them; hashes with a salt; entries that hold until a day."""

from __future__ import annotations

import csv
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.cli.conftest import Cocli

MAILCHIMP = (
    '"Email Address","First Name","Last Name",Address,"Phone Number",Birthday,MEMBER_RATING,OPTIN_TIME,OPTIN_IP,'
    "CONFIRM_TIME,CONFIRM_IP,LATITUDE,LONGITUDE,GMTOFF,DSTOFF,TIMEZONE,CC,REGION,UNSUB_TIME,UNSUB_CAMPAIGN_TITLE,"
    "UNSUB_CAMPAIGN_ID,UNSUB_REASON,UNSUB_REASON_OTHER,LEID,EUID,NOTES,TAGS\n"
    'Jo+News@Firm.example,Jo,Doe,"1 Elm St  Springfield IL 62701 USA","(217) 555-0177",,2,"2026-01-02 10:00:00",'
    '203.0.113.7,"2026-01-02 10:00:00",203.0.113.7,39.80,-89.60,-6,-5,America/Chicago,US,IL,"2026-10-11 08:00:00",'
    'October,5a5a5a5a,NORMAL,,123456,0ab1cd2ef3,,"""plumbers"""\n'
    'ann@other.example,,,,,,2,,,"2026-01-03 10:00:00",203.0.113.8,,,,,,,,"2026-10-12 08:00:00",October,5a5a5a5a,'
    '"No longer interested",,123457,0ab1cd2ef4,,\n'
)
HUBSPOT = (
    "Email,Portal Bounce,Portal Unsubscribe,Portal Spam Report,Global Bounce,Marketing Information\n"
    "jo@firm.example,FALSE,TRUE,FALSE,FALSE,FALSE\n"
    "ann@other.example,FALSE,FALSE,FALSE,FALSE,TRUE\n"
)
HUBSPOT_CONTACTS = (
    "Record ID,First Name,Last Name,Email,Phone Number,Unsubscribed from all email\n"
    "101,Jo,Doe,jo@firm.example,,true\n"
    "102,Ann,Roe,ann@other.example,+12175550177,true\n"
    "103,Bea,Poe,bea@customer.example,,false\n"
    "104,Cy,Moe,cy@customer.example,,\n"
)
FILES = {
    "unsubscribed_members_export_5a5a.csv": MAILCHIMP,
    "hubspot-unsubscribes-and-bounces.csv": HUBSPOT,
    "hubspot-crm-exports-all-contacts.csv": HUBSPOT_CONTACTS,
    "unsubscribes.txt": "jo@firm.example\nann@other.example\n",
    "marked.csv": "\ufeffemail\r\njo@firm.example\r\nann@other.example\r\n",
}


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_list_of_another_program_is_read(cocli: Cocli, home: Path, name: str) -> None:
    path = home / name
    path.write_bytes(FILES[name].encode())
    planned = cocli("suppress", "import", str(path), "--dry-run", "--json").json
    assert (planned["added"], planned["kind"], planned["unread"]) == (2, "email", [])
    assert cocli("suppress", "check", "jo@firm.example").code == 1, "a plan writes nothing"
    assert cocli("suppress", "import", str(path), "--json").json["added"] == 2
    for address in ("jo@firm.example", "ann@other.example"):
        assert cocli("suppress", "check", address).code == 0
    assert cocli("suppress", "check", "bea@customer.example").code == 1
    assert cocli("suppress", "check", "+12175550177").code == 1, "only what the list is about"
    assert cocli("suppress", "import", str(path), "--json").json["added"] == 0


def test_hashes_with_a_salt_leave_alone_whom_nobody_is_told(cocli: Cocli, home: Path) -> None:
    cocli("suppress", "add", "jo@firm.example", "+12175550177", "firm-two.example")
    cocli("suppress", "add", "old@firm.example", "--until", "2027-06-30")
    path = home / "for-our-agency.csv"
    assert cocli("suppress", "export", "--hashed", "--salt", "2026-11", "--out", str(path)).code == 0
    text = path.read_text("utf-8")
    assert not [word for word in ("jo@", "5550177", "firm") if word in text]
    with path.open(encoding="utf-8", newline="") as file:
        assert {row["salt"] for row in csv.DictReader(file)} == {"2026-11"}
    other = str(home / "agency")
    Path(other).mkdir()
    brought = cocli("suppress", "import", str(path), "--store", other, "--json").json
    assert (brought["added"], brought["kind"], brought["unread"]) == (4, "hashes", [])
    for value in ("Jo+x@firm.example", "(217) 555-0177", "info@shop.firm-two.example", "old@firm.example"):
        assert cocli("suppress", "check", value, "--country", "US", "--store", other).code == 0, value
    assert cocli("suppress", "check", "ann@firm.example", "--store", other).code == 1
    entries = cocli("suppress", "list", "--store", other, "--json").json["entries"]
    assert [entry["value"] for entry in entries] == [None] * 4
    assert [entry["until"] for entry in entries if entry["until"]] == ["2027-06-30T00:00:00Z"], "it ends there, too"


def test_the_own_list_comes_back_whole(cocli: Cocli, home: Path) -> None:
    cocli("suppress", "add", "jo@firm.example", "+12175550177", "firm-two.example", "--until", "2027-06-30")
    path = home / "mine.csv"
    cocli("suppress", "export", "--out", str(path))
    other = str(home / "other")
    Path(other).mkdir()
    assert cocli("suppress", "import", str(path), "--store", other, "--json").json["added"] == 3
    entries = cocli("suppress", "list", "--store", other, "--json").json["entries"]
    assert {entry["value"] for entry in entries} == {"jo@firm.example", "+12175550177", "firm-two.example"}
    assert {entry["until"] for entry in entries} == {"2027-06-30T00:00:00Z"}


def test_what_holds_until_a_day_ends_by_itself(cocli: Cocli) -> None:
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).date().isoformat()
    cocli("suppress", "add", "jo@firm.example", "--until", tomorrow)
    cocli("suppress", "add", "ann@firm.example", "--until", "2026-01-31")
    assert cocli("suppress", "check", "jo@firm.example").code == 0
    assert cocli("suppress", "check", "ann@firm.example").code == 1, "it has ended"
    every = cocli("suppress", "list", "--all", "--json").json["entries"]
    assert {entry["value"] for entry in every} == {"jo@firm.example", "ann@firm.example"}
    assert len(cocli("suppress", "list", "--json").json["entries"]) == 1
    cocli("suppress", "add", "ann@firm.example")
    assert cocli("suppress", "check", "ann@firm.example").code == 0, "asked again, it holds for good"
