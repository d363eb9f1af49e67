"""datapackage.json: valid by Frictionless' own rules, and good enough for Frictionless to read a real file with it."""

from __future__ import annotations

import json
import warnings
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cocli.formats import csv_records, datapackage, usv
from cocli.models.completion import ItemCompletion
from cocli.models.domain import Domain
from cocli.models.email import EmailEntry
from cocli.models.place import OpenHours, Place
from cocli.models.prospect import Prospect
from cocli.models.website import Website
from cocli.models.witness import TargetTile, Witness

if TYPE_CHECKING:
    from cocli.models.record import Record

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # frictionless is not ours to mend
    from frictionless import Package, Schema

NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
TABLES = [Prospect, Place, Website, EmailEntry, Domain, TargetTile, Witness, ItemCompletion]


@pytest.mark.parametrize("model", TABLES)
def test_every_table_is_described_in_frictionless_terms(model: type[Record]) -> None:
    package = datapackage.datapackage(model, name="table", paths=["a.usv", "b.usv"], extra_columns=["grade"])
    report = Package.validate_descriptor(package)
    assert report.valid, report.flatten(["type", "message"])
    schema = Schema.from_descriptor(package["resources"][0]["schema"])
    assert schema.field_names == [*model.model_fields, "grade"]
    assert schema.primary_key == list(model.key)
    assert json.loads(datapackage.render(package)) == package


def test_a_broken_description_would_be_noticed() -> None:
    package = datapackage.datapackage(Prospect, name="table", paths=["a.usv"])
    package["resources"][0]["schema"]["fields"][0]["type"] = "no type"
    assert not Package.validate_descriptor(package).valid


def test_types_constraints_and_nulls() -> None:
    schema = datapackage.table_schema(Prospect)
    fields: dict[str, dict[str, Any]] = {field["name"]: field for field in schema["fields"]}
    assert schema["missingValues"] == ["\\N"]
    assert fields["company_hash"]["constraints"] == {"required": True, "pattern": "^[0-9a-f]{16}$"}
    assert fields["lat"] == {"name": "lat", "type": "number", "constraints": {"minimum": -90, "maximum": 90}}
    assert fields["business_status"]["constraints"]["enum"][0] == "operational"
    assert fields["categories"]["type"] == "array"
    assert fields["socials"]["type"] == "object"
    assert "constraints" not in fields["phone"]


def test_frictionless_reads_our_files(tmp_path: Path) -> None:
    hours = (OpenHours(day="mo", opens="08:00", closes="17:00"),)
    common: dict[str, Any] = {"slug": "a", "campaign": "c", "first_seen": NOON, "updated_at": NOON}
    records = [
        Prospect(company_hash="0" * 16, name='O\'Reilly "quoted" 🎈', lat=33.5, hours=hours, **common),
        Prospect(company_hash="1" * 16, name="#", phone="", review_count=3, categories=("a", "b"), **common),
    ]
    (tmp_path / "a.usv").write_bytes(usv.render(Prospect, records))
    package = datapackage.datapackage(Prospect, name="prospects", paths=["a.usv"])
    (tmp_path / "datapackage.json").write_bytes(datapackage.render(package))
    opened = Package(str(tmp_path / "datapackage.json"))
    report = opened.validate()
    assert report.valid, report.flatten(["rowNumber", "fieldName", "message"])
    first, second = (row.to_dict() for row in opened.get_table_resource("prospects").read_rows())
    assert (first["name"], first["phone"], first["lat"]) == ('O\'Reilly "quoted" 🎈', None, pytest.approx(33.5))
    assert first["hours"] == [{"day": "mo", "opens": "08:00", "closes": "17:00"}]
    assert (second["name"], second["phone"], second["review_count"]) == ("#", "", 3)
    assert second["updated_at"].replace(tzinfo=UTC) == NOON


def test_frictionless_reads_our_csv(tmp_path: Path) -> None:
    record = TargetTile.checked({"tile": "33.7_-118.3", "phrase": 'a, "b"\nc', "campaign": "c", "planned_at": NOON})
    (tmp_path / "a.csv").write_bytes(csv_records.render(TargetTile, [record]))
    package = datapackage.datapackage(TargetTile, name="tiles", paths=["a.csv"], table_format="csv")
    (tmp_path / "datapackage.json").write_bytes(datapackage.render(package))
    opened = Package(str(tmp_path / "datapackage.json"))
    assert opened.validate().valid
    (row,) = opened.get_table_resource("tiles").read_rows()
    assert (row["phrase"], row["location"]) == ('a, "b"\nc', None)
