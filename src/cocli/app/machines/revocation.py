"""How the key of a machine is revoked: by its owner, with commands that are said exactly. cocli itself cannot do it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from cocli.store.kinds import store_kind

if TYPE_CHECKING:
    from datetime import datetime

    from cocli.app.machines.evictions import KeyToRevoke

_LENT = "ASIA"
"""How the ids of keys begin that a role lends for some hours. Such a key cannot be made inactive, its role can."""


def revocation(key: KeyToRevoke, at: datetime) -> list[str]:
    """What to do, line by line; the lines that begin with `aws` are commands. Everything lent before `at` ends."""
    if not store_kind(key.store).has_credentials:
        return [f"take away its account's right to write below {key.store} (its SSH keys, its share, its user)"]
    access = key.access
    if access is None:
        return [
            "its supervisor never said which key it signs with: find it among those of the user that it has",
            "aws iam list-access-keys --user-name USER",
        ]
    shared = []
    if key.shared_with:
        shared = [f"give {', '.join(key.shared_with)} another key first: they sign with the same one"]
    if "(" in key.store:
        return [*shared, f"revoke the access key {access.access_key or '?'} where it was made: {key.store}"]
    if access.access_key is None or access.access_key.startswith(_LENT):
        return [*shared, f"end what its role has lent it ({access.credentials})", _older_sessions(at)]
    return [
        *shared,
        f"aws iam get-access-key-last-used --access-key-id {access.access_key}",
        f"aws iam update-access-key --user-name USER --access-key-id {access.access_key} --status Inactive",
    ]


def _older_sessions(at: datetime) -> str:
    condition = {"DateLessThan": {"aws:TokenIssueTime": f"{at:%Y-%m-%dT%H:%M:%SZ}"}}
    statement = {"Effect": "Deny", "Action": "*", "Resource": "*", "Condition": condition}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]}, separators=(",", ":"))
    return f"aws iam put-role-policy --role-name ROLE --policy-name end-older-sessions --policy-document '{policy}'"
