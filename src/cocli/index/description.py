"""`datapackage.json`: what a stranger with the files alone needs to read them. For people, cocli does not read it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from cocli.errors import NotFound
from cocli.formats import datapackage
from cocli.index.latest import read_pointer
from cocli.index.versions import current_version
from cocli.keys.paths import DatapackageKey, ShardKey

if TYPE_CHECKING:
    from cocli.index.index import Index
    from cocli.index.manifest import ShardEntry

_VERSION = "cocli:version"
_SUPERSEDES = "Rows in these files supersede the rows of the same key in the other resource."


def describe_newest(index: Index[Any]) -> bool:
    """Describe the index if the description is not of its newest version; whether it was written."""
    pointer = read_pointer(index)
    if pointer is None or pointer.latest.manifest is None:
        return False
    if _described_version(index) == pointer.latest.version:
        return False
    describe(index)
    return True


def _described_version(index: Index[Any]) -> object:
    try:
        package = json.loads(index.store.get(str(DatapackageKey(index.ref))).data)
    except (NotFound, ValueError):
        return None  # none yet, or damaged: it is made of the index again
    return package.get(_VERSION) if isinstance(package, dict) else None


def describe(index: Index[Any]) -> None:
    """Write the description anew. Of two writers the last one stays: it names the shards of one version either way."""
    _, manifest = current_version(index)
    package = datapackage.datapackage(index.spec.model, name=index.ref.name, paths=_paths(index, manifest.base))
    base = package["resources"][0]
    delta = {
        **base,
        "name": f"{index.ref.name}-delta",
        "path": _paths(index, manifest.delta),
        "description": _SUPERSEDES,
    }
    package["resources"] = [resource for resource in (base, delta) if resource["path"]]
    package[_VERSION] = manifest.version
    index.store.put(str(DatapackageKey(index.ref)), datapackage.render(package))


def _paths(index: Index[Any], entries: tuple[ShardEntry, ...]) -> list[str]:
    """Relative to the folder of the index, where the description lies."""
    return [str(ShardKey(index.ref, entry.sha256)).removeprefix(index.ref.folder) for entry in entries]
