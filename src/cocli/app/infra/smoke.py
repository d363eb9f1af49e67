"""A smoke test of what is deployed: can somebody log in, and does the bucket refuse who has no credentials?"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, NamedTuple

from cocli.app.infra.deployment import read_stack
from cocli.app.infra.users import throwaway_user
from cocli.errors import InfraError

if TYPE_CHECKING:
    from cocli.app.infra.cloud import CloudAccount


class SmokeCheck(NamedTuple):
    """One thing that was tried."""

    name: str
    ok: bool
    detail: str


def smoke_test(account: CloudAccount, campaign: str) -> list[SmokeCheck]:
    """Leaves nothing behind: the user who logs in exists for this test alone."""
    outputs = read_stack(account, campaign).outputs
    checks = [_stranger(account, outputs["DataBucket"])]
    if "UserPool" in outputs:
        checks.append(_login(account, campaign, outputs))
    return checks


def _stranger(account: CloudAccount, bucket: str) -> SmokeCheck:
    import boto3
    from botocore import UNSIGNED
    from botocore.config import Config
    from botocore.exceptions import ClientError

    client = boto3.client(
        "s3", region_name=account.region, endpoint_url=account.endpoint, config=Config(signature_version=UNSIGNED)
    )
    with account.mapped(f"to look at {bucket}"):
        try:
            client.list_objects_v2(Bucket=bucket, MaxKeys=1)
        except ClientError as error:
            refused = error.response["ResponseMetadata"]["HTTPStatusCode"] in (401, 403)
            return SmokeCheck("bucket", refused, f"{bucket} answers a stranger with {error.response['Error']['Code']}")
    return SmokeCheck("bucket", ok=False, detail=f"everybody can list {bucket}")


def _login(account: CloudAccount, campaign: str, outputs: dict[str, str]) -> SmokeCheck:
    client = account.client("cognito-idp")
    with throwaway_user(account, campaign) as (email, password), account.mapped("to log in"):
        answer = client.admin_initiate_auth(
            UserPoolId=outputs["UserPool"],
            ClientId=outputs["ClientId"],
            AuthFlow="ADMIN_USER_PASSWORD_AUTH",
            AuthParameters={"USERNAME": email, "PASSWORD": password},
        )
    result = answer.get("AuthenticationResult") or {}
    groups = _claims(result.get("IdToken", "")).get("cognito:groups", [])
    is_good = groups == [f"{campaign}:viewer"]
    return SmokeCheck("login", is_good, f"a user of this test logged in, with the groups {groups}")


def _claims(token: str) -> dict[str, list[str]]:
    try:
        body = token.split(".")[1]
        said: dict[str, list[str]] = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    except (IndexError, ValueError) as error:
        raise InfraError(reason="the login gave no token") from error
    return said
