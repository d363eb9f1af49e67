"""Enrichment on Fargate: spot prices, no machine while nothing waits."""

from __future__ import annotations

from typing import Any

from aws_cdk import CfnOutput, RemovalPolicy, Stack
from aws_cdk import aws_applicationautoscaling as scaling
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs

from cocli.app.infra.names import data_bucket
from cocli.app.infra.options import ENRICHMENT, InfraOptions
from cocli.keys.resources import resource_name

_CPU, _MEMORY = "512", "1024"
_STOP_SECONDS = 120
"""Spot gives so long; a worker hands its tasks back within it."""
_TASKS_EACH = 500
"""With so many tasks more, one machine more."""


def add_service(stack: Stack, options: InfraOptions, role: Any, queue: Any | None) -> Any:
    network = ec2.Vpc(
        stack,
        "Network",
        max_azs=2,
        nat_gateways=0,  # each costs more than everything else here; the tasks have addresses of their own
        restrict_default_security_group=False,  # it would need a function; the tasks use another group
        subnet_configuration=[ec2.SubnetConfiguration(name="public", subnet_type=ec2.SubnetType.PUBLIC)],
        gateway_endpoints={"S3": ec2.GatewayVpcEndpointOptions(service=ec2.GatewayVpcEndpointAwsService.S3)},
    )
    group = ec2.SecurityGroup(stack, "Outward", vpc=network, description="Outward only", allow_all_outbound=True)
    name = resource_name(ENRICHMENT, options.campaign)
    cluster = ecs.CfnCluster(stack, "Machines", cluster_name=name, capacity_providers=["FARGATE", "FARGATE_SPOT"])
    subnets = [subnet.subnet_id for subnet in network.public_subnets]
    service = ecs.CfnService(
        stack,
        "Runner",
        service_name=name,
        cluster=cluster.ref,
        task_definition=_task(stack, options, role).ref,
        desired_count=0 if queue is not None else options.tasks,
        capacity_provider_strategy=[
            ecs.CfnService.CapacityProviderStrategyItemProperty(capacity_provider="FARGATE_SPOT", weight=1)
        ],
        deployment_configuration=ecs.CfnService.DeploymentConfigurationProperty(
            deployment_circuit_breaker=ecs.CfnService.DeploymentCircuitBreakerProperty(enable=True, rollback=True),
            maximum_percent=200,
            minimum_healthy_percent=50,
        ),
        network_configuration=ecs.CfnService.NetworkConfigurationProperty(
            awsvpc_configuration=ecs.CfnService.AwsVpcConfigurationProperty(
                assign_public_ip="ENABLED", subnets=subnets, security_groups=[group.security_group_id]
            )
        ),
        propagate_tags="SERVICE",
    )
    if queue is not None:
        _scale(stack, options, cluster, service, queue)
    CfnOutput(stack, "Service", value=service.attr_name)
    CfnOutput(stack, "Cluster", value=cluster.ref)
    return service


def _task(stack: Stack, options: InfraOptions, role: Any) -> Any:
    name = resource_name(ENRICHMENT, options.campaign)
    log = logs.LogGroup(
        stack,
        "Log",
        log_group_name=f"/cocli/{name}",
        retention=logs.RetentionDays.ONE_MONTH,
        removal_policy=RemovalPolicy.DESTROY,
    )
    environment = {
        "CAMPAIGN_NAME": options.campaign,
        "COCLI_STORE": f"s3://{data_bucket(options.campaign)}?region={stack.region}",
        "AWS_REGION": stack.region,
    }
    container = ecs.CfnTaskDefinition.ContainerDefinitionProperty(
        name="worker",
        image=options.image,
        command=["worker", ENRICHMENT],
        environment=[
            ecs.CfnTaskDefinition.KeyValuePairProperty(name=key, value=value) for key, value in environment.items()
        ],
        linux_parameters=ecs.CfnTaskDefinition.LinuxParametersProperty(init_process_enabled=True),
        log_configuration=ecs.CfnTaskDefinition.LogConfigurationProperty(
            log_driver="awslogs",
            options={
                "awslogs-group": log.log_group_name,
                "awslogs-region": stack.region,
                "awslogs-stream-prefix": "worker",
            },
        ),
        mount_points=[
            ecs.CfnTaskDefinition.MountPointProperty(container_path=path, source_volume=volume)
            for volume, path in _VOLUMES.items()
        ],
        readonly_root_filesystem=True,
        stop_timeout=_STOP_SECONDS,
        user="10001:10001",
    )
    return ecs.CfnTaskDefinition(
        stack,
        "Task",
        family=name,
        cpu=_CPU,
        memory=_MEMORY,
        network_mode="awsvpc",
        requires_compatibilities=["FARGATE"],
        runtime_platform=ecs.CfnTaskDefinition.RuntimePlatformProperty(
            cpu_architecture=options.architecture, operating_system_family="LINUX"
        ),
        task_role_arn=role.attr_arn,
        execution_role_arn=_starter(stack, options.campaign, log).attr_arn,
        container_definitions=[container],
        volumes=[ecs.CfnTaskDefinition.VolumeProperty(name=volume) for volume in _VOLUMES],
    )


