"""What is wrong with a backup: one entry for each object that is missing or damaged, with what it affects."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class BackupDamage:
    """`keys` are those whose content is lost in `snapshots`; `ranges` says which keys a lost list had."""

    object: str
    reason: str
    snapshots: dict[str, None] = field(default_factory=dict)
    keys: dict[str, None] = field(default_factory=dict)
    ranges: dict[str, None] = field(default_factory=dict)

    def affects(self, snapshot: str, *, key: str | None = None, keys_between: str | None = None) -> None:
        self.snapshots[snapshot] = None
        if key is not None:
            self.keys[key] = None
        if keys_between is not None:
            self.ranges[keys_between] = None
