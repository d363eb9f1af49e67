"""What a campaign has in a cloud: described as a template, deployed, and written into its file.

`template/` describes it with the AWS CDK (extra `infra`); everything else here does without. `policies` are plain
documents, so that they are the same on any server that enforces policies.
"""
