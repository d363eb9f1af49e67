"""Names that AWS refuses are refused here first, before anything is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.errors import NameRefused
from cocli.keys.resources import FIFO, resource_name

if TYPE_CHECKING:
    from cocli.app.infra.options import InfraOptions

COMMANDS = "commands"
_LIMITS = {"bucket": 63, "queue": 80, "role": 64, "login page": 63, "stack": 128}
_RESERVED = ("aws", "amazon", "cognito")
"""Words that the address of a login page may not contain."""
_BAD_ENDINGS = ("-s3alias", "--ol-s3", "--x-s3", "--table-s3")


def stack_name(campaign: str) -> str:
    return resource_name("stack", campaign)


def data_bucket(campaign: str) -> str:
    return resource_name("data", campaign)


def web_bucket(campaign: str) -> str:
    return resource_name("web", campaign)


def check_names(options: InfraOptions) -> None:
    """Raise `NameRefused` with the reason, for the first name that AWS would not take."""
    for kind, name in _names(options):
        if len(name) > _LIMITS[kind]:
            reason = f"has {len(name)} characters, and a {kind} may have {_LIMITS[kind]}"
            raise NameRefused(name=name, reason=reason)
        if kind == "bucket" and name.endswith(_BAD_ENDINGS):
            raise NameRefused(name=name, reason="ends as only access points of Amazon do")
        if kind == "login page" and (word := next((word for word in _RESERVED if word in name), None)):
            raise NameRefused(name=name, reason=f'contains "{word}", which the address of a login page may not')


def _names(options: InfraOptions) -> list[tuple[str, str]]:
    from cocli.app.infra.options import QUEUES

    campaign = options.campaign
    names = [("stack", stack_name(campaign)), ("bucket", data_bucket(campaign))]
    names += [("role", resource_name(role, campaign)) for role in ("worker", "enrichment", "web", "deployer")]
    if options.queues:
        names += [("queue", resource_name(queue, campaign)) for queue in QUEUES]
        names.append(("queue", resource_name(COMMANDS, campaign, ending=FIFO)))
    if options.web:
        names += [("bucket", web_bucket(campaign)), ("login page", resource_name("login", campaign))]
    return names
