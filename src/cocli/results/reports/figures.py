"""The figures of a campaign and of its report: one question to the indexes, and what its rows say.

Who asks is `cocli.app.results.figures` and `cocli.app.results.report`. Everything is one statement, so that each index
is read once; docs/reference/figures.md says what is counted.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from cocli.formats.usv_sql import quote_text
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
_OPEN = "open_site_"


def _filled(name: str) -> str:
    if name in TEXTS:
        return f"{name} <> ''"
    if name in LISTS or name in MAPS:
        # Compared as text: taking the JSON of a million records apart takes ten times as long.
        return f"{name}::VARCHAR NOT IN ('[]', '{{}}', 'null')"
    return f"{name} IS NOT NULL"


def _listed(texts: Sequence[str]) -> str:
    return ", ".join(texts)


READ_STATUSES = ("alive", "parked", "for-sale", "social-only", "directory", "redirected")
"""What a website is of which a page was read, whatever it turned out to be."""
_READ = _listed([f"'{status}'" for status in READ_STATUSES])
_HAS_SITE = f"coalesce({_filled('website')}, false) OR coalesce({_filled('domain')}, false)"
_HAS_EMAIL = f"coalesce({_filled('primary_email')}, false) OR coalesce({_filled('all_emails')}, false)"

_TABLES = f"""
WITH everyone AS MATERIALIZED (
    SELECT company_hash, merged_into IS NOT NULL AS merged, company_hash IN (SELECT unnest($excluded)) AS excluded,
           domain, business_status, primary_email, all_emails::VARCHAR AS all_emails, sources::VARCHAR AS sources,
           {_HAS_SITE} AS with_website, {_HAS_EMAIL} AS with_email$columns
    FROM prospects_all
), known AS (
    SELECT * FROM everyone WHERE NOT merged AND NOT excluded
), sites AS MATERIALIZED (
    SELECT domain, any_value(domains.status) AS status,
           bool_and(business_status IS NOT DISTINCT FROM 'permanently_closed') AS closed
    FROM known LEFT JOIN domains USING (domain) WHERE domain <> '' GROUP BY domain
), mine AS (
    SELECT DISTINCT email FROM (
        SELECT unnest(from_json(all_emails, '["VARCHAR"]')) AS email FROM known WHERE all_emails NOT IN ('[]', 'null')
        UNION ALL SELECT primary_email FROM known
    ) WHERE email <> ''
), addresses AS MATERIALIZED (
    SELECT email, coalesce(emails.domain, split_part(email, '@', 2)) AS domain, method, label, verification, origins
    FROM mine LEFT JOIN emails USING (email)
)
"""  # noqa: S608  made of the constants above
"""Who is counted, which websites they have, and which addresses: the same for whoever counts."""

_COUNTS = f"""
SELECT 'merged' AS section, '' AS name, count(*) AS count FROM everyone WHERE merged
UNION ALL SELECT 'excluded', '', count(*) FROM everyone WHERE excluded AND NOT merged
UNION ALL SELECT 'prospects', '', count(*) FROM known
UNION ALL SELECT 'with_website', '', count(*) FROM known WHERE with_website
UNION ALL SELECT 'with_email', '', count(*) FROM known WHERE with_email
UNION ALL SELECT 'site_read', '', count(*) FROM known JOIN sites USING (domain) WHERE status IN ({_READ})
UNION ALL SELECT 'addresses', '', count(*) FROM addresses WHERE verification IS DISTINCT FROM 'undeliverable'
UNION ALL SELECT 'undeliverable', '', count(*) FROM addresses WHERE verification = 'undeliverable'
UNION ALL SELECT 'sites_read', '', count(*) FROM sites WHERE status IN ({_READ})
"""  # noqa: S608  made of the constants above

_OPEN_SITES = f"""
UNION ALL SELECT '{_OPEN}' || coalesce(status, '{UNVISITED}'), domain, closed::INTEGER
FROM sites WHERE status IS NULL OR status NOT IN ({_READ})
"""  # noqa: S608  made of the constants above
"""The websites that were not read, one by one: their tasks say why."""

_DETAILS = f"""
UNION ALL SELECT 'field', unnest([{_listed([f"'{name}'" for name in FIELDS])}]),
    unnest([{_listed([f"count(*) FILTER (WHERE filled_{name})" for name in FIELDS])}]) FROM known
UNION ALL SELECT 'source', source, count(*)
    FROM (SELECT unnest(from_json(sources, '["VARCHAR"]')) AS source FROM known) GROUP BY source
UNION ALL (SELECT 'category', category, count(*) FROM known WHERE category <> ''
    GROUP BY category ORDER BY count(*) DESC, category LIMIT {TOP_CATEGORIES})
