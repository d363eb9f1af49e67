"""`cocli infra`: diff, deploy, outputs, check, template, policy, user."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.infra.account import account_of
from cocli.cli.infra.options import StackOptions
from cocli.cli.infra.user import app as users
from cocli.cli.kit.context import Call
from cocli.cli.kit.options import DRY_RUN, JSON, QUIET, STORE, YES, CampaignArgument, command_group, examples, shared
from cocli.cli.kit.output import count_shown
from cocli.errors import UnknownCampaign, UsageError

if TYPE_CHECKING:
    from cocli.app.infra.deployment import InfraPlan
    from cocli.app.infra.options import InfraOptions
    from cocli.app.workspace import Campaign, Workspace
    from cocli.cli.kit.output import Output

app = command_group(
    """Make what a campaign has on AWS: bucket, queues, roles, login, dashboard, enrichment on Fargate.

    One stack of CloudFormation per campaign, named cocli-stack-CAMPAIGN. Needs the extra `infra` and the credentials
    of an administrator; machines and people use the roles that it makes. Without AWS: cocli infra policy.
    """
)
app.add_typer(users, name="user")


@app.command(
    epilog=examples(
        "cocli infra diff plumbers", "cocli infra diff plumbers --queues --web", "cocli infra diff plumbers --json"
    )
)
@shared(STORE, JSON, QUIET)
def diff(
    call: Call,
    name: CampaignArgument,
    wanted: StackOptions,
) -> None:
    """Show what a deployment would add, change and remove. Nothing is made."""
    options = wanted.of(name)
    with call.workspace() as workspace:
        _show_plan(call.output, _planned(call, workspace, options), "would_deploy")


@app.command(
    epilog=examples(
        "cocli infra deploy plumbers --dry-run",
        "cocli infra deploy plumbers --web --email me@example.com --yes",
        "cocli infra deploy plumbers --queues --image 123456789012.dkr.ecr.us-east-1.amazonaws.com/cocli:1 --tasks 8",
    )
)
@shared(DRY_RUN, YES, STORE, JSON, QUIET)
def deploy(
    call: Call,
    name: CampaignArgument,
    wanted: StackOptions,
) -> None:
    """Make or change the stack, and write its outputs into the campaign's config.toml. Comments there stay.

    Give the same options each time: what is left out is removed. Buckets and users are kept, whatever is removed. If
    something cannot be made, AWS undoes all of it.
    """
    from cocli.app.infra.deployment import deploy as carry_out
    from cocli.cli.kit.confirm import confirm

    options = wanted.of(name)
    output = call.output
    with call.workspace() as workspace:
        planned = _planned(call, workspace, options)
        if call.dry_run:
            _show_plan(output, planned, "would_deploy")
            return
        much = count_shown(len(planned.changes), "change")
        if planned.changes and not confirm(output, f"Deploy {planned.name} ({much})?", yes=call.yes):
            output.talk("Nothing was deployed.")
            raise typer.Exit(1)
        output.talk(f"Deploying {planned.name}: this takes minutes.")
        done = carry_out(workspace, account_of(workspace, name), options, planned)
    status = "deployed" if planned.changes else "already_so"
    if output.as_json:
        changes = [change._asdict() for change in done.changes]
        output.document(
            {
                "stack": done.name,
                "status": status,
                "changes": changes,
                "outputs": done.outputs,
                "settings": done.settings,
            }
        )
        return
    output.table(["setting", "value"], sorted(done.settings.items()))
    output.talk(f"{status}: {done.name}, {much}.")
    for command in done.hints or [f"cocli infra check {name}"]:
        output.hint(command)


@app.command(epilog=examples("cocli infra outputs plumbers", "cocli infra outputs plumbers --json"))
@shared(DRY_RUN, STORE, JSON, QUIET)
def outputs(call: Call, name: CampaignArgument) -> None:
    """Show what the stack says of itself, and write it into the campaign's config.toml, as a deployment does."""
    from cocli.app.infra.deployment import read_stack, write_outputs

    output = call.output
    with call.workspace() as workspace:
        account = account_of(workspace, name)
        stack = read_stack(account, name)
        written: dict[str, str] = {}
        hints: list[str] = []
        if not call.dry_run:
            written, hints = write_outputs(workspace, account, name, stack)
    if output.as_json:
        output.document({"stack": stack.name, "status": stack.status, "outputs": stack.outputs, "settings": written})
        return
    output.table(["output", "value"], sorted(stack.outputs.items()))
    for command in hints:
        output.hint(command)


