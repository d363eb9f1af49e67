"""The figures of a report: one question to the indexes, and what its rows say. Who asks is `cocli.app.results.report`.

Everything is one statement, so that each index is read once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cocli.models.report import Counted, EmailFigures, FillRate
from cocli.pipeline.websites.hosts.providers import is_freemail

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

TEXTS = (
    *("name", "phone", "phone_e164", "website", "domain", "street", "city", "region", "postcode", "country"),
    *("business_status", "primary_email", "place_id"),
)
NUMBERS = ("lat", "lon", "rating", "review_count")
LISTS = ("categories", "hours", "all_emails", "tags")
MAPS = ("socials",)
FIELDS = (*TEXTS, *NUMBERS, *LISTS, *MAPS)
"""The fields whose filling is counted."""
TOP_CATEGORIES = 20
UNKNOWN = "unknown"
UNVISITED = "unvisited"


def _filled(name: str) -> str:
    if name in TEXTS:
        return f"{name} <> ''"
    if name in LISTS or name in MAPS:
        # Compared as text: taking the JSON of a million records apart takes ten times as long.
        return f"{name}::VARCHAR NOT IN ('[]', '{{}}', 'null')"
    return f"{name} IS NOT NULL"


def _listed(texts: Sequence[str]) -> str:
    return ", ".join(texts)


QUESTION = f"""
WITH everyone AS MATERIALIZED (
    SELECT merged_into IS NOT NULL AS merged, domain, sources::VARCHAR AS sources, categories->>0 AS category,
           coalesce(primary_email <> '', false) OR coalesce({_filled("all_emails")}, false) AS with_email,
           {_listed([f"coalesce({_filled(name)}, false) AS filled_{name}" for name in FIELDS])}
    FROM prospects_all
), known AS (
    SELECT * FROM everyone WHERE NOT merged
), visited AS MATERIALIZED (
    SELECT domain, status, last_crawled IS NOT NULL AS is_read FROM domains
    WHERE domain IN (SELECT domain FROM known)
), addresses AS MATERIALIZED (
    SELECT domain, coalesce(method, '{UNKNOWN}') AS method, coalesce(label, '{UNKNOWN}') AS label, verification,
           coalesce(list_filter(
               from_json(origins, '[{{"fields": ["VARCHAR"], "source": "VARCHAR"}}]'),
               lambda origin: list_contains(origin.fields, 'domain')
           )[1].source, '{UNKNOWN}') AS source,
           domain IN (SELECT domain FROM known WHERE domain IS NOT NULL) AS own
    FROM emails
)
SELECT 'merged' AS section, '' AS name, count(*) AS count FROM everyone WHERE merged
UNION ALL SELECT 'prospects', '', count(*) FROM known
UNION ALL SELECT 'with_email', '', count(*) FROM known WHERE with_email
UNION ALL SELECT 'site_read', '', count(*) FROM known JOIN visited USING (domain) WHERE is_read
UNION ALL SELECT 'field', unnest([{_listed([f"'{name}'" for name in FIELDS])}]),
    unnest([{_listed([f"count(*) FILTER (WHERE filled_{name})" for name in FIELDS])}]) FROM known
UNION ALL SELECT 'source', source, count(*)
    FROM (SELECT unnest(from_json(sources, '["VARCHAR"]')) AS source FROM known) GROUP BY source
UNION ALL (SELECT 'category', category, count(*) FROM known WHERE category <> ''
    GROUP BY category ORDER BY count(*) DESC, category LIMIT {TOP_CATEGORIES})
UNION ALL SELECT 'domain', coalesce(status, '{UNVISITED}'), count(*)
    FROM (SELECT DISTINCT domain FROM known WHERE domain <> '') LEFT JOIN visited USING (domain) GROUP BY ALL
UNION ALL SELECT 'email_source', source, count(*) FROM addresses GROUP BY source
UNION ALL SELECT 'email_method', method, count(*) FROM addresses GROUP BY method
UNION ALL SELECT 'email_label', label, count(*) FROM addresses GROUP BY label
UNION ALL SELECT 'email_verification', verification, count(*) FROM addresses GROUP BY verification
UNION ALL SELECT 'email_own', '', count(*) FROM addresses WHERE own
UNION ALL SELECT 'email_elsewhere', domain, count(*) FROM addresses WHERE NOT own GROUP BY domain
"""  # noqa: S608  made of the constants above
"""Rows of section, name and count."""


@dataclass(slots=True)
class Figures:
    """What the indexes say."""

    prospects: int = 0
    merged: int = 0
    with_email: int = 0
    site_read: int = 0
    filled: dict[str, int] = field(default_factory=dict)
    sections: dict[str, list[Counted]] = field(default_factory=dict)
    relations: Counter[str] = field(default_factory=Counter)

    def counted(self, section: str) -> tuple[Counted, ...]:
        return tuple(sorted(self.sections.get(section, ()), key=lambda count: (-count.count, count.name)))

    @property
    def addresses(self) -> int:
        return self.relations.total()

    def fill_rates(self) -> tuple[FillRate, ...]:
        return tuple(
            FillRate(field=name, filled=self.filled.get(name, 0), share=share(self.filled.get(name, 0), self.prospects))
            for name in FIELDS
        )

    def emails(self) -> EmailFigures:
        relations = [Counted(name=name, count=count) for name, count in self.relations.most_common() if count]
        return EmailFigures(
            addresses=self.addresses,
            prospects=self.with_email,
            by_source=self.counted("email_source"),
            by_method=self.counted("email_method"),
            by_relation=tuple(relations),
            by_label=self.counted("email_label"),
            by_verification=self.counted("email_verification"),
        )


def figures_of(rows: Iterable[tuple[str, str, int]]) -> Figures:
    """The answer to `QUESTION`, put in order."""
    made = Figures()
    single: dict[str, int] = {}
    sections: defaultdict[str, list[Counted]] = defaultdict(list)
    for section, name, count in rows:
        if section in ("prospects", "merged", "with_email", "site_read"):
            single[section] = count
        elif section == "field":
            made.filled[name] = count
        elif section == "email_own":
            made.relations["own"] += count
        elif section == "email_elsewhere":
            made.relations["freemail" if is_freemail(name) else "other"] += count
        else:
            sections[section].append(Counted(name=name, count=count))
    made.prospects, made.merged = single.get("prospects", 0), single.get("merged", 0)
    made.with_email, made.site_read = single.get("with_email", 0), single.get("site_read", 0)
    made.sections = dict(sections)
    return made


def share(part: int, whole: int) -> float:
    if whole:
        return part / whole
    return 0.0
