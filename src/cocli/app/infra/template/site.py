"""The dashboard as files: CloudFront in front of a private bucket, a guard before every request, and the login."""

from __future__ import annotations

import string
from importlib import resources
from typing import Any

from aws_cdk import CfnOutput, Fn, Stack
from aws_cdk import aws_cloudfront as cloudfront
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as functions
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_ssm as ssm

from cocli.app.infra.template.pool import TemplatePool, add_client
from cocli.keys.resources import resource_name

# Policies that CloudFront brings along; their ids are the same in every account.
_NO_CACHE = "4135ea2d-6df8-44a3-9df3-4b5a84be39ad"
_CACHE = "658327ea-f89d-4fab-a63d-7e88639e58f6"
_ALL_BUT_HOST = "b689b0a8-53d0-40ab-baf2-68738e2966ac"
_SECURE_HEADERS = "67f7725c-6f97-4210-82d7-5512b31e9d03"
_BASIC = "arn:{}:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"


def add_site(stack: Stack, campaign: str, bucket: Any, pool: TemplatePool) -> Any:
    """The distribution."""
    secret = secretsmanager.CfnSecret(
        stack,
        "Signing",
        name=resource_name("login", campaign),
        generate_secret_string=secretsmanager.CfnSecret.GenerateSecretStringProperty(
            password_length=64,
            exclude_punctuation=True,
            exclude_characters=string.punctuation,  # the key stands between quotes in the guard
        ),
    )
    guard = _guard(stack, campaign, secret)
    login = _login(stack, campaign)
    distribution = _distribution(stack, campaign, bucket, guard, login)
    site = f"https://{distribution.attr_domain_name}"
    _open_to(stack, distribution, bucket, login)
    client = add_client(stack, campaign, pool.pool, site)
    ssm.CfnParameter(
        stack,
        "LoginSettings",
        name=resource_name("login", campaign),
        type="String",
        value=Fn.join("", ['{"client": "', client.ref, '", "pages": "', pool.pages, '"}']),
    )
    CfnOutput(stack, "Distribution", value=distribution.ref)
    CfnOutput(stack, "Site", value=site)
    return distribution


def edge_file(name: str) -> str:
    return (resources.files("cocli.app.infra.edge") / name).read_text("utf-8")


def _guard(stack: Stack, campaign: str, secret: Any) -> Any:
    """The key is put in at deployment, by CloudFormation: it stands in no template."""
    key = f"{{{{resolve:secretsmanager:{resource_name('login', campaign)}:SecretString}}}}"
    guard = cloudfront.CfnFunction(
        stack,
        "Guard",
        name=resource_name("guard", campaign),
        auto_publish=True,
        function_code=edge_file("guard.js").replace("@KEY@", key),
        function_config=cloudfront.CfnFunction.FunctionConfigProperty(
            comment="Who may read the dashboard", runtime="cloudfront-js-2.0"
        ),
    )
    guard.add_resource_dependency(secret)
    return guard


