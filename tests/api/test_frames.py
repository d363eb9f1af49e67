"""Tables as Arrow and data frames: where the packages are installed, and what is said where they are not."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import cocli
from cocli.api import CampaignData, Data
from cocli.errors import MissingExtra

FORMS = {"arrow": ("pyarrow",), "to_pandas": ("pandas",), "to_polars": ("polars", "pyarrow")}


@pytest.fixture
def campaign(environ: dict[str, str], found: Callable[[Data], CampaignData]) -> Iterator[CampaignData]:
    with cocli.open("memory://", environ=environ) as data:
        yield found(data)


@pytest.mark.parametrize(("form", "packages"), FORMS.items())
def test_a_missing_package_is_named_with_the_command_that_installs_it(
    form: str, packages: tuple[str, ...], campaign: CampaignData, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, packages[0], None)  # as if it were not installed
    with pytest.raises(MissingExtra, match=packages[0]) as caught:
        getattr(campaign.prospects(), form)()
    assert caught.value.hint == f"Install it with: pip install {' '.join(packages)}"


@pytest.mark.parametrize(("form", "packages"), FORMS.items())
def test_a_frame_has_the_rows_of_the_table(form: str, packages: tuple[str, ...], campaign: CampaignData) -> None:
    for package in packages:
        pytest.importorskip(package, reason=f"{package} is no part of the development set")
    table = campaign.prospects(with_email=True)
    frame = getattr(table, form)()
    assert len(frame) == 2
    column = frame["name"]
    assert list(column.to_pylist() if form == "arrow" else column) == [record.name for record in table]
    assert [str(name) for name in (frame.column_names if form == "arrow" else frame.columns)] == [
        *type(next(iter(table))).model_fields
    ]


def test_a_relation_reads_nothing_but_its_index(campaign: CampaignData, tmp_path: Path) -> None:
    """What was scraped is data to it; a path in a query leads nowhere."""
    (tmp_path / "secret.csv").write_text("a\n1\n", "utf-8")
    relation = campaign.prospects().relation()
    with pytest.raises(Exception, match=r"(?i)permission|disabled|access"):
        relation.query("prospects_here", f"SELECT * FROM read_csv('{tmp_path / 'secret.csv'}')")
