"""The register of processing: what a campaign keeps about whom, where it is from, why, and how long.

It is made from the configuration and from the registry of sources, so it says what the program does. What only a
person knows (`[processing]`) is taken from there, and what is missing is said.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from cocli.pipeline.sources.registry import find_source
from cocli.results.exports.cells import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from cocli.app.workspace import Workspace
    from cocli.models.campaign import CampaignConfig

_FOR_EVER = "until somebody removes it"


@dataclass(frozen=True, slots=True)
class RegisteredSource:
    name: str
    licence: str
    attribution: str
    link: str


@dataclass(frozen=True, slots=True)
class ProcessingActivity:
    """One thing that is done with data."""

    name: str
    data: str
    people: str
    sources: tuple[RegisteredSource, ...]
    where: str
    kept_for: str


@dataclass(frozen=True, slots=True)
class Register:
    campaign: str
    at: datetime
    controller: str | None
    contact: str | None
    purpose: str | None
    basis: str | None
    recipients: tuple[str, ...]
    activities: tuple[ProcessingActivity, ...]
    measures: tuple[str, ...]
    missing: tuple[str, ...]
    """Settings that only a person can fill in."""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def register_of(workspace: Workspace, name: str) -> Register:
    campaign = workspace.campaign(name)
    config = campaign.settings.model()
    said = config.processing
    answers = {field: getattr(said, field) for field in ("controller", "contact", "purpose", "basis")}
    return Register(
        campaign=name,
        at=campaign.store.now(),
        **answers,
        recipients=tuple(said.recipients),
        activities=tuple(_activities(config, campaign.store.address)),
        measures=tuple(_measures(config)),
        missing=tuple(f"processing.{field}" for field, answer in answers.items() if answer is None),
    )


def _activities(config: CampaignConfig, store: str) -> list[ProcessingActivity]:
    rules, documents = config.retention, config.documents
    catalog = "a file on each machine" if documents.catalog is None else "a database"
    asked = tuple(_source(name) for name in config.prospecting.sources)
    websites = (RegisteredSource("websites of the businesses", "", "each page is its owner's", ""),)
    people = (RegisteredSource("people who use cocli", "", "", ""),)
    business = "businesses; people where a business is one"
    named = f"{business}; people whom their websites name"
    return [
        ProcessingActivity(
            "searching", "names, addresses, positions, phones, websites, ratings", business, asked, store, _FOR_EVER
        ),
        ProcessingActivity(
            "reading websites", "e-mail addresses, phones, people with their roles", named, websites, store, _FOR_EVER
        ),
        ProcessingActivity(
            "captures",
            "pages as they came in, and what was made of them",
            named,
            (*asked, *websites),
            f"{store} and {catalog}",
            _kept(rules.captures),
        ),
        ProcessingActivity(
            "earlier versions of captures",
            "pages as they were before",
            named,
            (*asked, *websites),
            store,
            _kept(rules.versions),
        ),
        ProcessingActivity(
            "earlier versions of the records",
            "records as they were before",
            named,
            (*asked, *websites),
            store,
            _kept(rules.index_versions),
        ),
        ProcessingActivity(
            "notes", "what people write about companies and people", "people one deals with", people, store, _FOR_EVER
        ),
        ProcessingActivity("exports", "the list as files", named, (*asked, *websites), store, _kept(rules.exports)),
        ProcessingActivity("reports", "counts", "nobody by name", (), store, _kept(rules.reports)),
        ProcessingActivity(
            "tasks", "ids and addresses that were worked on", business, (), store, _kept(rules.completed)
        ),
    ]


def _source(name: str) -> RegisteredSource:
    source = find_source(name)
    if source is None:
        return RegisteredSource(name, "unknown", "", "")
    licence = source.licence
    return RegisteredSource(source.title, licence.name, licence.attribution, licence.link or "")


def _kept(age: str | None) -> str:
    return _FOR_EVER if age is None else age


def _measures(config: CampaignConfig) -> list[str]:
    fetch = config.fetch
    robots = "robots.txt is obeyed" if fetch.robots else "robots.txt is not obeyed"
    rules = "applied once a day by the elected supervisor" if config.retention.automatic else "applied by a person"
    return [
        f"{robots}; at most {fetch.rate:g} requests per second to one site",
        "files and folders that cocli makes are closed to others; secrets are kept out of files and logs",
        "exclusions hold in searches, records, exports and published files",
        f"rules of retention are {rules}; each removal leaves a record with digests (cocli retention proofs)",
        f"a bucket that keeps versions forgets what was removed after {config.retention.bucket_versions}",
        "a person's data can be removed with proof: cocli documents purge",
    ]


def as_markdown(register: Register) -> str:
    """For people."""
    lines = [f"# Register of processing: {_text(register.campaign)}", "", f"Made on {register.at:%Y-%m-%d}.", ""]
    rows = [
        ("controller", register.controller),
        ("contact", register.contact),
        ("purpose", register.purpose),
        ("basis", register.basis),
        ("recipients", "; ".join(register.recipients) or None),
    ]
    lines += _table(("what", "is"), [(name, value or "*not said*") for name, value in rows])
    lines += ["", "## What is processed", ""]
    lines += _table(
        ("what", "data", "about whom", "where from", "kept in", "kept for"),
        [
            (
                activity.name,
                activity.data,
                activity.people,
                "; ".join(source.name for source in activity.sources) or "the program itself",
                activity.where,
                activity.kept_for,
            )
            for activity in register.activities
        ],
    )
    found = {source.name: source for activity in register.activities for source in activity.sources if source.licence}
    if found:
        lines += ["", "## Sources and their licences", ""]
        cells = [(source.name, source.licence, source.attribution, source.link) for source in found.values()]
        lines += _table(("source", "licence", "attribution", "link"), cells)
    lines += ["", "## Measures", "", *(f"- {_text(measure)}" for measure in register.measures), ""]
    return "\n".join(lines)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    return [*lines, *(f"| {' | '.join(map(_text, row))} |" for row in rows)]


def _text(value: str) -> str:
    """One cell: a text of the configuration may have lines and bars."""
    return one_line(value).replace("|", "\\|")