def _login(stack: Stack, campaign: str) -> Any:
    name = resource_name("login", campaign)
    parameter = f"arn:{stack.partition}:ssm:{stack.region}:{stack.account}:parameter/{name}"
    # AWS puts a dash and six letters of its own behind the name.
    key = f"arn:{stack.partition}:secretsmanager:{stack.region}:{stack.account}:secret:{name}-??????"
    reading = {
        "Version": "2012-10-17",
        "Statement": [
            {"Effect": "Allow", "Action": "secretsmanager:GetSecretValue", "Resource": key},
            {"Effect": "Allow", "Action": "ssm:GetParameter", "Resource": parameter},
        ],
    }
    trust = {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
    role = iam.CfnRole(
        stack,
        "RoleLogin",
        role_name=name,
        assume_role_policy_document={"Version": "2012-10-17", "Statement": [trust]},
        managed_policy_arns=[_BASIC.format(stack.partition)],
        policies=[iam.CfnRole.PolicyProperty(policy_name=name, policy_document=reading)],
    )
    return functions.CfnFunction(
        stack,
        "Login",
        function_name=name,
        runtime="python3.13",
        architectures=["arm64"],
        handler="index.handler",
        role=role.attr_arn,
        timeout=15,
        memory_size=256,
        code=functions.CfnFunction.CodeProperty(zip_file=edge_file("login.py")),
        environment=functions.CfnFunction.EnvironmentProperty(variables={"PARAMETER": name, "SECRET": name}),
    )


def _distribution(stack: Stack, campaign: str, bucket: Any, guard: Any, login: Any) -> Any:
    url = functions.CfnUrl(stack, "LoginUrl", target_function_arn=login.attr_arn, auth_type="AWS_IAM")
    host = Fn.select(2, Fn.split("/", url.attr_function_url))
    guarded = [
        cloudfront.CfnDistribution.FunctionAssociationProperty(
            event_type="viewer-request", function_arn=guard.attr_function_arn
        )
    ]
    common: dict[str, Any] = {
        "viewer_protocol_policy": "redirect-to-https",
        "function_associations": guarded,
        "response_headers_policy_id": _SECURE_HEADERS,
        "compress": True,
    }
    pages = cloudfront.CfnDistribution.OriginProperty(
        id="pages",
        domain_name=bucket.bucket_regional_domain_name,
        s3_origin_config=cloudfront.CfnDistribution.S3OriginConfigProperty(origin_access_identity=""),
        origin_access_control_id=_control(stack, campaign, "pages", "s3"),
    )
    asking = cloudfront.CfnDistribution.OriginProperty(
        id="login",
        domain_name=host,
        custom_origin_config=cloudfront.CfnDistribution.CustomOriginConfigProperty(
            origin_protocol_policy="https-only", origin_ssl_protocols=["TLSv1.2"]
        ),
        origin_access_control_id=_control(stack, campaign, "login", "lambda"),
    )
    config = cloudfront.CfnDistribution.DistributionConfigProperty(
        enabled=True,
        comment=resource_name("web", campaign),
        http_version="http2and3",
        price_class="PriceClass_100",
        default_root_object="index.html",
        origins=[pages, asking],
        default_cache_behavior=cloudfront.CfnDistribution.DefaultCacheBehaviorProperty(
            target_origin_id="pages", cache_policy_id=_CACHE, **common
        ),
        cache_behaviors=[
            cloudfront.CfnDistribution.CacheBehaviorProperty(
                path_pattern="/auth/*",
                target_origin_id="login",
                cache_policy_id=_NO_CACHE,
                origin_request_policy_id=_ALL_BUT_HOST,
                **common,
            )
        ],
        viewer_certificate=cloudfront.CfnDistribution.ViewerCertificateProperty(cloud_front_default_certificate=True),
    )
    return cloudfront.CfnDistribution(stack, "Front", distribution_config=config)


def _control(stack: Stack, campaign: str, resource: str, kind: str) -> str:
    """CloudFront signs what it asks: nobody else is answered."""
    made = cloudfront.CfnOriginAccessControl(
        stack,
        f"Control{resource.capitalize()}",
        origin_access_control_config=cloudfront.CfnOriginAccessControl.OriginAccessControlConfigProperty(
            name=resource_name(resource, campaign),
            origin_access_control_origin_type=kind,
            signing_behavior="always",
            signing_protocol="sigv4",
        ),
    )
    return str(made.attr_id)


def _open_to(stack: Stack, distribution: Any, bucket: Any, login: Any) -> None:
    """The bucket and the login answer this distribution, and nobody else."""
    arn = f"arn:{stack.partition}:cloudfront::{stack.account}:distribution/{distribution.ref}"
    bucket.add_to_resource_policy(
        iam.PolicyStatement(
            principals=[iam.ServicePrincipal("cloudfront.amazonaws.com")],
            actions=["s3:GetObject"],
            resources=[bucket.arn_for_objects("*")],
            conditions={"StringEquals": {"AWS:SourceArn": arn}},
        )
    )
    for number, action in enumerate(("lambda:InvokeFunctionUrl", "lambda:InvokeFunction"), 1):
        functions.CfnPermission(
            stack,
            f"LoginPermission{number}",
            action=action,
            function_name=login.ref,
            principal="cloudfront.amazonaws.com",
            source_arn=arn,
        )
