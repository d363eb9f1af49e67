"""Inputs that atheris makes up by what the parsers do with them. `make fuzz` runs it where atheris is installed."""

from __future__ import annotations

import sys

import atheris  # type: ignore[import-untyped]  # an optional package without types

with atheris.instrument_imports(include=["cocli.pipeline", "cocli.formats"]):
    from tests.fuzz.places import PLACES, try_place

_PLACES = tuple(PLACES.values())


def one_input(data: bytes) -> None:
    """The first byte chooses the parser, the rest is its text."""
    if data:
        try_place(_PLACES[data[0] % len(_PLACES)], data[1:].decode("utf-8", "replace"))


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
