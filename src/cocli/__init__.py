"""cocli finds every business of a kind in a territory and keeps the result as plain files.

    import cocli

    with cocli.open("~/leads") as data:
        frame = data.campaign("plumbers").prospects(with_email=True).to_pandas()

`open` is the front door for Python; docs/python.md has its surface. Nothing heavy is loaded before it is called.
"""

from __future__ import annotations

from cocli.config.version import __version__

TYPE_CHECKING = False  # not from typing: `cocli --help` would load it, and take half as long again
if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from cocli.api.data import Data

__all__ = ["__version__", "open"]


def open(store: str | PathLike[str] | None = None, *, environ: Mapping[str, str] | None = None) -> Data:  # noqa: A001
    """Open a store: a folder, `s3://bucket/prefix`, or `memory://`; without one, what is configured on this machine.

    `environ` takes the place of the process's environment variables. Close the result, or use it in a `with` block.
    """
    from cocli.api.data import open_data

    return open_data(store, environ=environ)
