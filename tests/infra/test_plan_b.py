"""Without AWS: the same policies on SeaweedFS, which enforces them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial

import boto3
import pytest
from botocore.exceptions import ClientError
from tests.kit import servers

from cocli.app.infra.policies import ROLES, PolicyPlace, policy_of
from cocli.errors import Denied
from cocli.store import open_store
from cocli.store.probe import require_safe

MINE = "cocli-data-plumbers"
TASK, COMPANY, CONFIG = "campaigns/plumbers/queues/a/b", "companies/acme/_index.md", "campaigns/plumbers/config.toml"
OTHERS = "campaigns/florists/config.toml"
MAY_WRITE = {
    "worker": {TASK, COMPANY, CONFIG},
    "enrichment": {TASK},
    "web": {TASK, COMPANY, CONFIG},
    "deployer": set[str](),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[servers.S3Server]:
    place = PolicyPlace(campaign="plumbers", bucket=MINE)
    policies = {role: policy_of(role, place) for role in ROLES}
    with servers.seaweedfs(tmp_path_factory.mktemp("roles"), policies) as started:
        for bucket in (MINE, "cocli-data-florists"):
            servers.create_bucket(started, bucket)
        yield started


def is_refused(act: Callable[[], object]) -> bool:
    try:
        act()
    except ClientError as error:
        if error.response["Error"]["Code"] == "AccessDenied":
            return True
        raise
    return False


@pytest.mark.parametrize("role", ROLES)
def test_the_same_roles_on_a_server_of_ones_own(server: servers.S3Server, role: str) -> None:
    client = boto3.client(
        "s3",
        endpoint_url=server.endpoint,
        region_name=servers.REGION,
        aws_access_key_id=role,
        aws_secret_access_key=f"secret-of-{role}",
    )
    written = {
        key
        for key in (TASK, COMPANY, CONFIG, OTHERS)
        if not is_refused(partial(client.put_object, Bucket=MINE, Key=key, Body=b"x"))
    }
    assert written == MAY_WRITE[role]
    assert is_refused(lambda: client.get_object(Bucket=MINE, Key=OTHERS))
    assert is_refused(lambda: client.list_objects_v2(Bucket="cocli-data-florists"))
    assert is_refused(lambda: client.delete_bucket(Bucket=MINE))
    assert not is_refused(lambda: client.list_objects_v2(Bucket=MINE))


def test_a_store_opened_with_a_role_is_safe_to_work_in(
    server: servers.S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "worker")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-of-worker")
    with closing(open_store(server.url(MINE))) as store:
        require_safe(store)
        store.put(TASK, b"x")
        with pytest.raises(Denied):
            store.put(OTHERS, b"x")
