"""The stack of a campaign for the command `cdk` (`npx aws-cdk@2.1147.0 diff -c campaign=plumbers -c web=true`).

`cocli infra deploy` deploys the same stack without it. What is in the stack: src/cocli/app/infra/template.
"""

from __future__ import annotations

from aws_cdk import App

from cocli.app.infra.options import InfraOptions
from cocli.app.infra.template.campaign import add_campaign


def main() -> None:
    app = App(analytics_reporting=False)

    def asked(name: str) -> str | None:
        return app.node.try_get_context(name) or None

    options = InfraOptions(
        campaign=asked("campaign") or "test",
        queues=asked("queues") == "true",
        web=asked("web") == "true",
        image=asked("image"),
        email=asked("email"),
    )
    add_campaign(app, options)
    app.synth()


if __name__ == "__main__":
    main()
