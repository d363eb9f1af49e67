"""What a build adds to the wheel: the version that git gave, where the program itself can read it."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BuiltVersion(BuildHookInterface):  # type: ignore[type-arg]
    PLUGIN_NAME = "custom"
    _folder: str | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable" or self.target_name != "wheel":
            return
        self._folder = tempfile.mkdtemp()
        written = Path(self._folder) / "built.py"
        text = f'"""Written by the build."""\n\nversion = "{self.metadata.version}"\n'
        written.write_text(text, "utf-8")
        build_data["force_include"][str(written)] = "cocli/config/built.py"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        if self._folder is not None:
            shutil.rmtree(self._folder)
