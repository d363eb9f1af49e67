"""Copies of changed files at the edge are made invalid, so that people see the new ones at once."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from cocli.errors import MissingExtra, Unavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST = 100
"""More paths than this are invalidated together: each one costs."""


def invalidate(distribution: str, paths: Sequence[str], *, nonce: str, profile: str | None = None) -> str | None:
    """Ask CloudFront to forget these paths; the id of the invalidation, None where there was nothing to forget."""
    if not paths:
        return None
    try:
        import boto3
        from botocore.exceptions import BotoCoreError, ClientError
    except ImportError as error:
        raise MissingExtra(feature="Invalidation at CloudFront", package="boto3", extra="aws") from error
    items = [f"/{quote(path)}" for path in paths] if len(paths) <= _MOST else ["/*"]
    if "/index.html" in items:
        items.append("/")
    try:
        client = boto3.Session(profile_name=profile).client("cloudfront", region_name="us-east-1")
        answer = client.create_invalidation(
            DistributionId=distribution,
            InvalidationBatch={"Paths": {"Quantity": len(items), "Items": items}, "CallerReference": nonce},
        )
    except (BotoCoreError, ClientError) as error:
        raise Unavailable(address=f"CloudFront distribution {distribution}", reason=str(error)) from error
    return str(answer["Invalidation"]["Id"])
