"""The pool of users: nobody signs up alone, groups are roles of this campaign."""

from __future__ import annotations

from typing import Any, NamedTuple

from aws_cdk import CfnOutput, Stack
from aws_cdk import aws_cognito as cognito

from cocli.keys.resources import resource_name

GROUPS = ("viewer", "editor", "admin")


class TemplatePool(NamedTuple):
    """What was made."""

    pool: Any
    pages: str
    """The address of the login page."""


def add_pool(stack: Stack, campaign: str) -> TemplatePool:
    name = resource_name("users", campaign)
    pool = cognito.CfnUserPool(
        stack,
        "Users",
        user_pool_name=name,
        admin_create_user_config=cognito.CfnUserPool.AdminCreateUserConfigProperty(allow_admin_create_user_only=True),
        account_recovery_setting=cognito.CfnUserPool.AccountRecoverySettingProperty(
            recovery_mechanisms=[cognito.CfnUserPool.RecoveryOptionProperty(name="verified_email", priority=1)]
        ),
        auto_verified_attributes=["email"],
        username_attributes=["email"],
        mfa_configuration="OPTIONAL",
        enabled_mfas=["SOFTWARE_TOKEN_MFA"],
        deletion_protection="ACTIVE",
        policies=cognito.CfnUserPool.PoliciesProperty(
            password_policy=cognito.CfnUserPool.PasswordPolicyProperty(
                minimum_length=14,
                require_lowercase=True,
                require_uppercase=True,
                require_numbers=True,
                require_symbols=True,
                temporary_password_validity_days=3,
            )
        ),
    )
    domain = resource_name("login", campaign)
    cognito.CfnUserPoolDomain(stack, "LoginPage", domain=domain, user_pool_id=pool.ref)
    for group in GROUPS:
        cognito.CfnUserPoolGroup(
            stack, f"Group{group.capitalize()}", group_name=f"{campaign}:{group}", user_pool_id=pool.ref
        )
    CfnOutput(stack, "UserPool", value=pool.ref)
    issuer = f"https://cognito-idp.{stack.region}.{stack.url_suffix}/{pool.ref}"
    CfnOutput(stack, "Issuer", value=issuer)
    return TemplatePool(pool, f"https://{domain}.auth.{stack.region}.amazoncognito.com")


def add_client(stack: Stack, campaign: str, pool: Any, site: str) -> Any:
    """A public client with a code and a proof of it; administrators may log in for a test."""
    client = cognito.CfnUserPoolClient(
        stack,
        "Client",
        client_name=resource_name("client", campaign),
        user_pool_id=pool.ref,
        generate_secret=False,
        allowed_o_auth_flows=["code"],
        allowed_o_auth_flows_user_pool_client=True,
        allowed_o_auth_scopes=["openid", "email", "profile"],
        callback_ur_ls=[f"{site}/auth/callback", "http://localhost:8765/auth/callback"],
        logout_ur_ls=[f"{site}/auth/login"],
        supported_identity_providers=["COGNITO"],
        explicit_auth_flows=["ALLOW_ADMIN_USER_PASSWORD_AUTH", "ALLOW_REFRESH_TOKEN_AUTH", "ALLOW_USER_SRP_AUTH"],
        prevent_user_existence_errors="ENABLED",
        enable_token_revocation=True,
    )
    CfnOutput(stack, "ClientId", value=client.ref)
    return client
