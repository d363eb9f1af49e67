"""A scenario factory by name: `package.module:factory`, or `path/to/file.py:factory` for what is no package."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

from cocli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from tests.kit.simulator.scenario import Scenario


def load_factory(target: str) -> Callable[[], Scenario]:
    place, _, name = target.rpartition(":")
    if not place or not name:
        raise UsageError(reason=f'"{target}" does not name a scenario: module:factory or file.py:factory')
    module = _load_file(Path(place)) if place.endswith(".py") else importlib.import_module(place)
    factory = getattr(module, name, None)
    if not callable(factory):
        raise UsageError(reason=f"{place} has no factory {name}")
    return cast("Callable[[], Scenario]", factory)


def _load_file(file: Path) -> ModuleType:
    name = f"simulated_{file.stem}"
    loaded = sys.modules.get(name)
    if loaded is not None and loaded.__file__ == str(file.resolve()):
        return loaded
    spec = importlib.util.spec_from_file_location(name, file.resolve())
    if spec is None or spec.loader is None or not file.is_file():
        raise UsageError(reason=f"there is no file {file}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up while it is being run
    spec.loader.exec_module(module)
    return module