UNION ALL SELECT 'domain', coalesce(status, '{UNVISITED}'), count(*) FROM sites GROUP BY ALL
UNION ALL SELECT 'email_source', source, count(*) FROM told GROUP BY source
UNION ALL SELECT 'email_method', coalesce(method, '{UNKNOWN}'), count(*) FROM told GROUP BY ALL
UNION ALL SELECT 'email_label', coalesce(label, '{UNKNOWN}'), count(*) FROM told GROUP BY ALL
UNION ALL SELECT 'email_verification', coalesce(verification, '{UNKNOWN}'), count(*) FROM told GROUP BY ALL
UNION ALL SELECT 'email_own', '', count(*) FROM told WHERE own
UNION ALL SELECT 'email_elsewhere', domain, count(*) FROM told WHERE NOT own GROUP BY domain
"""  # noqa: S608  made of the constants above

_TOLD = f""", told AS MATERIALIZED (
    SELECT *, coalesce(list_filter(
               from_json(origins, '[{{"fields": ["VARCHAR"], "source": "VARCHAR"}}]'),
               lambda origin: list_contains(origin.fields, 'domain')
           )[1].source, '{UNKNOWN}') AS source,
           domain IN (SELECT domain FROM sites) AS own
    FROM addresses WHERE verification IS DISTINCT FROM 'undeliverable'
)
"""  # noqa: S608  made of the constants above
_COLUMNS = ", categories->>0 AS category, " + _listed(
    [f"coalesce({_filled(name)}, false) AS filled_{name}" for name in FIELDS]
)


def counting_sql(excluded: Sequence[str]) -> str:
    """Rows of section, name and count: the figures alone. `excluded` are the hashes of those that are not counted."""
    return _tables(excluded, "") + _COUNTS + _OPEN_SITES


def report_sql(excluded: Sequence[str]) -> str:
    """The same, with everything else that a report says."""
    return _tables(excluded, _COLUMNS) + _TOLD + _COUNTS + _OPEN_SITES + _DETAILS


def _tables(excluded: Sequence[str], columns: str) -> str:
    hashes = f"[{_listed([quote_text(company) for company in excluded])}]::VARCHAR[]"
    return _TABLES.replace("$excluded", hashes).replace("$columns", columns)


_SINGLE = (
    *("merged", "excluded", "prospects", "with_website", "with_email"),
    *("site_read", "sites_read", "addresses", "undeliverable"),
)


class OpenSite(NamedTuple):
    """A website that was not read."""

    domain: str
    status: str | None
    closed: bool
    """Everybody who has it closed for good."""


@dataclass(slots=True)
class Figures:
    """What the indexes say."""

    prospects: int = 0
    merged: int = 0
    excluded: int = 0
    with_website: int = 0
    with_email: int = 0
    site_read: int = 0
    """Businesses whose website was read."""
    sites_read: int = 0
    """Websites that were read: businesses may share one."""
    addresses: int = 0
    undeliverable: int = 0
    open_sites: list[OpenSite] = field(default_factory=list)
    filled: dict[str, int] = field(default_factory=dict)
    sections: dict[str, list[Counted]] = field(default_factory=dict)
    relations: Counter[str] = field(default_factory=Counter)

    def counted(self, section: str) -> tuple[Counted, ...]:
        return tuple(sorted(self.sections.get(section, ()), key=lambda count: (-count.count, count.name)))

    def fill_rates(self) -> tuple[FillRate, ...]:
        return tuple(
            FillRate(field=name, filled=self.filled.get(name, 0), share=share(self.filled.get(name, 0), self.prospects))
            for name in FIELDS
        )

    def emails(self) -> EmailFigures:
        relations = [Counted(name=name, count=count) for name, count in self.relations.most_common() if count]
        return EmailFigures(
            addresses=self.addresses,
            undeliverable=self.undeliverable,
            prospects=self.with_email,
            by_source=self.counted("email_source"),
            by_method=self.counted("email_method"),
            by_relation=tuple(relations),
            by_label=self.counted("email_label"),
            by_verification=self.counted("email_verification"),
        )


def figures_of(rows: Iterable[tuple[str, str, int]]) -> Figures:
    """The answer to `counting_sql` or `report_sql`, put in order."""
    made = Figures()
    sections: defaultdict[str, list[Counted]] = defaultdict(list)
    for section, name, count in rows:
        if section in _SINGLE:
            setattr(made, section, count)
        elif section.startswith(_OPEN):
            status = section.removeprefix(_OPEN)
            made.open_sites.append(OpenSite(name, None if status == UNVISITED else status, bool(count)))
        elif section == "field":
            made.filled[name] = count
        elif section == "email_own":
            made.relations["own"] += count
        elif section == "email_elsewhere":
            made.relations["freemail" if is_freemail(name) else "other"] += count
        else:
            sections[section].append(Counted(name=name, count=count))
    made.sections = dict(sections)
    return made


def share(part: int, whole: int) -> float:
    if whole:
        return part / whole
    return 0.0
