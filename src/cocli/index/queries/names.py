"""What names a version's derived copies. Apart from the queries, because finding a copy needs no DuckDB."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.formats import json_records
from cocli.index.shards import content_name

if TYPE_CHECKING:
    from cocli.index.manifest import Manifest


def manifest_name(manifest: Manifest) -> str:
    """The hash of a manifest, as in its key."""
    return content_name(json_records.render(manifest))
