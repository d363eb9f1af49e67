"""The users of a campaign's pool: added with a one-time password, removed, and one that is thrown away after a test."""

from __future__ import annotations

import re
import secrets
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from cocli.app.infra.cloud import error_code
from cocli.app.infra.deployment import read_stack
from cocli.app.infra.password import new_password
from cocli.errors import InfraError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cocli.app.infra.cloud import CloudAccount

USER_ROLES = ("viewer", "editor", "admin")
_EMAIL = re.compile(r"[^@\s]{1,64}@[^@\s.]+(?:\.[^@\s.]+)+\Z")


class PoolUser(NamedTuple):
    """Who was added or removed."""

    email: str
    pool: str
    group: str
    status: str


def add_user(account: CloudAccount, campaign: str, email: str, role: str, hand_over: Callable[[str], None]) -> PoolUser:
    """`hand_over` gets the password, once. If it fails, the user is removed: nobody would know how to log in."""
    if not _EMAIL.match(email):
        raise UsageError(reason=f'"{email}" is no e-mail address')
    pool, group = pool_of(account, campaign), f"{campaign}:{role}"
    client = account.client("cognito-idp")
    from botocore.exceptions import ClientError

    password = new_password()
    with account.mapped(f"to add {email} to {pool}"):
        try:
            client.admin_create_user(
                UserPoolId=pool,
                Username=email,
                TemporaryPassword=password,
                MessageAction="SUPPRESS",
                UserAttributes=[{"Name": "email", "Value": email}, {"Name": "email_verified", "Value": "true"}],
            )
        except ClientError as error:
            if error_code(error) != "UsernameExistsException":
                raise
            client.admin_add_user_to_group(UserPoolId=pool, Username=email, GroupName=group)
            return PoolUser(email, pool, group, "already_there")
        try:
            client.admin_add_user_to_group(UserPoolId=pool, Username=email, GroupName=group)
            hand_over(password)
        except BaseException:
            client.admin_delete_user(UserPoolId=pool, Username=email)
            raise
    return PoolUser(email, pool, group, "added")


def remove_user(account: CloudAccount, campaign: str, email: str) -> PoolUser:
    from botocore.exceptions import ClientError

    pool = pool_of(account, campaign)
    client = account.client("cognito-idp")
    with account.mapped(f"to remove {email} from {pool}"):
        try:
            client.admin_user_global_sign_out(UserPoolId=pool, Username=email)
            client.admin_delete_user(UserPoolId=pool, Username=email)
        except ClientError as error:
            if error_code(error) != "UserNotFoundException":
                raise
            return PoolUser(email, pool, "", "already_gone")
    return PoolUser(email, pool, "", "removed")


@contextmanager
def throwaway_user(account: CloudAccount, campaign: str, role: str = "viewer") -> Iterator[tuple[str, str]]:
    """E-mail address and password of a user who exists only inside of the `with`."""
    pool = pool_of(account, campaign)
    client = account.client("cognito-idp")
    email, password = f"test-{secrets.token_hex(8)}@example.invalid", new_password()
    with account.mapped(f"to add a user for a test to {pool}"):
        client.admin_create_user(
            UserPoolId=pool,
            Username=email,
            TemporaryPassword=new_password(),
            MessageAction="SUPPRESS",
            UserAttributes=[{"Name": "email", "Value": email}, {"Name": "email_verified", "Value": "true"}],
        )
    try:
        with account.mapped(f"to prepare a user for a test in {pool}"):
            client.admin_set_user_password(UserPoolId=pool, Username=email, Password=password, Permanent=True)
            client.admin_add_user_to_group(UserPoolId=pool, Username=email, GroupName=f"{campaign}:{role}")
        yield email, password
    finally:
        with account.mapped(f"to remove the user of a test from {pool}"):
            client.admin_delete_user(UserPoolId=pool, Username=email)


def pool_of(account: CloudAccount, campaign: str) -> str:
    pool = read_stack(account, campaign).outputs.get("UserPool")
    if not pool:
        hint = f"Deploy it with a login: cocli infra deploy {campaign} --web"
        raise InfraError(reason=f"the campaign {campaign} has no pool of users", hint=hint)
    return pool
