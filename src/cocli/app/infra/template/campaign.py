"""The whole stack of a campaign, as a template."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Any

from aws_cdk import App, BootstraplessSynthesizer, Stack, Tags

from cocli.app.infra.names import check_names, stack_name
from cocli.app.infra.options import ENRICHMENT
from cocli.app.infra.policies import PolicyPlace
from cocli.app.infra.template.alarms import add_alarms
from cocli.app.infra.template.buckets import add_data_bucket, add_web_bucket
from cocli.app.infra.template.pool import add_pool
from cocli.app.infra.template.queues import add_queues
from cocli.app.infra.template.roles import add_roles
from cocli.app.infra.template.service import add_service
from cocli.app.infra.template.site import add_site
from cocli.keys.resources import resource_name

if TYPE_CHECKING:
    from cocli.app.infra.options import InfraOptions

TAG = "cocli:campaign"


def campaign_template(options: InfraOptions) -> dict[str, Any]:
    """Made anew each time, the same for the same options."""
    check_names(options)
    with tempfile.TemporaryDirectory(prefix="cocli-infra-") as folder:
        app = App(outdir=folder, analytics_reporting=False)
        add_campaign(app, options)
        template: dict[str, Any] = app.synth().get_stack_by_name(stack_name(options.campaign)).template
    return template


def add_campaign(app: App, options: InfraOptions) -> Stack:
    campaign = options.campaign
    stack = Stack(
        app,
        stack_name(campaign),
        synthesizer=BootstraplessSynthesizer(),
        description=f"cocli: what the campaign {campaign} has in this account",
    )
    Tags.of(stack).add(TAG, campaign)
    bucket = add_data_bucket(stack, campaign, options.version_days)
    queues = add_queues(stack, campaign) if options.queues else None
    pages = add_web_bucket(stack, campaign) if options.web else None
    distribution = add_site(stack, campaign, pages, add_pool(stack, campaign)) if options.web else None
    tasks = {} if queues is None else queues.tasks
    place = PolicyPlace(
        campaign=campaign,
        bucket=bucket.bucket_name,
        queues=tuple(queue.queue_arn for queue in tasks.values()),
        commands=None if queues is None else queues.commands.queue_arn,
        enrichment_queue=tasks[ENRICHMENT].queue_arn if tasks else None,
        web_bucket=None if pages is None else pages.bucket_name,
        distribution=None if distribution is None else _global_arn(stack, f"distribution/{distribution.ref}"),
        service=_service_arn(stack, campaign) if options.image else None,
        stack=_stack_arn(stack, campaign),
        partition=stack.partition,
    )
    roles = add_roles(stack, place)
    if options.image:
        add_service(stack, options, roles[ENRICHMENT], tasks.get(ENRICHMENT))
    if options.email:
        add_alarms(stack, options, tasks)
    return stack


def _global_arn(stack: Stack, resource: str) -> str:
    return f"arn:{stack.partition}:cloudfront::{stack.account}:{resource}"


def _stack_arn(stack: Stack, campaign: str) -> str:
    """By its name: whoever deletes the stack and makes it again gets another id."""
    return f"arn:{stack.partition}:cloudformation:{stack.region}:{stack.account}:stack/{stack_name(campaign)}/*"


def _service_arn(stack: Stack, campaign: str) -> str:
    name = resource_name(ENRICHMENT, campaign)
    return f"arn:{stack.partition}:ecs:{stack.region}:{stack.account}:service/{name}/{name}"
