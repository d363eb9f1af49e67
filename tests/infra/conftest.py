"""One account on this machine for all tests of a process, and templates that are made once."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from tests.kit.cloud import LocalCloud, local_cloud

from cocli.app.infra.cloud import CloudAccount
from cocli.app.infra.names import stack_name
from cocli.app.infra.stack import Stacks
from cocli.models.campaign import AwsSection

Templates = dict[str, dict[str, Any]]
_MAKE = """
import json, sys
from cocli.app.infra.deployment import synthesise
from cocli.app.infra.options import InfraOptions
wanted = {
    "small": InfraOptions("plumbers"),
    "plumbers": InfraOptions("plumbers", queues=True, web=True),
    "florists": InfraOptions("florists", queues=True),
    "full": InfraOptions("plumbers", queues=True, web=True, image="registry/cocli:1", email="a@example.com"),
    "bakers": InfraOptions("bakers", queues=True, web=True),
    "fixed": InfraOptions("plumbers", image="registry/cocli:1", tasks=3),
}
json.dump({name: synthesise(options) for name, options in wanted.items()}, sys.stdout)
"""


@pytest.fixture(scope="session")
def templates() -> Templates:
    """By the CDK, in a process of its own: it takes half a minute and much memory."""
    if importlib.util.find_spec("aws_cdk") is None:
        pytest.skip("the extra infra is not installed: make infra")
    done = subprocess.run([sys.executable, "-c", _MAKE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    made: Templates = json.loads(done.stdout)
    return made


@pytest.fixture(scope="session")
def empty_cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCloud]:
    with local_cloud(tmp_path_factory.mktemp("cloud")) as cloud:
        yield cloud


@pytest.fixture
def as_owner(empty_cloud: LocalCloud, monkeypatch: pytest.MonkeyPatch) -> LocalCloud:
    for name, value in empty_cloud.environment.items():
        monkeypatch.setenv(name, value)
    return empty_cloud


@pytest.fixture(scope="session")
def cloud(empty_cloud: LocalCloud, templates: Templates) -> LocalCloud:
    """With the stacks of two campaigns."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in empty_cloud.environment.items():
            patch.setenv(name, value)
        stacks = Stacks(CloudAccount(AwsSection()))
        for campaign in ("plumbers", "florists"):
            stacks.deploy(stack_name(campaign), templates[campaign], campaign)
    return empty_cloud
