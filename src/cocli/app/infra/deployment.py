"""From what a campaign wants to what is deployed, and back into its file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cocli.app.campaigns.campaign import edit_campaign, has_records
from cocli.app.infra.cloud import CloudAccount, error_code
from cocli.app.infra.names import check_names, data_bucket, stack_name, web_bucket
from cocli.app.infra.node import find_node
from cocli.app.infra.stack import ResourceChange, Stacks, check_usable, differences
from cocli.config.edit import ConfigChange, Operator
from cocli.errors import MissingExtra, StackConflict, UnknownStack
from cocli.queue.providers import provider_of

if TYPE_CHECKING:
    from cocli.app.infra.options import InfraOptions
    from cocli.app.infra.stack import DeployedStack
    from cocli.app.workspace import Campaign, Workspace


@dataclass(frozen=True, slots=True)
class InfraPlan:
    """What a deployment would do."""

    name: str
    template: dict[str, Any] = field(repr=False)
    changes: list[ResourceChange]
    is_new: bool


@dataclass(frozen=True, slots=True)
class Deployed:
    """What a deployment did."""

    name: str
    changes: list[ResourceChange]
    outputs: dict[str, str]
    settings: dict[str, str]
    """What was written into the campaign's file."""
    hints: list[str]


def synthesise(options: InfraOptions) -> dict[str, Any]:
    """The template. Needs the extra `infra`, and takes some seconds."""
    check_names(options)
    find_node()
    try:
        from cocli.app.infra.template.campaign import campaign_template
    except ImportError as error:
        raise MissingExtra(feature="cocli infra", package="aws-cdk-lib", extra="infra") from error
    return campaign_template(options)


def plan(account: CloudAccount, options: InfraOptions) -> InfraPlan:
    """Nothing is made. Everything that can be refused beforehand is refused here."""
    check_names(options)
    account.identity()
    stacks = Stacks(account)
    name = stack_name(options.campaign)
    found = stacks.find(name)
    check_usable(name, found, options.campaign)
    template = synthesise(options)
    changes = differences(stacks.template(name) if found else None, template)
    _refuse_taken_buckets(account, name, changes)
    return InfraPlan(name, template, changes, is_new=found is None)


def deploy(workspace: Workspace, account: CloudAccount, options: InfraOptions, made: InfraPlan) -> Deployed:
    stack = Stacks(account).deploy(made.name, made.template, options.campaign)
    written, hints = write_outputs(workspace, account, options.campaign, stack)
    return Deployed(made.name, made.changes, stack.outputs, written, hints)


def read_stack(account: CloudAccount, campaign: str) -> DeployedStack:
    found = Stacks(account).find(stack_name(campaign))
    if found is None:
        raise UnknownStack(campaign=campaign, name=stack_name(campaign))
    check_usable(found.name, found, campaign)
    return found


def write_outputs(
    workspace: Workspace, account: CloudAccount, campaign: str, stack: DeployedStack
) -> tuple[dict[str, str], list[str]]:
    """The outputs as settings of the campaign's file, whose comments stay; and what is left to its owner."""
    current = workspace.campaign(campaign)
    wanted = _settings(account, stack.outputs)
    hints: list[str] = []
    address = wanted["storage.url"]
    if not str(current.settings.store.value).startswith(address) and _is_in_use(current):
        wanted = {key: value for key, value in wanted.items() if not key.startswith("storage.")}
        hints.append(f"cocli campaign edit {campaign} --set storage.url={address}")
        hints.append(f"cocli sync push -c {campaign}")
    if "Queues" in stack.outputs and provider_of(current.settings.model()).lists_pending:
        hints.append(f"cocli campaign edit {campaign} --set queue.provider=sqs")
    changes = [ConfigChange(tuple(key.split(".")), Operator.SET, value) for key, value in wanted.items()]
    edit_campaign(workspace, campaign, changes)
    return wanted, hints


def _settings(account: CloudAccount, outputs: dict[str, str]) -> dict[str, str]:
    settings = {"aws.region": account.region}
    if site := outputs.get("Site"):
        settings |= {
            "web.deploy_to": f"s3://{outputs['WebBucket']}",
            "web.guard": "edge",
            "web.distribution": outputs["Distribution"],
            "web.url": site,
            "auth.issuer": outputs["Issuer"],
            "auth.client_id": outputs["ClientId"],
            "auth.role_claim": "cognito:groups",
        }
    settings |= {"storage.url": f"s3://{outputs['DataBucket']}", "storage.region": account.region}
    if account.endpoint:
        settings["storage.endpoint"] = account.endpoint
    return settings


def _is_in_use(campaign: Campaign) -> bool:
    """Whether its data lies somewhere: then naming another store would split it."""
    return campaign.signpost is not None or has_records(campaign)


def _refuse_taken_buckets(account: CloudAccount, name: str, changes: list[ResourceChange]) -> None:
    """The names of buckets are shared by the whole world, and a bucket stays when its stack is deleted."""
    from botocore.exceptions import ClientError

    added = {change.name for change in changes if change.action == "add" and change.kind == "AWS::S3::Bucket"}
    campaign = name.removeprefix("cocli-stack-")
    wanted = {"Data": data_bucket(campaign), "Pages": web_bucket(campaign)}
    for start, bucket in wanted.items():
        if not any(logical.startswith(start) for logical in added):
            continue
        try:
            account.client("s3").head_bucket(Bucket=bucket)
        except ClientError as error:
            if error_code(error) in ("404", "NoSuchBucket", "NotFound"):
                continue
            reason = f"the bucket {bucket} exists already and belongs to somebody else"
            raise StackConflict(name=name, reason=reason, hint="Make a campaign with another name.") from error
        reason = f"the bucket {bucket} exists already, from an earlier deployment or made by hand"
        hint = f"If nobody needs what is in it: aws s3 rb --force s3://{bucket}. Nothing was deployed."
        raise StackConflict(name=name, reason=reason, hint=hint)
