"""How many tasks a worker does at a time, where nobody says it."""

from __future__ import annotations

from pathlib import Path

from cocli.app.machines.workers import usual_threads
from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags
from cocli.keys.paths import CampaignConfigKey

MAPS = b'[campaign]\nname = "maps"\n\n[prospecting]\nsources = ["overture", "google-maps"]\n\n[google_maps]\ntabs = 3\n'
OPEN = b'[campaign]\nname = "open"\n\n[prospecting]\nsources = ["overture"]\n\n[google_maps]\ntabs = 3\n'


def test_google_maps_is_read_in_as_many_tabs_as_are_configured(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "COCLI_DATA_HOME": str(tmp_path / "data")}
    with open_workspace(environ, Flags()) as workspace:
        for name, config in (("maps", MAPS), ("open", OPEN)):
            workspace.store.put(str(CampaignConfigKey(name)), config)
        maps, open_data = workspace.campaign("maps"), workspace.campaign("open")

        assert [usual_threads(maps, queue) for queue in ("gm-list", "gm-details")] == [3, 3]
        assert [usual_threads(open_data, queue) for queue in ("gm-list", "gm-details")] == [1, 3]
