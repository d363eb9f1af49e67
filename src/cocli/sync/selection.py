"""Which keys a sync is about: parts, a campaign, patterns; and which folders have to be listed for that."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import translate
from typing import TYPE_CHECKING

from cocli.keys.paths import CampaignConfigKey, campaign_folder
from cocli.sync.kinds import SyncPart, SyncRule, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.sync.kinds import SyncKind

EDITOR_LEFTOVERS = ("*~", "*/.*.sw?", ".*.sw?", "*/.DS_Store", ".DS_Store", "*/.#*")
"""What editors and desktops leave beside a file: nobody's work."""


@dataclass(frozen=True, slots=True)
class Selection:
    """`parts` empty means all; patterns are those of a shell, on whole keys (`companies/*`, `*.md`)."""

    parts: frozenset[SyncPart] = frozenset()
    campaign: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    documents: str = "uploads"
    """The folder of the documents."""

    def chooser(self) -> Callable[[str], SyncKind | None]:
        """Says what a key is, or None if this sync is not about it. Versions of indexes are not files."""
        include = _pattern(self.include)
        exclude = _pattern((*self.exclude, *EDITOR_LEFTOVERS))
        foreign = None if self.campaign is None else re.compile(f"campaigns/(?!{re.escape(self._own)}/)")
        parts = self.parts

        def choose(key: str) -> SyncKind | None:
            if foreign is not None and foreign.match(key):
                return None
            if exclude is not None and exclude.match(key):
                return None
            if include is not None and not include.match(key):
                return None
            kind = kind_of(key)
            if kind.rule in (SyncRule.NEVER, SyncRule.VERSIONS) or (parts and kind.part not in parts):
                return None
            return kind

        return choose

    @property
    def wants_versions(self) -> bool:
        """Whether published versions of indexes are brought over."""
        return not self.parts or SyncPart.INDEXES in self.parts

    @property
    def only_versions(self) -> bool:
        return self.parts == {SyncPart.INDEXES}

    def wants_index(self, folder: str) -> bool:
        """Whether the versions of the index in a folder belong to it: patterns are tried on its pointer."""
        key = f"{folder}LATEST"
        if self.campaign is not None and key.startswith("campaigns/") and not key.startswith(f"campaigns/{self._own}/"):
            return False
        include, exclude = _pattern(self.include), _pattern(self.exclude)
        return self.wants_versions and not (
            (exclude is not None and exclude.match(key)) or (include is not None and not include.match(key))
        )

    def folders(self) -> list[str]:
        """What has to be looked through, on both sides. One listing of everything costs less than many of little."""
        if not self.parts or SyncPart.OTHER in self.parts:
            return [""]
        campaign = "campaigns/" if self.campaign is None else campaign_folder(self.campaign)
        found: dict[str, None] = {}
        for part in SyncPart:
            if part in self.parts:
                found.update(dict.fromkeys(self._folders_of(part, campaign)))
        return [folder for folder in found if not any(folder != above and folder.startswith(above) for above in found)]

    def single_keys(self) -> list[str]:
        """Single keys that are looked at beside the folders."""
        if self.campaign is None or SyncPart.CONFIG not in self.parts or self.folders() == [""]:
            return []
        return [str(CampaignConfigKey(self.campaign))]

    def _folders_of(self, part: SyncPart, campaign: str) -> list[str]:
        shared = {
            SyncPart.COMPANIES: ["companies/", "people/"],
            SyncPart.DOCUMENTS: [f"{self.documents}/"],
            SyncPart.STATUS: ["status/"],
        }
        if part in shared:
            return shared[part]
        if self.campaign is None:  # of every campaign: all below `campaigns/`
            of_all = {SyncPart.RECORDS: [campaign, "indexes/"], SyncPart.INDEXES: []}
            return of_all.get(part, [campaign])
        return {
            SyncPart.RECORDS: [f"{campaign}indexes/", "indexes/"],
            SyncPart.COMPLETIONS: [f"{campaign}queues/"],
            SyncPart.REPORTS: [f"{campaign}exports/", f"{campaign}reports/"],
        }.get(part, [])

    @property
    def _own(self) -> str:
        return campaign_folder(self.campaign or "").rstrip("/").partition("/")[2]


def _pattern(patterns: tuple[str, ...]) -> re.Pattern[str] | None:
    if not patterns:
        return None
    return re.compile("|".join(map(translate, patterns)))
