"""`datapackage.json`: what a stranger with the files alone needs to read them. For people, cocli does not read it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cocli.formats import datapackage
from cocli.index.versions import current_version
from cocli.keys.paths import DatapackageKey, ShardKey

if TYPE_CHECKING:
    from cocli.index.index import Index
    from cocli.index.manifest import ShardEntry

_SUPERSEDES = "Rows in these files supersede the rows of the same key in the other resource."


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
    package["cocli:version"] = manifest.version
    index.store.put(str(DatapackageKey(index.ref)), datapackage.render(package))


def _paths(index: Index[Any], entries: tuple[ShardEntry, ...]) -> list[str]:
    """Relative to the folder of the index, where the description lies."""
    return [str(ShardKey(index.ref, entry.sha256)).removeprefix(index.ref.folder) for entry in entries]
