"""Who is told of a stall, and of cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aws_cdk import Duration, Stack
from aws_cdk import aws_budgets as budgets
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns

from cocli.keys.resources import resource_name

if TYPE_CHECKING:
    from cocli.app.infra.options import InfraOptions

_STALLED = Duration.hours(2)


def add_alarms(stack: Stack, options: InfraOptions, queues: dict[str, Any]) -> None:
    """A task that waits for two hours, and a month that costs more than it may."""
    topic = sns.Topic(stack, "Alarms", topic_name=resource_name("alarms", options.campaign), enforce_ssl=True)
    topic.add_to_resource_policy(
        iam.PolicyStatement(
            principals=[iam.ServicePrincipal("cloudwatch.amazonaws.com")],
            actions=["sns:Publish"],
            resources=[topic.topic_arn],
            conditions={"StringEquals": {"AWS:SourceAccount": stack.account}},
        )
    )
    sns.CfnSubscription(stack, "Told", topic_arn=topic.topic_arn, protocol="email", endpoint=options.email)
    for number, (name, queue) in enumerate(queues.items(), 1):
        alarm = cloudwatch.Alarm(
            stack,
            f"Stall{number}",
            alarm_name=resource_name(f"stall-{name}", options.campaign),
            alarm_description=f"Tasks of {name} wait and nobody works: cocli cluster status -c {options.campaign}",
            metric=queue.metric_approximate_age_of_oldest_message(period=Duration.minutes(5)),
            threshold=_STALLED.to_seconds(),
            evaluation_periods=3,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
        alarm.add_alarm_action(actions.SnsAction(topic))
    _budget(stack, options)


def _budget(stack: Stack, options: InfraOptions) -> None:
    told = [budgets.CfnBudget.SubscriberProperty(address=options.email or "", subscription_type="EMAIL")]
    budgets.CfnBudget(
        stack,
        "Budget",
        budget=budgets.CfnBudget.BudgetDataProperty(
            budget_name=resource_name("cost", options.campaign),
            budget_type="COST",
            time_unit="MONTHLY",
            budget_limit=budgets.CfnBudget.SpendProperty(amount=options.dollars, unit="USD"),
        ),
        notifications_with_subscribers=[
            budgets.CfnBudget.NotificationWithSubscribersProperty(
                notification=budgets.CfnBudget.NotificationProperty(
                    comparison_operator="GREATER_THAN",
                    notification_type=kind,
                    threshold=threshold,
                    threshold_type="PERCENTAGE",
                ),
                subscribers=told,
            )
            for kind, threshold in (("ACTUAL", 80), ("FORECASTED", 100))
        ],
    )
