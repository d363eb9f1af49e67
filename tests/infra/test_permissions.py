"""The permissions matrix: with each role, what it needs passes and the rest is refused by a server that enforces it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.kit.cloud import LocalCloud
from tests.kit.servers import REGION

MINE, OTHER = "cocli-data-plumbers", "cocli-data-florists"
Call = Callable[[Any], object]


def refused(act: Callable[[], object]) -> bool:
    try:
        act()
    except ClientError as error:
        if error.response["Error"]["Code"] in {"AccessDenied", "AccessDeniedException", "403"}:
            return True
        raise
    return False


@pytest.fixture(scope="module")
def lent(cloud: LocalCloud) -> Callable[[str, str], Any]:
    """Clients with the keys of a role of the campaign plumbers."""
    owner = cloud.client("s3")
    for bucket in (MINE, OTHER):
        for key in ("campaigns/plumbers/config.toml", "campaigns/florists/config.toml", "companies/acme/_index.md"):
            owner.put_object(Bucket=bucket, Key=key, Body=b"x")

    @cache
    def client(role: str, service: str) -> Any:
        return cloud.client(service, cloud.assume(f"cocli-{role}-plumbers"))

    return client


def put(key: str, bucket: str = MINE) -> Call:
    return lambda s3: s3.put_object(Bucket=bucket, Key=key, Body=b"x")


def get(key: str, bucket: str = MINE) -> Call:
    return lambda s3: s3.get_object(Bucket=bucket, Key=key)


def delete(key: str, **more: str) -> Call:
    return lambda s3: s3.delete_object(Bucket=MINE, Key=key, **more)


def listing(bucket: str) -> Call:
    return lambda s3: s3.list_objects_v2(Bucket=bucket)


def suspend(s3: Any) -> object:
    return s3.put_bucket_versioning(Bucket=MINE, VersioningConfiguration={"Status": "Suspended"})


def destroy(s3: Any) -> object:
    return s3.delete_bucket(Bucket=MINE)


TASK = "campaigns/plumbers/queues/enrichment/pending/a/b/task.json"
NOTE = "companies/acme/_index.md"
CONFIG = "campaigns/plumbers/config.toml"
ALLOWED: list[tuple[str, str, Call]] = [
    *((role, "listing", listing(MINE)) for role in ("worker", "enrichment", "web", "deployer")),
    *((role, "its settings", get(CONFIG)) for role in ("worker", "enrichment", "web", "deployer")),
    *((role, "a task", put(TASK)) for role in ("worker", "enrichment", "web")),
    *((role, "a page", put("uploads/default/x")) for role in ("worker", "enrichment")),
    *((role, "a heartbeat", put("status/pi1.json")) for role in ("worker", "enrichment")),
    *((role, "an end of a task", delete(TASK)) for role in ("worker", "enrichment")),
    ("worker", "a company", put(NOTE)),
    ("web", "a company", put(NOTE)),
    ("web", "settings", put(CONFIG)),
    ("web", "the dashboard", put("index.html", "cocli-web-plumbers")),
    ("deployer", "the dashboard", put("index.html", "cocli-web-plumbers")),
]
REFUSED: list[tuple[str, str, Call]] = [
    *((role, "another bucket's list", listing(OTHER)) for role in ("worker", "enrichment", "web", "deployer")),
    *((role, "another bucket", get(CONFIG, OTHER)) for role in ("worker", "enrichment", "web", "deployer")),
    *(
        (role, "another campaign", get("campaigns/florists/config.toml"))
        for role in ("worker", "enrichment", "web", "deployer")
    ),
    *((role, "another campaign's task", put("campaigns/florists/queues/x/y")) for role in ("worker", "web")),
    ("enrichment", "settings", put(CONFIG)),
    ("enrichment", "a company", put(NOTE)),
    ("enrichment", "the dashboard", put("index.html", "cocli-web-plumbers")),
    ("worker", "the dashboard", put("index.html", "cocli-web-plumbers")),
    ("deployer", "a task", put(TASK)),
    ("deployer", "a company", get(NOTE)),
    *((role, "the bucket's rules", suspend) for role in ("worker", "web", "deployer")),
    *((role, "the bucket itself", destroy) for role in ("worker", "web", "deployer")),
]


def test_the_matrix_of_the_store(lent: Callable[[str, str], Any]) -> None:
    wrong = [(role, what) for role, what, act in ALLOWED if refused(partial(act, lent(role, "s3")))]
    assert wrong == [], "needed, and refused"
    open_ = [(role, what) for role, what, act in REFUSED if not refused(partial(act, lent(role, "s3")))]
    assert open_ == [], "not needed, and allowed"


@pytest.mark.parametrize("role", ["worker", "enrichment", "web", "deployer"])
def test_nobody_removes_an_old_version(cloud: LocalCloud, lent: Callable[[str, str], Any], role: str) -> None:
    owner = cloud.client("s3")
    version = owner.put_object(Bucket=MINE, Key=TASK, Body=b"1")["VersionId"]
    owner.put_object(Bucket=MINE, Key=TASK, Body=b"2")
    assert refused(lambda: delete(TASK, VersionId=version)(lent(role, "s3")))
    assert owner.get_object(Bucket=MINE, Key=TASK, VersionId=version)["Body"].read() == b"1"


@pytest.mark.parametrize("role", ["worker", "enrichment", "web", "deployer"])
def test_nobody_reads_the_pool_or_changes_a_role(cloud: LocalCloud, lent: Callable[[str, str], Any], role: str) -> None:
    pools = cloud.client("cognito-idp").list_user_pools(MaxResults=10)["UserPools"]
    pool = next(pool["Id"] for pool in pools if pool["Name"] == "cocli-users-plumbers")
    assert refused(lambda: lent(role, "cognito-idp").list_users(UserPoolId=pool))
    assert refused(lambda: lent(role, "iam").delete_role(RoleName="cocli-worker-plumbers"))
    assert refused(lambda: lent(role, "secretsmanager").get_secret_value(SecretId="cocli-login-plumbers"))


def test_queues(cloud: LocalCloud, lent: Callable[[str, str], Any]) -> None:
    owner = cloud.client("sqs")
    url = {name: owner.get_queue_url(QueueName=name)["QueueUrl"] for name in (
        "cocli-enrichment-plumbers", "cocli-gm-list-plumbers", "cocli-gm-list-florists", "cocli-commands-plumbers.fifo",
    )}  # fmt: skip

    def send(role: str, queue: str) -> Callable[[], object]:
        fifo = {"MessageGroupId": "a", "MessageDeduplicationId": "b"} if queue.endswith(".fifo") else {}
        return lambda: lent(role, "sqs").send_message(QueueUrl=url[queue], MessageBody="x", **fifo)

    def receive(role: str, queue: str) -> Callable[[], object]:
        return lambda: lent(role, "sqs").receive_message(QueueUrl=url[queue])

    for allowed in (
        send("worker", "cocli-gm-list-plumbers"), receive("worker", "cocli-gm-list-plumbers"),
        receive("worker", "cocli-commands-plumbers.fifo"), receive("enrichment", "cocli-enrichment-plumbers"),
        send("web", "cocli-commands-plumbers.fifo"), send("web", "cocli-gm-list-plumbers"),
    ):  # fmt: skip
        assert not refused(allowed)
    for forbidden in (
        send("worker", "cocli-gm-list-florists"), receive("worker", "cocli-gm-list-florists"),
        receive("enrichment", "cocli-gm-list-plumbers"), receive("web", "cocli-gm-list-plumbers"),
        send("deployer", "cocli-commands-plumbers.fifo"),
        lambda: lent("worker", "sqs").purge_queue(QueueUrl=url["cocli-gm-list-plumbers"]),
    ):  # fmt: skip
        assert refused(forbidden)


def test_the_dashboard_is_refreshed_and_outputs_are_read_by_who_may(
    cloud: LocalCloud, lent: Callable[[str, str], Any]
) -> None:
    described = cloud.client("cloudformation").describe_stacks(StackName="cocli-stack-plumbers")["Stacks"][0]
    outputs = {output["OutputKey"]: output["OutputValue"] for output in described["Outputs"]}

    def invalidate(role: str) -> Callable[[], object]:
        batch = {"Paths": {"Quantity": 1, "Items": ["/*"]}, "CallerReference": role}
        client = lent(role, "cloudfront")
        return lambda: client.create_invalidation(DistributionId=outputs["Distribution"], InvalidationBatch=batch)

    def read_outputs(role: str, campaign: str) -> Callable[[], object]:
        return lambda: lent(role, "cloudformation").describe_stacks(StackName=f"cocli-stack-{campaign}")

    for allowed in (invalidate("web"), invalidate("deployer"), read_outputs("deployer", "plumbers")):
        assert not refused(allowed)
    for forbidden in (
        invalidate("worker"), invalidate("enrichment"), read_outputs("deployer", "florists"),
        *(read_outputs(role, "plumbers") for role in ("worker", "enrichment", "web")),
        lambda: lent("deployer", "cloudformation").delete_stack(StackName="cocli-stack-plumbers"),
    ):  # fmt: skip
        assert refused(forbidden)


def test_without_tls_nobody_is_answered(cloud: LocalCloud) -> None:
    policy = json.loads(cloud.client("s3").get_bucket_policy(Bucket=MINE)["Policy"])
    (denied,) = [statement for statement in policy["Statement"] if statement["Effect"] == "Deny"]
    assert denied["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    assert denied["Principal"] in ("*", {"AWS": "*"})
    assert denied["Action"] in ("s3:*", ["s3:*"])


def cocli(keys: dict[str, str], home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "COCLI_"))}
    environ = {**kept, **keys, "COCLI_DATA_HOME": str(home), "HOME": str(home), "AWS_EC2_METADATA_DISABLED": "true"}
    environ.pop("AWS_ENDPOINT_URL", None)
    return subprocess.run(
        [sys.executable, "-m", "cocli", *words], env=environ, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )


def test_the_program_works_with_the_keys_of_a_worker(cloud: LocalCloud, tmp_path: Path) -> None:
    store = {
        name: f"s3://cocli-data-{name}?endpoint={cloud.endpoint}&region={REGION}" for name in ("plumbers", "florists")
    }
    toml = '[campaign]\nname = "plumbers"\n[prospecting]\nqueries = ["plumber"]\n'
    cloud.client("s3").put_object(Bucket=MINE, Key=CONFIG, Body=toml.encode())
    keys = cloud.assume("cocli-worker-plumbers")
    checked = cocli(keys, tmp_path, "doctor", "--store", store["plumbers"], "-c", "plumbers", "--json")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    put_one = cocli(
        keys, tmp_path, "queue", "put", "enrichment", "example.invalid", "-c", "plumbers", "--store", store["plumbers"]
    )
    assert put_one.returncode == 0, put_one.stderr
    looked = cocli(keys, tmp_path, "queue", "status", "-c", "plumbers", "--store", store["plumbers"], "--json")
    assert looked.returncode == 0, looked.stderr
    waiting = {queue["queue"]: queue["pending"] for queue in json.loads(looked.stdout)["queues"]}
    assert waiting["enrichment"] >= 1
    other = cocli(keys, tmp_path, "campaign", "show", "florists", "--store", store["florists"])
    assert other.returncode == 7, other.stderr
