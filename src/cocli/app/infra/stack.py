"""A stack as CloudFormation has it: what is deployed, what would change, and the change itself."""

from __future__ import annotations

import json
import secrets
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from cocli.app.infra.cloud import error_code
from cocli.errors import DeploymentFailed, StackConflict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cocli.app.infra.cloud import CloudAccount

TAG = "cocli:campaign"
_CAPABILITIES = ["CAPABILITY_NAMED_IAM"]
_LARGEST_TEMPLATE = 51_200
_POLL_SECONDS = 2.0
_NEVER_MADE = ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED", "REVIEW_IN_PROGRESS")
_GOOD = ("CREATE_COMPLETE", "UPDATE_COMPLETE", "IMPORT_COMPLETE", "UPDATE_ROLLBACK_COMPLETE")
_KEEPING = ("AWS::S3::Bucket", "AWS::Cognito::UserPool")
"""What holds data: it is never replaced by an empty one."""


class ResourceChange(NamedTuple):
    """One resource that would be added, changed or removed."""

    action: str
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class DeployedStack:
    """What CloudFormation says of it."""

    name: str
    status: str
    outputs: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)

    @property
    def is_ready(self) -> bool:
        return self.status in _GOOD


class Stacks:
    """The stacks of one account."""

    def __init__(self, account: CloudAccount, sleep: Callable[[float], None] = time.sleep) -> None:
        self._account = account
        self._client = account.client("cloudformation")
        self._sleep = sleep

    def find(self, name: str) -> DeployedStack | None:
        from botocore.exceptions import ClientError

        with self._account.mapped(f"to look at {name}"):
            try:
                said = self._client.describe_stacks(StackName=name)["Stacks"][0]
            except ClientError as error:
                if error_code(error) == "ValidationError" and "not exist" in str(error):
                    return None
                raise
        outputs = {output["OutputKey"]: output["OutputValue"] for output in said.get("Outputs", ())}
        tags = {tag["Key"]: tag["Value"] for tag in said.get("Tags", ())}
        return (
            None
            if said["StackStatus"] == "DELETE_COMPLETE"
            else DeployedStack(name, said["StackStatus"], outputs, tags)
        )

    def template(self, name: str) -> dict[str, Any]:
        """What is deployed now."""
        with self._account.mapped(f"to read the template of {name}"):
            body = self._client.get_template(StackName=name)["TemplateBody"]
        template: dict[str, Any] = json.loads(body) if isinstance(body, str) else dict(body)
        return template

    def deploy(self, name: str, template: dict[str, Any], campaign: str) -> DeployedStack:
        """Made or changed as one: where something fails, CloudFormation undoes all of it."""
        found = self.find(name)
        check_usable(name, found, campaign)
        body = json.dumps(template, separators=(",", ":"))
        if len(body) > _LARGEST_TEMPLATE:
            raise DeploymentFailed(
                name=name, reason=f"its template has {len(body)} bytes, and may have {_LARGEST_TEMPLATE}"
            )
        change = f"cocli-{secrets.token_hex(6)}"
        kind = "UPDATE" if found else "CREATE"
        undo: dict[str, Any] = {} if found else {"OnStackFailure": "DELETE"}
        with self._account.mapped(f"to deploy {name}"), _refusals(name):
            self._client.create_change_set(
                StackName=name,
                ChangeSetName=change,
                ChangeSetType=kind,
                TemplateBody=body,
                Capabilities=_CAPABILITIES,
                Tags=[{"Key": TAG, "Value": campaign}],
                **undo,
            )
            if not self._is_prepared(name, change, is_new=found is None):
                return self.find(name) or DeployedStack(name, "DELETE_COMPLETE")
            self._client.execute_change_set(StackName=name, ChangeSetName=change)
        return self._finished(name)

    def delete(self, name: str) -> None:
        """Buckets and users stay: their policy is to be kept."""
        with self._account.mapped(f"to delete {name}"):
            self._client.delete_stack(StackName=name)
        while (found := self.find(name)) is not None and found.status.endswith("_IN_PROGRESS"):
            self._sleep(_POLL_SECONDS)
        if found is not None:
            raise DeploymentFailed(name=name, reason=f"it is in status {found.status} ({self._reasons(name)})")

    def _is_prepared(self, name: str, change: str, *, is_new: bool) -> bool:
        """False where nothing would change."""
        while True:
            said = self._client.describe_change_set(StackName=name, ChangeSetName=change)
            status = said["Status"]
            if status == "CREATE_COMPLETE":
                self._refuse_replacement(name, change, said)
                return True
            if status == "FAILED":
                reason = str(said.get("StatusReason", ""))
                self._drop(name, change, is_new=is_new)
                if "didn't contain changes" in reason or "No updates" in reason:
                    return False
                raise DeploymentFailed(name=name, reason=reason)
            self._sleep(_POLL_SECONDS)

    def _refuse_replacement(self, name: str, change: str, said: dict[str, Any]) -> None:
        for entry in said.get("Changes", ()):
            resource = entry.get("ResourceChange", {})
            if resource.get("ResourceType") in _KEEPING and resource.get("Replacement") == "True":
                self._drop(name, change, is_new=False)
                reason = f"{resource['LogicalResourceId']} would be replaced by an empty one"
                raise StackConflict(name=name, reason=reason, hint="Nothing was changed. Make a new campaign instead.")

    def _drop(self, name: str, change: str, *, is_new: bool) -> None:
        self._client.delete_change_set(StackName=name, ChangeSetName=change)
        if is_new:  # what only was prepared is a stack without anything in it
            self._client.delete_stack(StackName=name)

    def _finished(self, name: str) -> DeployedStack:
        started = False
        while True:
            found = self.find(name)
            if found is None:
                raise DeploymentFailed(name=name, reason=self._reasons(name) or "it was undone")
            started = started or found.status != "REVIEW_IN_PROGRESS"
            if started and not found.status.endswith("_IN_PROGRESS"):
                break
            self._sleep(_POLL_SECONDS)
        if found.status in ("CREATE_COMPLETE", "UPDATE_COMPLETE"):
            return found
        reasons = self._reasons(name)
        if found.status in _NEVER_MADE:
            self.delete(name)
        raise DeploymentFailed(name=name, reason=reasons or found.status)

    def _reasons(self, name: str) -> str:
        """The first thing that failed is the cause; what was cancelled for it is not told."""
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            events = self._client.describe_stack_events(StackName=name)["StackEvents"]
        except (BotoCoreError, ClientError):
            return ""  # it is gone already, with its events
        failed = [event for event in events if str(event.get("ResourceStatus", "")).endswith("_FAILED")]
        told = [
            f"{event['LogicalResourceId']}: {event.get('ResourceStatusReason', 'failed')}"
            for event in reversed(failed)
            if "cancelled" not in str(event.get("ResourceStatusReason", "")).lower()
        ]
        return "; ".join(told[:3])


