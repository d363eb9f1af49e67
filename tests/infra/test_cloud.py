"""`cocli infra` against an account on this machine: deploying, outputs, users, and what is refused."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from tests.infra.conftest import Templates
from tests.kit.cloud import LocalCloud

from cocli.app.infra import deployment
from cocli.app.infra.cloud import CloudAccount
from cocli.app.infra.deployment import InfraPlan, deploy, plan, read_stack
from cocli.app.infra.options import InfraOptions
from cocli.app.infra.smoke import smoke_test
from cocli.app.infra.stack import Stacks, differences
from cocli.app.infra.users import add_user, remove_user, throwaway_user
from cocli.app.workspace import Workspace, open_workspace
from cocli.cli.root import run
from cocli.config.resolve import Flags
from cocli.errors import (
    CloudRefused,
    CloudUnavailable,
    ConfigError,
    DeploymentFailed,
    InfraError,
    StackConflict,
    UnknownStack,
)
from cocli.models.campaign import AwsSection

TOML = """# ours
[campaign]
name = "bakers"  # who we are

[prospecting]
queries = ["baker"]
"""


def account() -> CloudAccount:
    return CloudAccount(AwsSection())


@pytest.fixture
def workspace(tmp_path: Path, as_owner: LocalCloud) -> Any:
    home = tmp_path / "home"
    (home / "campaigns" / "bakers").mkdir(parents=True)
    (home / "campaigns" / "bakers" / "config.toml").write_text(TOML)
    with open_workspace({**os.environ, "COCLI_DATA_HOME": str(home), "HOME": str(home)}, Flags()) as opened:
        yield opened


def test_outputs_become_settings_and_comments_stay(workspace: Workspace, templates: Templates, tmp_path: Path) -> None:
    options = InfraOptions("bakers", queues=True, web=True)
    template = templates["bakers"]
    made = InfraPlan("cocli-stack-bakers", template, differences(None, template), is_new=True)
    done = deploy(workspace, account(), options, made)
    text = (tmp_path / "home" / "campaigns" / "bakers" / "config.toml").read_text()
    assert text.startswith('# ours\n[campaign]\nname = "bakers"  # who we are\n')
    for line in ('deploy_to = "s3://cocli-web-bakers"', 'guard = "edge"', 'role_claim = "cognito:groups"'):
        assert line in text
    assert 'url = "s3://cocli-data-bakers"' in text
    assert done.settings["auth.client_id"] == done.outputs["ClientId"]
    assert any("queue.provider=sqs" in hint for hint in done.hints)
    again = Stacks(account()).deploy("cocli-stack-bakers", template, "bakers")
    assert again.status == "CREATE_COMPLETE", "the same again changes nothing"
    assert differences(Stacks(account()).template("cocli-stack-bakers"), template) == []


def test_a_user_comes_with_a_password_for_one_login(cloud: LocalCloud, as_owner: LocalCloud) -> None:
    told: list[str] = []
    added = add_user(account(), "plumbers", "anna@example.com", "editor", told.append)
    assert (added.status, added.group) == ("added", "plumbers:editor")
    (password,) = told
    client = cloud.client("cognito-idp")
    outputs = read_stack(account(), "plumbers").outputs
    asked = {
        "UserPoolId": outputs["UserPool"],
        "ClientId": outputs["ClientId"],
        "AuthFlow": "ADMIN_USER_PASSWORD_AUTH",
        "AuthParameters": {"USERNAME": "anna@example.com", "PASSWORD": password},
    }
    assert client.admin_initiate_auth(**asked)["ChallengeName"] == "NEW_PASSWORD_REQUIRED"
    again = add_user(account(), "plumbers", "anna@example.com", "viewer", told.append)
    assert again.status == "already_there"
    assert len(told) == 1, "never told twice"
    assert remove_user(account(), "plumbers", "anna@example.com").status == "removed"
    assert remove_user(account(), "plumbers", "anna@example.com").status == "already_gone"


def test_a_password_that_nobody_took_leaves_no_user(cloud: LocalCloud, as_owner: LocalCloud) -> None:
    def full(password: str) -> None:
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space"):
        add_user(account(), "plumbers", "otto@example.com", "viewer", full)
    assert remove_user(account(), "plumbers", "otto@example.com").status == "already_gone"


def test_the_smoke_test_leaves_nobody_behind(cloud: LocalCloud, as_owner: LocalCloud) -> None:
    checks = smoke_test(account(), "plumbers")
    assert [(check.name, check.ok) for check in checks] == [("bucket", True), ("login", True)], checks
    pool = read_stack(account(), "plumbers").outputs["UserPool"]
    with throwaway_user(account(), "plumbers"):
        assert len(cloud.client("cognito-idp").list_users(UserPoolId=pool)["Users"]) == 1
    assert cloud.client("cognito-idp").list_users(UserPoolId=pool)["Users"] == []


def test_a_campaign_without_a_login_has_no_users(cloud: LocalCloud, as_owner: LocalCloud) -> None:
    with pytest.raises(InfraError, match="no pool of users"):
        remove_user(account(), "florists", "a@example.com")
    with pytest.raises(UnknownStack, match="Nothing is deployed for the campaign nobody"):
        read_stack(account(), "nobody")


# --- what is refused, before anything is made


@pytest.fixture
def described(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything but the CDK is real here: these tests do not need what it makes."""
    bucket = {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "cocli-data-millers"}}
    monkeypatch.setattr(deployment, "synthesise", lambda options: {"Resources": {"Data1": bucket}})


