"""The roles: worker, enrichment, web, deployer. Their policies are plain documents of `cocli.app.infra.policies`."""

from __future__ import annotations

from typing import Any

from aws_cdk import CfnOutput, Stack
from aws_cdk import aws_iam as iam

from cocli.app.infra.policies import ROLES, PolicyPlace, policy_of
from cocli.keys.resources import resource_name

_TASKS = "ecs-tasks.amazonaws.com"
_HOURS = 12


def add_roles(stack: Stack, place: PolicyPlace) -> dict[str, Any]:
    return {role: _role(stack, role, place) for role in ROLES}


def _role(stack: Stack, role: str, place: PolicyPlace) -> Any:
    """Assumed by people and machines of this account who are allowed to, and by tasks of Fargate."""
    services = [] if role == "deployer" else [_TASKS]
    made = iam.CfnRole(
        stack,
        f"Role{role.capitalize()}",
        role_name=resource_name(role, place.campaign),
        assume_role_policy_document=_trust(stack, services),
        max_session_duration=_HOURS * 3600,
        policies=[
            iam.CfnRole.PolicyProperty(
                policy_name=resource_name(role, place.campaign), policy_document=policy_of(role, place)
            )
        ],
    )
    CfnOutput(stack, f"{role.capitalize()}Role", value=made.attr_arn)
    return made


def _trust(stack: Stack, services: list[str]) -> dict[str, Any]:
    principals: list[dict[str, str]] = [{"AWS": f"arn:{stack.partition}:iam::{stack.account}:root"}]
    principals += [{"Service": service} for service in services]
    statements = [{"Effect": "Allow", "Principal": who, "Action": "sts:AssumeRole"} for who in principals]
    return {"Version": "2012-10-17", "Statement": statements}
