"""The templates: what must be in them, and what cfn-lint says of them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.infra.conftest import Templates
from tests.kit.servers import executable


def of_type(template: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [body["Properties"] for body in template["Resources"].values() if body["Type"] == f"AWS::{kind}"]


@pytest.mark.parametrize("name", ["small", "plumbers", "full", "fixed"])
def test_cfn_lint_has_nothing_to_say(templates: Templates, tmp_path: Path, name: str) -> None:
    file = tmp_path / f"{name}.json"
    file.write_text(json.dumps(templates[name]))
    done = subprocess.run([executable("cfn-lint"), "--template", str(file)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_small_stack_costs_nothing(templates: Templates) -> None:
    kinds = {body["Type"] for body in templates["small"]["Resources"].values()}
    assert kinds == {"AWS::S3::Bucket", "AWS::S3::BucketPolicy", "AWS::IAM::Role"}


def test_templates_fit_into_a_request(templates: Templates) -> None:
    assert max(len(json.dumps(template, separators=(",", ":"))) for template in templates.values()) < 51_200


def test_the_bucket_is_private_versioned_encrypted_and_kept(templates: Templates) -> None:
    (body,) = [body for body in templates["small"]["Resources"].values() if body["Type"] == "AWS::S3::Bucket"]
    assert (body["DeletionPolicy"], body["UpdateReplacePolicy"]) == ("Retain", "Retain")
    bucket = body["Properties"]
    assert bucket["BucketName"] == "cocli-data-plumbers"
    assert all(bucket["PublicAccessBlockConfiguration"].values())
    assert len(bucket["PublicAccessBlockConfiguration"]) == 4
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    assert bucket["BucketEncryption"]
    rules = {rule["Id"]: rule for rule in bucket["LifecycleConfiguration"]["Rules"]}
    assert rules["old-versions"]["NoncurrentVersionExpiration"] == {"NoncurrentDays": 30}
    assert {rules[name]["Prefix"] for name in ("busy-1", "busy-2")} == {"status/", "campaigns/plumbers/queues/"}
    assert not any("ExpirationInDays" in rule for rule in rules.values()), "no object itself goes away"


def test_everything_has_the_name_of_its_campaign(templates: Templates) -> None:
    names = [
        value
        for body in templates["full"]["Resources"].values()
        for key, value in body.get("Properties", {}).items()
        if isinstance(value, str)
        and key in {"BucketName", "QueueName", "RoleName", "UserPoolName", "FunctionName", "ServiceName", "ClusterName"}
    ]
    assert len(names) >= 14
    assert all(name.startswith("cocli-") and "-plumbers" in name for name in names), names


def test_no_secret_stands_in_a_template(templates: Templates) -> None:
    (guard,) = of_type(templates["full"], "CloudFront::Function")
    assert "{{resolve:secretsmanager:cocli-login-plumbers:SecretString}}" in guard["FunctionCode"]
    assert "@KEY@" not in guard["FunctionCode"]


def test_the_service_is_read_only_unprivileged_and_on_spot(templates: Templates) -> None:
    (task,) = of_type(templates["full"], "ECS::TaskDefinition")
    (container,) = task["ContainerDefinitions"]
    assert container["ReadonlyRootFilesystem"]
    assert container["User"] == "10001:10001"
    assert container["LinuxParameters"]["InitProcessEnabled"]
    (service,) = of_type(templates["full"], "ECS::Service")
    assert service["CapacityProviderStrategy"] == [{"CapacityProvider": "FARGATE_SPOT", "Weight": 1}]
    assert service["DesiredCount"] == 0
    (scale,) = of_type(templates["full"], "ApplicationAutoScaling::ScalableTarget")
    assert (scale["MinCapacity"], scale["MaxCapacity"]) == (0, 4)
    (fixed,) = of_type(templates["fixed"], "ECS::Service")
    assert fixed["DesiredCount"] == 3, "without queues nothing scales it"
    assert of_type(templates["fixed"], "ApplicationAutoScaling::ScalableTarget") == []


def test_somebody_is_told_of_stalls_and_cost(templates: Templates) -> None:
    stalls = [
        alarm for alarm in of_type(templates["full"], "CloudWatch::Alarm") if "stall" in alarm.get("AlarmName", "")
    ]
    assert {alarm["MetricName"] for alarm in stalls} == {"ApproximateAgeOfOldestMessage"}
    assert len(stalls) == 3
    (budget,) = of_type(templates["full"], "Budgets::Budget")
    assert budget["Budget"]["BudgetLimit"] == {"Amount": 20, "Unit": "USD"}


def test_the_pool_takes_nobody_who_was_not_added(templates: Templates) -> None:
    (pool,) = of_type(templates["plumbers"], "Cognito::UserPool")
    assert pool["AdminCreateUserConfig"]["AllowAdminCreateUserOnly"]
    (client,) = of_type(templates["plumbers"], "Cognito::UserPoolClient")
    assert client["AllowedOAuthFlows"] == ["code"]
    assert not client["GenerateSecret"]
    groups = {group["GroupName"] for group in of_type(templates["plumbers"], "Cognito::UserPoolGroup")}
    assert groups == {"plumbers:viewer", "plumbers:editor", "plumbers:admin"}
