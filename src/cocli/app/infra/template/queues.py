"""Queues on SQS: a standard one for each queue of the campaign, and a FIFO queue for commands."""

from __future__ import annotations

from typing import Any, NamedTuple

from aws_cdk import CfnOutput, Duration, Stack
from aws_cdk import aws_sqs as sqs

from cocli.app.infra.names import COMMANDS
from cocli.app.infra.options import QUEUES
from cocli.keys.resources import FIFO, resource_name

_KEPT = Duration.days(14)  # the longest that SQS keeps a message


class TemplateQueues(NamedTuple):
    """What was made."""

    tasks: dict[str, Any]
    commands: Any


def add_queues(stack: Stack, campaign: str) -> TemplateQueues:
    """No dead-letter queues: tasks are set aside by the program, with the reason."""
    tasks = {
        queue: _queue(stack, f"Queue{number}", resource_name(queue, campaign)) for number, queue in enumerate(QUEUES, 1)
    }
    commands = _queue(stack, "Commands", resource_name(COMMANDS, campaign, ending=FIFO), fifo=True)
    CfnOutput(stack, "Queues", value=", ".join(resource_name(queue, campaign) for queue in QUEUES))
    return TemplateQueues(tasks, commands)


def _queue(stack: Stack, name: str, queue_name: str, *, fifo: bool = False) -> Any:
    return sqs.Queue(
        stack,
        name,
        queue_name=queue_name,
        fifo=True if fifo else None,
        retention_period=_KEPT,
        visibility_timeout=Duration.minutes(5),
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        enforce_ssl=True,
    )
