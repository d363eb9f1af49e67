"""Who somebody is for the dashboard, and what they may do."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


class Role(IntEnum):
    """Each may do what those before it may."""

    NOBODY = 0
    VIEWER = 1
    EDITOR = 2
    ADMIN = 3

    @property
    def word(self) -> str:
        return self.name.lower()


ROLES = {role.word: role for role in Role if role is not Role.NOBODY}


@dataclass(frozen=True, slots=True)
class Principal:
    """Somebody who is logged in, or a token."""

    name: str
    provider: str
    """`link`, `oidc` or `token`."""
    role: Role
    """Over the whole site; what campaigns say is in `campaigns`."""
    campaigns: Mapping[str, Role] = field(default_factory=dict)
    expires_at: datetime | None = None
    session: str | None = None
    """Of the session; None for a token."""

    def role_in(self, campaign: str) -> Role:
        return max(self.role, self.campaigns.get(campaign, Role.NOBODY))

    def sees(self, campaign: str) -> bool:
        return self.role_in(campaign) >= Role.VIEWER

    @property
    def best(self) -> Role:
        """In any campaign."""
        return max([self.role, *self.campaigns.values()])