@app.command(epilog=examples("cocli infra check plumbers"))
@shared(STORE, JSON, QUIET)
def check(call: Call, name: CampaignArgument) -> None:
    """Try what is deployed: a stranger is refused, and a user who exists for this test alone can log in."""
    from cocli.app.infra.smoke import smoke_test

    output = call.output
    with call.workspace() as workspace:
        checks = smoke_test(account_of(workspace, name), name)
    if output.as_json:
        output.document({"campaign": name, "checks": [found._asdict() for found in checks]})
    else:
        output.table(["check", "ok", "detail"], [(found.name, found.ok, found.detail) for found in checks])
    if not all(found.ok for found in checks):
        raise typer.Exit(1)


@app.command(epilog=examples("cocli infra template plumbers --web >stack.json"))
@shared(STORE, QUIET)
def template(
    call: Call,
    name: CampaignArgument,
    wanted: StackOptions,
) -> None:
    """Print the template of CloudFormation as JSON, for other tools. Needs no credentials.

    How long the bucket keeps old versions is what the campaign's `[retention]` says; without such a campaign, 30 days.
    """
    from cocli.app.infra.deployment import synthesise

    options = wanted.of(name)
    # A stack may be described before its campaign is there.
    with call.workspace() as workspace, suppress(UnknownCampaign):
        options = _with_retention(workspace.campaign(name), options)
    call.output.text(json.dumps(synthesise(options), indent=2) + "\n")


@app.command(
    epilog=examples("cocli infra policy plumbers worker", "cocli infra policy plumbers web --bucket nas --prefix team")
)
@shared(STORE, QUIET)
def policy(
    call: Call,
    name: CampaignArgument,
    role: Annotated[str, typer.Argument(metavar="ROLE", help="worker, enrichment, web or deployer")],
    bucket: Annotated[
        str | None,
        typer.Option("--bucket", metavar="NAME", help="The bucket [default: cocli-data-CAMPAIGN]", show_default=False),
    ] = None,
    prefix: Annotated[str, typer.Option("--prefix", metavar="FOLDER", help="Where in the bucket the store is.")] = "",
) -> None:
    """Print the policy of a role as JSON, for a server of your own that enforces policies, such as SeaweedFS."""
    from cocli.app.campaigns.name import check_campaign_name
    from cocli.app.infra.names import data_bucket
    from cocli.app.infra.policies import ROLES, PolicyPlace, policy_of

    check_campaign_name(name)
    if role not in ROLES:
        raise UsageError(reason=f'"{role}" is no role', hint=f"Roles are {', '.join(ROLES)}.")
    place = PolicyPlace(campaign=name, bucket=bucket or data_bucket(name), prefix=prefix)
    call.output.text(json.dumps(policy_of(role, place), indent=2) + "\n")


def _planned(call: Call, workspace: Workspace, options: InfraOptions) -> InfraPlan:
    from cocli.app.infra.deployment import plan

    account = account_of(workspace, options.campaign)
    call.output.talk("Describing the stack: this takes some seconds.")
    return plan(account, _with_retention(workspace.campaign(options.campaign), options))


def _with_retention(campaign: Campaign, options: InfraOptions) -> InfraOptions:
    """The bucket keeps what was removed or replaced as long as the campaign says."""
    from cocli.models.retention.age import days_of

    return replace(options, version_days=days_of(campaign.settings.model().retention.bucket_versions))


def _show_plan(output: Output, planned: InfraPlan, status: str) -> None:
    if output.as_json:
        changes = [change._asdict() for change in planned.changes]
        output.document({"stack": planned.name, "status": status, "new": planned.is_new, "changes": changes})
        return
    output.table(["change", "resource", "type"], list(planned.changes))
    output.talk(f"{planned.name}: {count_shown(len(planned.changes), 'change')}. Nothing was deployed.")