def test_a_template_keeps_old_versions_as_long_as_the_campaign_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("HOME", "COCLI_DATA_HOME", "COCLI_CONFIG", "COCLI_STATE_HOME", "COCLI_CACHE_HOME")
    environ = {name: str(tmp_path / name.lower()) for name in names}
    monkeypatch.setattr(deployment, "synthesise", lambda options: {"days": options.version_days})
    days = []
    for words in (
        ("campaign", "new", "millers", "--quiet"),
        ("infra", "template", "nobody"),
        ("infra", "template", "millers"),
        ("campaign", "edit", "millers", "--set", "retention.bucket_versions=90d", "--quiet"),
        ("infra", "template", "millers"),
    ):
        assert run(list(words), environ) == 0
        said = capsys.readouterr().out
        if words[0] == "infra":
            days.append(json.loads(said)["days"])
    assert days == [30, 30, 90]


def test_a_stack_of_somebody_else(as_owner: LocalCloud, described: None) -> None:
    topic = {"Resources": {"A": {"Type": "AWS::SNS::Topic"}}}
    as_owner.client("cloudformation").create_stack(StackName="cocli-stack-theirs", TemplateBody=json.dumps(topic))
    with pytest.raises(StackConflict, match="is not of cocli"):
        plan(account(), InfraOptions("theirs"))


def test_a_bucket_that_is_there(as_owner: LocalCloud, described: None) -> None:
    assert plan(account(), InfraOptions("millers")).is_new
    as_owner.client("s3").create_bucket(Bucket="cocli-data-millers")
    with pytest.raises(StackConflict, match="bucket cocli-data-millers exists already"):
        plan(account(), InfraOptions("millers"))


@pytest.mark.parametrize(
    "bad",
    [
        {"Type": "AWS::Nothing::AtAll"},
        {"Type": "AWS::Cognito::UserPoolGroup", "Properties": {"GroupName": "a", "UserPoolId": "us-east-1_none"}},
    ],
)
def test_what_cannot_be_made_is_undone(as_owner: LocalCloud, bad: dict[str, Any]) -> None:
    good = {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "cocli-data-undone"}}
    broken = {"Resources": {"Good": good, "Bad": bad | {"DependsOn": "Good"}}}
    with pytest.raises(DeploymentFailed):
        Stacks(account()).deploy("cocli-stack-undone", broken, "undone")
    assert Stacks(account()).find("cocli-stack-undone") is None
    buckets = as_owner.client("s3").list_buckets()["Buckets"]
    assert "cocli-data-undone" not in {bucket["Name"] for bucket in buckets}


def test_no_credentials(as_owner: LocalCloud, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(CloudRefused, match="no credentials were found") as caught:
        plan(account(), InfraOptions("millers"))
    assert "aws sso login" in str(caught.value.hint)


def test_wrong_credentials(as_owner: LocalCloud, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIANOBODY")
    with pytest.raises(CloudRefused, match="credentials: env"):
        plan(account(), InfraOptions("millers"))


def test_no_region_and_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_REGION")
    with pytest.raises(ConfigError, match="no region"):
        account()
    nowhere = AwsSection(region="us-east-1", endpoint="http://127.0.0.1:9")
    with pytest.raises(CloudUnavailable, match=r"127\.0\.0\.1:9"):
        CloudAccount(nowhere).identity()


def test_a_file_for_a_password_is_for_its_owner(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        from cocli.app.infra.password import password_file

        os.close(password_file(tmp_path / "p"))
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "p").stat().st_mode) == 0o600