@contextmanager
def _refusals(name: str) -> Iterator[None]:
    """A template that is refused as a whole."""
    from botocore.exceptions import ClientError

    try:
        yield
    except ClientError as error:
        if error_code(error) != "ValidationError":
            raise
        raise DeploymentFailed(name=name, reason=str(error)) from error


def check_usable(name: str, found: DeployedStack | None, campaign: str) -> None:
    """A stack of that name that is not ours, or on which somebody works, is not touched."""
    if found is None:
        return
    if found.tags.get(TAG) != campaign:
        hint = f"Delete it, if nobody needs it: aws cloudformation delete-stack --stack-name {name}"
        raise StackConflict(name=name, reason="a stack of this name exists already, and is not of cocli", hint=hint)
    if found.status in _NEVER_MADE:
        hint = f"It has nothing in it. Delete it: aws cloudformation delete-stack --stack-name {name}"
        raise StackConflict(name=name, reason=f"an earlier attempt is in status {found.status}", hint=hint)
    if not found.is_ready:
        hint = "Wait until it has ended, then repeat the command."
        raise StackConflict(name=name, reason=f"it is in status {found.status}", hint=hint)


def differences(old: dict[str, Any] | None, new: dict[str, Any]) -> list[ResourceChange]:
    """What would be added, changed and removed, by name."""
    before: dict[str, Any] = (old or {}).get("Resources", {})
    after: dict[str, Any] = new.get("Resources", {})
    rows = [ResourceChange("add", name, body["Type"]) for name, body in after.items() if name not in before]
    rows += [
        ResourceChange("change", name, body["Type"])
        for name, body in after.items()
        if name in before and before[name] != body
    ]
    rows += [ResourceChange("remove", name, body["Type"]) for name, body in before.items() if name not in after]
    return sorted(rows)
