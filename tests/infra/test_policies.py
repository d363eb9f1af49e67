"""Names and policies, as documents: cheap, and tried on a server in test_permissions."""

from __future__ import annotations

import pytest

from cocli.app.infra.names import check_names
from cocli.app.infra.options import InfraOptions
from cocli.app.infra.policies import ROLES, PolicyPlace, policy_of
from cocli.errors import NameRefused
from cocli.keys.key import KINDS
from cocli.keys.paths import probe_folder
from cocli.keys.resources import resource_name
from cocli.queue.sqs.queue import queue_name

PLACE = PolicyPlace(campaign="plumbers", bucket="data", queues=("q",), commands="c", web_bucket="web")


def test_one_function_gives_the_names() -> None:
    assert resource_name("data", "plumbers") == "cocli-data-plumbers"
    assert queue_name("plumbers", "gm-list") == resource_name("gm-list", "plumbers")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (InfraOptions("a" * 52), "64 characters, and a role may have 64|65 characters"),
        (InfraOptions("aws-plumbers", web=True), "login page may not"),
        (InfraOptions("plumbers-s3alias"), "access points"),
    ],
)
def test_a_name_that_aws_refuses(options: InfraOptions, said: str) -> None:
    with pytest.raises(NameRefused, match=said):
        check_names(options)


def test_good_names_pass() -> None:
    check_names(InfraOptions("plumbers-il", queues=True, web=True))
    check_names(InfraOptions("aws-plumbers"))


@pytest.mark.parametrize("role", ROLES)
def test_a_policy_names_what_it_allows(role: str) -> None:
    for statement in policy_of(role, PLACE)["Statement"]:
        assert statement["Effect"] == "Allow"
        assert all("*" not in action for action in statement["Action"]), "an action is named"
        for resource in statement["Resource"]:
            assert resource not in ("*", "arn:aws:s3:::data/*"), "no role has all of the bucket"
        assert not {"s3:DeleteObjectVersion", "s3:PutBucketPolicy"} & set(statement["Action"])


def test_every_folder_of_the_store_is_reached_by_a_worker() -> None:
    """A new kind of key would be refused on AWS until its folder is in the policies."""
    firsts = {str(kind.TEMPLATE).partition("/")[0] for kind in KINDS}
    firsts.add(probe_folder("x").partition("/")[0])
    firsts = {"uploads" if first == "{prefix}" else first for first in firsts} - {"campaigns", "{index}"}
    resources = {r for s in policy_of("worker", PLACE)["Statement"] for r in s["Resource"]}
    assert {f"arn:aws:s3:::data/{first}/*" for first in firsts} <= resources


def test_a_store_below_a_prefix() -> None:
    place = PolicyPlace(campaign="plumbers", bucket="nas", prefix="team")
    objects = policy_of("worker", place)["Statement"][1]["Resource"]
    assert "arn:aws:s3:::nas/team/campaigns/plumbers/*" in objects
    assert all(resource.startswith("arn:aws:s3:::nas/team/") for resource in objects)
