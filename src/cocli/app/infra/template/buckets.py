"""The bucket of a campaign's store, and that of its dashboard: private, encrypted, TLS only."""

from __future__ import annotations

from typing import Any

from aws_cdk import CfnOutput, Duration, RemovalPolicy, Stack
from aws_cdk import aws_s3 as s3

from cocli.app.infra.names import data_bucket, web_bucket

_BUSY_DAYS = 1
"""… of what is written every few seconds: leases, heartbeats, counts. Their versions would be most of the bill."""
_UPLOAD_DAYS = 1


def add_data_bucket(stack: Stack, campaign: str, kept_days: int) -> Any:
    """The store. It stays when the stack is deleted, and so do the versions in it. So many days an old version of an
    object can be brought back: `[retention] bucket_versions` of the campaign."""
    busy = ("status/", f"campaigns/{campaign}/queues/")
    rules = [
        s3.LifecycleRule(
            id="old-versions",
            noncurrent_version_expiration=Duration.days(kept_days),
            abort_incomplete_multipart_upload_after=Duration.days(_UPLOAD_DAYS),
            expired_object_delete_marker=True,
        ),
        *(
            s3.LifecycleRule(
                id=f"busy-{number}", prefix=folder, noncurrent_version_expiration=Duration.days(_BUSY_DAYS)
            )
            for number, folder in enumerate(busy, 1)
        ),
    ]
    bucket = _bucket(stack, "Data", data_bucket(campaign), versioned=True, rules=rules)
    CfnOutput(stack, "DataBucket", value=bucket.bucket_name)
    return bucket


def add_web_bucket(stack: Stack, campaign: str) -> Any:
    """What `web deploy` writes: made anew at any time, so without versions."""
    bucket = _bucket(stack, "Pages", web_bucket(campaign), versioned=False, rules=[])
    CfnOutput(stack, "WebBucket", value=bucket.bucket_name)
    return bucket


def _bucket(stack: Stack, name: str, bucket_name: str, *, versioned: bool, rules: list[Any]) -> Any:
    return s3.Bucket(
        stack,
        name,
        bucket_name=bucket_name,
        versioned=versioned,
        encryption=s3.BucketEncryption.S3_MANAGED,
        block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
        object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
        enforce_ssl=True,
        lifecycle_rules=rules,
        removal_policy=RemovalPolicy.RETAIN,
    )
