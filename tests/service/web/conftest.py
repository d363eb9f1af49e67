"""One server for all tests of the dashboard's service that do not change how it runs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.kit.web import OTHER, RunningWeb, fill, running_web

from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags


@pytest.fixture(scope="package")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningWeb]:
    with running_web(tmp_path_factory.mktemp("web")) as running:
        with open_workspace(running.home.environ, Flags()) as workspace:
            fill(workspace, 1, OTHER)
        yield running
