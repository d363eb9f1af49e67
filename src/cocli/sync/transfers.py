"""Copying files one way or the other, each under a condition: what somebody else changed meanwhile is never replaced.

A row of the state is written after its file is where it belongs. Killed in between, the next run finds both sides to
have the same content, and remembers that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.errors import (
    AlreadyExists,
    ChangedMeanwhile,
    ChangedWhileRead,
    Conflict,
    NotFound,
    StoreError,
)
from cocli.store.base import Put, StoredObject
from cocli.store.etag import content_etag
from cocli.sync.kinds import SyncRule
from cocli.sync.state import row_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.errors import CocliError
    from cocli.sync.folder import Content
    from cocli.sync.pace import Throttle
    from cocli.sync.pair import SyncPair
    from cocli.sync.plan import SyncStep
    from cocli.sync.report import SyncReport
    from cocli.sync.state import SyncRow


class Transfers:
    """Both directions. What turns out to be contested is handed back, for `conflicts` to settle."""

    def __init__(self, pair: SyncPair, report: SyncReport, throttle: Throttle) -> None:
        self._pair = pair
        self._report = report
        self._throttle = throttle

    # --- up

    def upload(self, steps: Sequence[SyncStep]) -> list[SyncStep]:
        """Send files; returns those that somebody else changed there first."""
        looked = self._pair.folder.now_ns()
        contents = self._read(steps, looked)
        ready = [step for step in steps if step.key in contents]
        self._throttle.spend(sum(len(contents[step.key].data) for step in ready))
        answers = self._pair.bucket.put_many([self._put(step, contents[step.key]) for step in ready])
        rows: dict[str, SyncRow] = {}
        contested: list[SyncStep] = []
        for step, answer in zip(ready, answers, strict=True):
            content = contents[step.key]
            if isinstance(answer, str):
                rows[step.key] = row_of(content.stamp, looked, content_etag(content.data), answer)
                self._report.bytes_up += len(content.data)
            elif isinstance(answer, (AlreadyExists, Conflict)):
                contested.append(step)
            else:
                self._report.failed[step.key] = answer
        self._pair.state.advance(rows)
        self._report.counts["uploaded"] += len(rows)
        return contested

    def _read(self, steps: Sequence[SyncStep], looked: int) -> dict[str, Content]:
        contents: dict[str, Content] = {}
        for step in steps:
            try:
                contents[step.key] = self._pair.folder.read(step.key, looked)
            except NotFound:
                continue  # removed since the walk: the next run sees a deletion
            except (ChangedWhileRead, StoreError) as error:
                self._report.failed[step.key] = error
        return contents

    def _put(self, step: SyncStep, content: Content) -> Put:
        if step.there is None or step.there.etag is None:
            return Put(step.key, content.data, if_absent=True)
        return Put(step.key, content.data, if_match=step.there.etag)

    # --- down

    def download(self, steps: Sequence[SyncStep]) -> list[SyncStep]:
        """Fetch files; returns those that were changed here first."""
        self._throttle.spend(sum(step.size for step in steps))
        fetched: list[tuple[SyncStep, StoredObject]] = []
        for step, answer in zip(steps, self._pair.bucket.get_many([step.key for step in steps]), strict=True):
            if isinstance(answer, StoredObject):
                fetched.append((step, answer))
                self._report.bytes_down += len(answer.data)
            elif not isinstance(answer, NotFound):  # deleted since the listing: the next run sees it
                self._report.failed[step.key] = answer
        contested, rows = self._write(fetched)
        self._pair.state.advance(rows)
        self._report.counts["downloaded"] += len(rows)
        return contested

    def _write(self, fetched: Sequence[tuple[SyncStep, StoredObject]]) -> tuple[list[SyncStep], dict[str, SyncRow]]:
        folder, rows, contested = self._pair.folder, dict[str, "SyncRow"](), list["SyncStep"]()
        looked = folder.now_ns()  # before the writing: an edit right behind it is looked for by the next run
        created = [(step, stored) for step, stored in fetched if step.stamp is None]
        answers: list[str | StoreError] = list(
            folder.store.put_many([Put(step.key, stored.data, if_absent=True) for step, stored in created])
        )
        replaced = [(step, stored) for step, stored in fetched if step.stamp is not None]
        answers += [self._replace(step, stored) for step, stored in replaced]
        for (step, stored), answer in zip([*created, *replaced], answers, strict=True):
            if isinstance(answer, str):
                if (stamp := folder.stamp(step.key)) is not None:
                    rows[step.key] = row_of(stamp, looked, answer, stored.etag)
            elif isinstance(answer, (AlreadyExists, Conflict)):
                contested.append(step)
            else:
                self._report.failed[step.key] = answer
        return contested, rows

    def _replace(self, step: SyncStep, stored: StoredObject) -> str | StoreError:
        try:
            self._pair.folder.replace(step.key, stored.data, step.known_digest)
        except StoreError as error:
            return error
        return content_etag(stored.data)

    # --- away

    def delete_there(self, steps: Sequence[SyncStep]) -> None:
        self._away(steps, self._pair.side_by_side(self._delete_there, steps), "deleted_there")

    def delete_here(self, steps: Sequence[SyncStep]) -> None:
        self._away(steps, [self._delete_here(step) for step in steps], "deleted_here")

    def _delete_there(self, step: SyncStep) -> CocliError | None:
        if self._pair.folder.stamp(step.key) is not None:
            return ChangedMeanwhile(key=step.key)  # made again since the walk
        try:
            self._pair.bucket.delete(step.key, if_match=step.etag_there)
        except Conflict:
            return ChangedMeanwhile(key=step.key)
        except StoreError as error:
            return error
        return None

    def _delete_here(self, step: SyncStep) -> CocliError | None:
        try:
            digest = step.known_digest
            if step.kind.rule is SyncRule.IMMUTABLE:
                digest = content_etag(self._pair.folder.store.get(step.key).data)
            self._pair.folder.remove(step.key, digest)
        except NotFound:
            return None
        except Conflict:
            return ChangedMeanwhile(key=step.key)
        except (StoreError, ChangedWhileRead) as error:
            return error
        return None

    def _away(self, steps: Sequence[SyncStep], answers: Sequence[CocliError | None], name: str) -> None:
        gone = [step.key for step, answer in zip(steps, answers, strict=True) if answer is None]
        self._report.failed.update(
            {step.key: answer for step, answer in zip(steps, answers, strict=True) if answer is not None}
        )
        self._pair.state.advance({}, gone)
        self._report.counts[name] += len(gone)
