"""The house: what a stranger finds in `ls`. Rooms that fit on a screen, names that are used once, no cycles."""

from __future__ import annotations

import ast
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "cocli"

LINES_OF_A_SCREEN = 24
FILES_OF_A_FOLDER = 25
LINES_OF_A_FUNCTION = 50
LONG_FUNCTIONS = 0.01
LAYERS = 20

SAME_NAME: dict[str, str] = {}
"""Public classes that stand in two modules, each with its reason."""


def sources() -> Iterator[tuple[Path, ast.Module]]:
    for file in sorted(PACKAGE.rglob("*.py")):
        if "generated" not in file.parts:
            yield file, ast.parse(file.read_text("utf-8"))


def folders(root: Path) -> list[Path]:
    return [root, *(folder for folder in root.rglob("*") if folder.is_dir() and folder.name != "__pycache__")]


def visible(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir() if entry.name != "__pycache__")


def test_the_package_fits_on_a_screen() -> None:
    assert len(visible(PACKAGE)) <= LINES_OF_A_SCREEN


def test_no_folder_is_crowded() -> None:
    crowded = {
        str(folder): len(files)
        for folder in folders(PACKAGE)
        if len(files := list(folder.glob("*.py"))) > FILES_OF_A_FOLDER
    }
    assert crowded == {}


def test_a_public_class_name_is_used_once() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for file, tree in sources():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(file.relative_to(PACKAGE)))
    assert {name: files for name, files in places.items() if len(files) > 1 and name not in SAME_NAME} == {}
    assert [name for name in SAME_NAME if len(places[name]) < 2] == [], "listed, but used once: take it off the list"


def test_functions_fit_on_a_screen() -> None:
    lengths = {
        f"{file.relative_to(PACKAGE)}:{node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for file, tree in sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    long = {name: lines for name, lines in lengths.items() if lines > LINES_OF_A_FUNCTION}
    assert len(long) / len(lengths) < LONG_FUNCTIONS, long


def test_no_module_imports_itself_in_a_circle() -> None:
    graph = grimp.build_graph("cocli", exclude_type_checking_imports=True, cache_dir=None)
    imports = {module: set(graph.find_modules_directly_imported_by(module)) for module in graph.modules}
    while leaves := {module for module, below in imports.items() if not below}:
        imports = {module: below - leaves for module, below in imports.items() if module not in leaves}
    assert sorted(imports) == [], "these modules, or those above them, import each other"


def test_every_module_says_what_it_is() -> None:
    assert [str(file) for file, tree in sources() if not ast.get_docstring(tree)] == []


def test_the_layers_are_few_and_every_room_has_a_contract() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    assert len(layers) < LAYERS
    stacked = {name.strip().removeprefix("cocli.") for layer in layers for name in layer.split("|")}
    rooms = {Path(name).stem for name in visible(PACKAGE) if not name.startswith("__")} - {"py"}
    assert rooms == stacked, "a room without a layer may be imported by anybody"
    ruled = {
        module for contract in contracts if contract["type"] == "forbidden" for module in contract["source_modules"]
    }
    folders_ruled = {module.split(".")[1] for module in ruled if "." in module}
    assert {room for room in rooms if (PACKAGE / room).is_dir()} - folders_ruled <= {"demo", "service", "store"}, (
        "what may it touch? demo, service and store are where the outside is met"
    )
