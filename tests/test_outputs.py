"""Files that a person asks for are written by one function; nothing else puts a file in the place of another."""

from __future__ import annotations

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "cocli"
MOVES = {("os", "replace"), ("os", "rename"), ("os", "renames"), ("shutil", "move")}
ALLOWED = {
    "app/whole_file.py": "the one function",
    "store/local.py": "objects of the store",
    "store/disk/exchange.py": "files of the data home, exchanged with what an editor may hold",
    "sync/state.py": "a damaged state, set aside",
    "documents/catalog/damage.py": "a damaged catalogue, set aside",
    "index/cache.py": "the cache",
    "index/queries/derived.py": "the cache",
    "index/replacement.py": "records of an index: no file is meant",
    "app/deploy/packages.py": "the cache",
    "app/deploy/agent/places.py": "runs on a host with nothing but Python, in folders that a deployment made",
    "app/deploy/agent/installation.py": "the same: a release under its own name",
    "app/search/copy.py": "the cache",
    "app/web/prospects/files.py": "the cache",
    "app/machines/supervisor.py": "the state home",
    "app/left_alone/forget.py": "the state home",
    "app/left_alone/proofs.py": "the state home",
    "app/left_alone/machine_sweep.py": "the library of places",
    "app/documents/tokens.py": "the state home",
    "pipeline/sources/open_places/library.py": "the library of places, which cocli keeps",
    "pipeline/sources/open_places/sorted_copy.py": "the library of places",
    "pipeline/sources/google_maps/browser/pace.py": "the state home",
}
"""Names that only cocli writes, in folders of its own: no device and no link of a person's can be there."""


def moves(source: Path) -> list[str]:
    """Calls that replace what has a name: `os.replace(…)`, and `path.replace(target)` with one argument.

    To import such a function by its name is one too: then nothing says at the call whose it is.
    """
    found = []
    for node in ast.walk(ast.parse(source.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            found += [f"{node.module}.{alias.name}" for alias in node.names if (node.module, alias.name) in MOVES]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            if isinstance(owner, ast.Name) and (owner.id, node.func.attr) in MOVES:
                found.append(f"{owner.id}.{node.func.attr}")
            elif node.func.attr in ("rename", "replace") and len(node.args) == 1 and not node.keywords:
                found.append(f"….{node.func.attr}")
    return found


def test_no_file_is_replaced_elsewhere() -> None:
    found = {
        str(source.relative_to(SOURCE)): calls for source in sorted(SOURCE.rglob("*.py")) if (calls := moves(source))
    }
    assert {name: calls for name, calls in found.items() if name not in ALLOWED and not name.startswith("demo/")} == {}


def test_what_is_allowed_is_still_there() -> None:
    assert [name for name in ALLOWED if not (SOURCE / name).exists()] == []


def test_a_move_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text("import os\nfrom shutil import move\nos.replace(a, b)\nPath(a).replace(b)\ntext.replace(a, b)\n")
    assert moves(file) == ["shutil.move", "os.replace", "….replace"]
