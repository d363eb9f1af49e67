"""How often extractors fail on a machine: counts of the last hour, and the alarms that follow from them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta

from pydantic import Field

from cocli.documents.reading.limits import TOO_COSTLY
from cocli.models.record import Count, Label, Many, Record, RecordPart, Text, UtcDatetime

WINDOW = timedelta(hours=1)
SPAN = timedelta(minutes=5)
"""Counts are kept by spans of this length, so that the window moves on."""
LEAST_SITES = 5
"""On fewer websites a failure is an oddity of theirs: somebody may have made one to break us."""
LEAST_SHARE = 0.02


class ReadSpan(RecordPart):
    """What was read within some minutes."""

    began_at: UtcDatetime
    sites: Count
    failed: dict[Label, Count] = Field(default_factory=dict)
    """Extractor → websites on which it failed."""


class FailureExample(RecordPart):
    """The page on which an extractor failed last."""

    document: Text
    """Its document's id."""
    reason: Text


@dataclass(frozen=True, slots=True)
class ExtractorAlarm:
    """An extractor that fails too often."""

    extractor: str
    failed: int
    sites: int
    example: FailureExample

    @property
    def message(self) -> str:
        """With the page to look at."""
        what = "pages took too much" if self.extractor == TOO_COSTLY else f"the extractor {self.extractor} failed"
        share = 100 * self.failed / self.sites
        return (
            f"{what} on {self.failed} of {self.sites:,} websites ({share:.1f} %) within an hour, such as "
            f"{self.example.document}: {self.example.reason}"
        )


class ExtractorQuality(Record):
    """`campaigns/{campaign}/quality/extractors/{hostname}.json`. It is written as soon as one has failed."""

    schema_id = "cocli.extractor-quality/1"
    key = ("hostname",)

    hostname: Label
    version: Label
    """Of the program. Another one counts anew: its mistakes are others."""
    updated_at: UtcDatetime
    spans: Many[ReadSpan] = ()
    examples: dict[Label, FailureExample] = Field(default_factory=dict)
    """Extractor → where it failed last."""

    def with_sites(
        self, sites: int, failed: Counter[str], examples: dict[str, FailureExample], now: datetime
    ) -> ExtractorQuality:
        """The same with what was read since; what is older than the window is left out."""
        spans = [span for span in self.spans if now - span.began_at < WINDOW]
        last = ReadSpan(began_at=now, sites=0)
        if spans and now - spans[-1].began_at < SPAN:
            last = spans.pop()
        total = dict(sorted((Counter(last.failed) + failed).items()))
        spans.append(ReadSpan(began_at=last.began_at, sites=last.sites + sites, failed=total))
        known = {name for span in spans for name in span.failed}
        kept = {name: example for name, example in (self.examples | examples).items() if name in known}
        return self.with_changes(updated_at=now, spans=tuple(spans), examples=kept)

    def alarms(self, now: datetime) -> list[ExtractorAlarm]:
        """Extractors that failed on several websites of the last hour, and on a share of them that is no accident."""
        spans = [span for span in self.spans if now - span.began_at < WINDOW]
        sites, failed = sum(span.sites for span in spans), Counter[str]()
        for span in spans:
            failed.update(span.failed)
        return [
            ExtractorAlarm(name, count, sites, self.examples[name])
            for name, count in sorted(failed.items(), key=lambda counted: (-counted[1], counted[0]))
            if name in self.examples and count >= LEAST_SITES and count >= sites * LEAST_SHARE
        ]
