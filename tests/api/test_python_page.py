"""docs/python.md cannot rot: its example is run as it is written, its tables are compared with the classes."""

from __future__ import annotations

import inspect
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from cocli.api import CampaignData, Data, DocumentAccess, EditableCompany, Table
from cocli.errors import MissingExtra

PAGE = (Path(__file__).parents[2] / "docs" / "python.md").read_text("utf-8")
BLOCK = re.compile(r"^```python *(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SECTION = re.compile(r"^### (\w+).*?\n(.*?)(?=^##)", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| `(\w+)(?:\((.*?)\))?` \|", re.MULTILINE)
CLASSES = {
    "Data": Data,
    "CampaignData": CampaignData,
    "Table": Table,
    "EditableCompany": EditableCompany,
    "DocumentAccess": DocumentAccess,
}
UNSTABLE = {"store", "repository"}
"""They lead to the layers below; the page says so."""


def test_the_example_runs_as_it_is_written(
    tmp_path: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    names: dict[str, Any] = {}
    blocks = BLOCK.findall(PAGE)
    assert len(blocks) == 6
    for needed, code in blocks:
        program = compile(code, "docs/python.md", "exec")
        if needed and find_spec(needed) is None:
            with pytest.raises(MissingExtra):
                exec(program, names)
        else:
            exec(program, names)
    assert (tmp_path / "plumbers.csv").read_text("utf-8-sig").count("\n") == 3
    assert "Called on Monday." in next((tmp_path / "leads" / "companies").glob("acme*/_index.md")).read_text("utf-8")


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_the_tables_name_every_member(name: str) -> None:
    kind = CLASSES[name]
    sections = dict(SECTION.findall(PAGE))
    written = {member for member, _parameters in ROW.findall(sections[name])}
    assert written == _members(kind) - UNSTABLE


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_the_tables_name_parameters_that_there_are(name: str) -> None:
    kind = CLASSES[name]
    for member, parameters in ROW.findall(dict(SECTION.findall(PAGE))[name]):
        words = [word for word in re.split(r",\s*", parameters) if word and word != "…"]
        known = inspect.signature(getattr(kind, member)).parameters if words else {}
        for word in words:
            assert word.partition("=")[0] in known, f"{name}.{member} has no {word}"


def _members(kind: type) -> set[str]:
    own = {member for member in dir(kind) if not member.startswith("_")}
    annotated = {member for base in kind.__mro__ for member in inspect.get_annotations(base)}
    assigned = set(re.findall(r"self\.([a-z]\w*)(?:: .+)? = ", "".join(map(_source, kind.__mro__))))
    return own | {member for member in annotated | assigned if not member.startswith("_")}


def _source(kind: type) -> str:
    return inspect.getsource(kind) if kind.__module__.startswith("cocli.") else ""
