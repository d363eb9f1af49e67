"""What is wanted of the infrastructure of one campaign."""

from __future__ import annotations

from dataclasses import dataclass

QUEUES = ("gm-list", "gm-details", "enrichment")
ENRICHMENT = "enrichment"


@dataclass(frozen=True, slots=True)
class InfraOptions:
    """One stack. Without a queue, a login and an image it costs nothing but what lies in its bucket."""

    campaign: str
    queues: bool = False
    """Queues on SQS, for `[queue] provider = "sqs"`."""
    web: bool = False
    """A bucket for the dashboard, CloudFront in front of it, and a pool of users."""
    image: str | None = None
    """The image of the enrichment service on Fargate; without one there is no service."""
    tasks: int = 4
    """How many tasks the service has at most; with queues none while nothing waits, otherwise always so many."""
    email: str | None = None
    """Who is told of stalls and cost."""
    dollars: int = 20
    """Of a month, from which on somebody is told."""
    version_days: int = 30
    """How long the bucket keeps what was removed or replaced, by `[retention] bucket_versions`."""
    architecture: str = "ARM64"