_VOLUMES = {"scratch": "/tmp", "home": "/var/lib/cocli"}  # noqa: S108  of the container, whose root is read-only


def _starter(stack: Stack, campaign: str, log: Any) -> Any:
    """Fetches the image and writes the log, before and around the task."""
    name = resource_name("starter", campaign)
    statements = [
        {"Effect": "Allow", "Action": ["ecr:GetAuthorizationToken"], "Resource": "*"},
        {
            "Effect": "Allow",
            "Action": ["ecr:BatchCheckLayerAvailability", "ecr:GetDownloadUrlForLayer", "ecr:BatchGetImage"],
            "Resource": f"arn:{stack.partition}:ecr:{stack.region}:{stack.account}:repository/cocli*",
        },
        {"Effect": "Allow", "Action": ["logs:CreateLogStream", "logs:PutLogEvents"], "Resource": log.log_group_arn},
    ]
    trust = {"Effect": "Allow", "Principal": {"Service": "ecs-tasks.amazonaws.com"}, "Action": "sts:AssumeRole"}
    return iam.CfnRole(
        stack,
        "RoleStarter",
        role_name=name,
        assume_role_policy_document={"Version": "2012-10-17", "Statement": [trust]},
        policies=[
            iam.CfnRole.PolicyProperty(
                policy_name=name, policy_document={"Version": "2012-10-17", "Statement": statements}
            )
        ],
    )


def _scale(stack: Stack, options: InfraOptions, cluster: Any, service: Any, queue: Any) -> None:
    """By how many tasks wait, in steps: none, one for the first task, one more for each 500."""
    target = scaling.CfnScalableTarget(
        stack,
        "Scale",
        min_capacity=0,
        max_capacity=options.tasks,
        resource_id=f"service/{cluster.ref}/{service.attr_name}",
        scalable_dimension="ecs:service:DesiredCount",
        service_namespace="ecs",
    )
    steps = [
        scaling.CfnScalingPolicy.StepAdjustmentProperty(
            metric_interval_lower_bound=number * _TASKS_EACH,
            metric_interval_upper_bound=(number + 1) * _TASKS_EACH if number + 1 < options.tasks else None,
            scaling_adjustment=number + 1,
        )
        for number in range(options.tasks)
    ]
    nothing = [scaling.CfnScalingPolicy.StepAdjustmentProperty(metric_interval_upper_bound=0, scaling_adjustment=0)]
    metric = queue.metric_approximate_number_of_messages_visible
    _scaling_alarm(stack, target, "Grow", metric(), steps, cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD, 1)
    held = queue.metric_approximate_number_of_messages_not_visible()
    waiting = cloudwatch.MathExpression(expression="a + b", using_metrics={"a": metric(), "b": held})
    _scaling_alarm(stack, target, "Rest", waiting, nothing, cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD, 10)


def _scaling_alarm(
    stack: Stack, target: Any, name: str, metric: Any, steps: list[Any], comparison: Any, minutes: int
) -> None:
    policy = scaling.CfnScalingPolicy(
        stack,
        f"{name}Policy",
        policy_name=name.lower(),
        policy_type="StepScaling",
        scaling_target_id=target.ref,
        step_scaling_policy_configuration=scaling.CfnScalingPolicy.StepScalingPolicyConfigurationProperty(
            adjustment_type="ExactCapacity", cooldown=120, metric_aggregation_type="Maximum", step_adjustments=steps
        ),
    )
    alarm = cloudwatch.Alarm(
        stack,
        f"{name}Alarm",
        metric=metric,
        threshold=0 if comparison == cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD else 1,
        evaluation_periods=minutes,
        comparison_operator=comparison,
    )
    alarm.node.default_child.alarm_actions = [policy.ref]
