"""Who may do what, as policy documents: the same on AWS and on any server that enforces such policies.

A role reaches the folder of its campaign and the folders that the campaigns of a bucket share, and nothing of another
campaign. Nobody here may remove an old version of an object, change the bucket, or read the pool of users.

`s3:ListBucket` carries no condition on the prefix: S3 says "not found" only to who may list, and "refused" otherwise,
also where the condition is about another prefix. So whoever may read one folder of a bucket can see the names of all
objects in it; a campaign that must not be seen by another one takes a bucket of its own, which is the default.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

Policy: TypeAlias = "dict[str, Any]"

_SHARED = (
    *("indexes", "companies", "people", "status", "access", "evictions", "revocations"),
    *("catalog", "uploads", "probes", "suppressed", "forgotten", "subscriptions"),
)
"""Folders beside `campaigns/`. The first segment of a key; a test holds that none is missing."""
_READ = ("s3:GetObject",)
_WRITE = ("s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload")
_SQS_SEND = ("sqs:GetQueueUrl", "sqs:GetQueueAttributes", "sqs:SendMessage")
_SQS_WORK = (*_SQS_SEND, "sqs:ReceiveMessage", "sqs:ChangeMessageVisibility", "sqs:DeleteMessage")
ROLES = ("worker", "enrichment", "web", "deployer")
_NOWHERE = "nowhere-*"
"""Asked for by the store, to learn whether a server is one of S3."""


@dataclass(frozen=True, slots=True)
class PolicyPlace:
    """What the documents are about. ARNs are texts, or stand for what is known at deployment."""

    campaign: str
    bucket: str
    """Its name."""
    prefix: str = ""
    """Where in the bucket the store is."""
    queues: tuple[str, ...] = ()
    """ARNs of the queues with tasks."""
    commands: str | None = None
    """The ARN of the queue with commands."""
    enrichment_queue: str | None = None
    web_bucket: str | None = None
    distribution: str | None = None
    """The ARN of the distribution."""
    service: str | None = None
    """The ARN of the service."""
    stack: str | None = None
    """The ARN of the stack."""
    partition: str = "aws"

    def objects(self, *patterns: str, bucket: str | None = None) -> list[str]:
        start = f"{self.prefix.strip('/')}/" if self.prefix and bucket is None else ""
        return [f"arn:{self.partition}:s3:::{bucket or self.bucket}/{start}{pattern}" for pattern in patterns]

    @property
    def bucket_arn(self) -> str:
        return f"arn:{self.partition}:s3:::{self.bucket}"


def policy_of(role: str, place: PolicyPlace) -> Policy:
    statements = {
        "worker": _worker,
        "enrichment": _enrichment,
        "web": _web,
        "deployer": _deployer,
    }[role](place)
    return {"Version": "2012-10-17", "Statement": statements}


def _worker(place: PolicyPlace) -> list[Policy]:
    """All stages: lists, details, enrichment, and what follows them."""
    return [
        *_seeing(place),
        _allow("Data", _WRITE, place.objects(*_everything(place))),
        *_using("Queues", _SQS_WORK, (*place.queues, *_some(place.commands))),
    ]


def _enrichment(place: PolicyPlace) -> list[Policy]:
    """Reads websites, and writes what it found: no settings, no companies, no people."""
    mine = f"campaigns/{place.campaign}"
    folders = (f"{mine}/queues/*", f"{mine}/indexes/*", f"{mine}/quality/*", f"{mine}/reports/*")
    shared = ("indexes/*", "status/*", "access/*", "catalog/*", "uploads/*", "probes/*")
    return [
        *_seeing(place),
        _allow("Reading", _READ, place.objects(*_everything(place))),
        _allow("Writing", _WRITE, place.objects(*folders, *shared)),
        *_using("Queue", _SQS_WORK, _some(place.enrichment_queue)),
    ]


def _web(place: PolicyPlace) -> list[Policy]:
    """The dashboard: reads everything, changes what people change there, tells supervisors, writes its own bucket."""
    mine = f"campaigns/{place.campaign}"
    changed = (f"{mine}/*", "companies/*", "people/*", "evictions/*", "status/*", "indexes/*", "catalog/*", "probes/*")
    return [
        *_seeing(place),
        _allow("Reading", _READ, place.objects(*_everything(place))),
        _allow("Writing", _WRITE, place.objects(*changed)),
        *_publishing(place),
        *_using("Queues", _SQS_SEND, (*place.queues, *_some(place.commands))),
    ]


def _deployer(place: PolicyPlace) -> list[Policy]:
    """Brings a new release and a new dashboard; the infrastructure itself is changed by an administrator."""
    mine = f"campaigns/{place.campaign}"
    return [
        *_seeing(place),
        _allow("Settings", _READ, place.objects(f"{mine}/*", "status/*", _NOWHERE)),
        *_publishing(place),
        *_using("Service", ("ecs:UpdateService", "ecs:DescribeServices"), _some(place.service)),
        *_using("Outputs", ("cloudformation:DescribeStacks",), _some(place.stack)),
    ]


def _everything(place: PolicyPlace) -> tuple[str, ...]:
    return (f"campaigns/{place.campaign}/*", *(f"{folder}/*" for folder in _SHARED), _NOWHERE)


def _seeing(place: PolicyPlace) -> list[Policy]:
    return [_allow("Names", ("s3:ListBucket", "s3:GetBucketLocation"), [place.bucket_arn])]


def _publishing(place: PolicyPlace) -> list[Policy]:
    if place.web_bucket is None:
        return []
    bucket = f"arn:{place.partition}:s3:::{place.web_bucket}"
    return [
        _allow("Pages", _WRITE, [f"{bucket}/*"]),
        _allow("PageNames", ("s3:ListBucket", "s3:GetBucketLocation"), [bucket]),
        *_using("Invalidation", ("cloudfront:CreateInvalidation",), _some(place.distribution)),
    ]


def _using(name: str, actions: tuple[str, ...], resources: tuple[str, ...]) -> list[Policy]:
    return [_allow(name, actions, list(resources))] if resources else []


def _some(resource: str | None) -> tuple[str, ...]:
    return () if resource is None else (resource,)


def _allow(name: str, actions: tuple[str, ...], resources: list[str]) -> Policy:
    return {"Sid": name, "Effect": "Allow", "Action": list(actions), "Resource": resources}
