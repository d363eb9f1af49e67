"""The infrastructure of a campaign, described with the AWS CDK: one file per thing, `campaign.py` puts them together.

Only this folder imports `aws_cdk`. Constructs of the lowest level are used where a name or a property matters: what is
written here is what is deployed.
"""
