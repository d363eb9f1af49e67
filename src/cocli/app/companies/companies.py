"""The companies of a store, for people: list, show, make, tag, exclude, and refresh from the prospects of campaigns."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from cocli.app.campaigns.campaign import edit_campaign
from cocli.app.campaigns.name import campaign_names
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.workspace import Progress, location, no_progress
from cocli.config.edit import ConfigChange, Operator
from cocli.errors import NotFound, UsageError
from cocli.formats.markdown import MarkdownFile
from cocli.index.reader import open_reader
from cocli.keys.paths import CompanyKey
from cocli.keys.slugs import slug_of
from cocli.pipeline.exclusions import Exclusions, exclusion_of
from cocli.results.companies import writing
from cocli.results.companies.drafts import new_company
from cocli.results.companies.entries import meetings, notes
from cocli.results.companies.pages import CompanyPage, file_of, find_pages, load_files, load_pages, page_of
from cocli.results.companies.people import people_of
from cocli.results.companies.refresh import Refresher, RefreshReport
from cocli.results.companies.tags import check_tag, with_tag, without_tag

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from cocli.app.workspace import Campaign, Workspace
    from cocli.models.note import Meeting, Note
    from cocli.pipeline.suppression.listing import SuppressionList
    from cocli.results.companies.drafts import DraftValue
    from cocli.results.companies.entries import CompanyEntry
    from cocli.results.companies.people import PersonPage
    from cocli.store.base import Store

_NO_HASH = "0" * 8
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class CompanyView:
    """A page with what lies beside it."""

    page: CompanyPage
    path: str
    notes: tuple[CompanyEntry[Note], ...]
    meetings: tuple[CompanyEntry[Meeting], ...]
    people: tuple[PersonPage, ...] = ()


@dataclass(frozen=True, slots=True)
class Changed:
    """A file, and whether it was written."""

    slug: str
    path: str
    changed: bool


@dataclass(frozen=True, slots=True)
class Excluded:
    """What a company is excluded by in a campaign: the kind of exclusion and its value."""

    slug: str
    campaign: str
    setting: str
    value: str
    changed: bool


@dataclass
class Refreshed:
    """What became of the campaigns that were refreshed."""

    campaigns: list[str] = field(default_factory=list)
    report: RefreshReport = field(default_factory=RefreshReport)


def crm_store(workspace: Workspace, campaign: str | None) -> Store:
    """Where the companies and people are: in the store of the campaign that was named, else in the configured one."""
    if campaign:
        return workspace.campaign(campaign).store
    return workspace.store


# --- looking


def list_companies(
    store: Store,
    *,
    tags: Collection[str] = (),
    campaign: str | None = None,
    exclusions: Exclusions | None = None,
    slugs: Collection[str] | None = None,
    progress: Progress = no_progress,
) -> Iterator[CompanyPage]:
    """Every company, or those with tags, of a campaign, or with certain slugs. `exclusions` are the campaign's."""
    for page in load_pages(store, progress):
        if slugs is not None and page.slug not in slugs:
            continue
        if not set(tags) <= set(page.tags):
            continue
        if campaign is not None and (page.facts is None or campaign not in page.facts.campaigns):
            continue
        if exclusions and _is_excluded(page, exclusions):
            continue
        yield page


def _is_excluded(page: CompanyPage, exclusions: Exclusions) -> bool:
    facts = page.facts
    place_id, domain = (facts.place_id, facts.domain) if facts else (None, None)
    return exclusion_of(exclusions, name=page.title, place_id=place_id, domain=domain) is not None


def company(store: Store, name: str) -> CompanyPage:
    """The company that a person means; where several could be meant, they are named."""
    found = find_pages(store, name)
    if not found:
        hint = "See them with: cocli company ls, or make pages with: cocli company refresh"
        former = file_of(store, name)
        if former is not None and former.is_former and former.moved_to is None:
            hint = f"Its page was removed. To have it again: cocli company restore {former.slug}"
        raise NotFound(key=f"company {name}", hint=hint)
    if len(found) > 1:
        known = ", ".join(page.slug for page in found[:_SHOWN]) + (", …" if len(found) > _SHOWN else "")
        raise UsageError(
            reason=f'"{name}" may be {len(found)} companies: {known}',
            hint="Name one by its slug, the first column of: cocli company ls",
        )
    return found[0]


def show_company(store: Store, name: str) -> CompanyView:
    page = company(store, name)
    entries = tuple(notes(store, page.slug)), tuple(meetings(store, page.slug))
    people = tuple(people_of(store, page.slug, page.title, *former_slugs(store, page)))
    return CompanyView(page, location(store, page.key), *entries, people)


def refuse_left_alone(listed: SuppressionList, page: CompanyPage) -> None:
    """A business that is on the do-not-contact list as a whole is not shown, its page neither."""
    facts = page.facts
    domain, place_id = (facts.domain, facts.place_id) if facts else (None, None)
    by_hash = any(map(listed.company, page.hashes))
    if by_hash or listed.host(domain) or listed.place(place_id) or listed.name(page.title):
        hint = f"It is on the do-not-contact list. Your own file is there: cocli company open {page.slug}"
        raise NotFound(key=f"company {page.slug}", hint=hint)


def former_slugs(store: Store, page: CompanyPage) -> tuple[str, ...]:
    """The slugs of pages that were brought together with this one."""
    if page.facts is not None:
        return page.facts.formerly or ()
    return tuple(former.slug for former in load_files(store) if former.moved_to == page.slug)


# --- changing


def make_company(store: Store, name: str, tags: Iterable[str], values: Mapping[str, DraftValue]) -> Changed:
    """A page for a company that a person knows. A name that is taken is not taken twice."""
    if not name.strip():
        raise UsageError(reason="A company needs a name")
    slug = slug_of(name, _NO_HASH)
    if slug == _NO_HASH:
        raise UsageError(reason=f"{name[:40]!a} has no letter or digit to make a file's name of")
    key = str(CompanyKey(slug))
    data = new_company(tags=[check_tag(tag) for tag in tags], values={"name": name.strip(), **values})
    if writing.create(store, [(key, data)]) is None:
        there = page_of(store, slug)
        if there is not None and there.stored.data == data:
            return Changed(slug, location(store, key), changed=False)
        raise UsageError(
            reason=f"There is a company {slug} already",
            hint=f"Open it with: cocli company open {slug}; or give another name.",
        )
    return Changed(slug, location(store, key), changed=True)


def tag_company(store: Store, name: str, tags: Iterable[str], *, remove: bool = False) -> Changed:
    """Add tags to a company, or take them away; everything else in its file stays as it is."""
    page = company(store, name)
    checked = [check_tag(tag) for tag in tags]
    edit_one: Callable[..., bytes] = without_tag if remove else with_tag

    def edit(data: bytes) -> bytes:
        for tag in checked:
            data = edit_one(data, tag, file=page.key)
        return data

    changed = writing.change(store, page.key, edit, known=page.stored)
    return Changed(page.slug, location(store, page.key), changed)


def replace_file(store: Store, key: str, data: bytes, etag: str) -> None:
    """Put a person's edited text in place of what they were given; `Conflict` if somebody else was quicker.

    `FormatError` where its front matter cannot be read: nothing is written then.
    """
    MarkdownFile.parse(data, file=key)
    store.put(key, data, if_match=etag)


# --- excluding


def exclude_company(workspace: Workspace, name: str, campaign: str, *, by: str | None, undo: bool) -> Excluded:
    """Name a company in `[exclude]` of a campaign: by its place id, else its domain, else its name."""
    page = company(workspace.campaign(campaign).store, name)
    setting, value = _exclusion(page, by)
    operator = Operator.REMOVE if undo else Operator.APPEND
    listed = getattr(workspace.campaign(campaign).settings.model().exclude, setting)
    if (value in listed) != undo:
        return Excluded(page.slug, campaign, setting, value, changed=False)
    edit_campaign(workspace, campaign, [ConfigChange(("exclude", setting), operator, value)])
    return Excluded(page.slug, campaign, setting, value, changed=True)


def _exclusion(page: CompanyPage, by: str | None) -> tuple[str, str]:
    facts = page.facts
    known = {
        "place-id": ("place_ids", facts.place_id if facts else None),
        "domain": ("domains", facts.domain if facts else None),
        "name": ("names", " ".join(page.title.split()) if page.title != page.slug else None),
    }
    for kind, (setting, value) in known.items():
        if value and by in (None, kind):
            return setting, value
    raise UsageError(
        reason=f"Nothing is known of {page.slug} that it could be excluded by" + (f" as {by}" if by else ""),
        hint="Write it yourself: cocli campaign edit CAMPAIGN --set exclude.domains+=acme.com",
    )


# --- refreshing


def exclusions_of(campaign: Campaign) -> Exclusions:
    """What `[exclude]` of the campaign says, and who is on the do-not-contact list."""
    return Exclusions.of(campaign.settings.model().exclude, campaign.left_alone.listed)


def refresh_companies(
    workspace: Workspace, campaign: str | None, *, dry_run: bool = False, progress: Progress = no_progress
) -> Refreshed:
    """Make and refresh the pages of a campaign's prospects, or of all campaigns. What waits to be packed counts too."""
    names = [campaign] if campaign else sorted(campaign_names(workspace.store))
    refreshers: dict[str, Refresher] = {}
    done = Refreshed(names)
    for name in names:
        indexes = campaign_indexes(workspace, name)
        chosen = workspace.campaign(name)
        address = indexes.store.address
        if address not in refreshers:
            refreshers[address] = Refresher(indexes.store, dry_run=dry_run, progress=progress)
        reader = open_reader(indexes.open(indexes.ref("prospects")), fresh=True)
        tag = chosen.settings.model().campaign.tag or name
        refreshers[address].refresh(reader.scan, exclusions_of(chosen), tag)
    for refresher in refreshers.values():
        _add(done.report, refresher.report)
    return done


def _add(total: RefreshReport, part: RefreshReport) -> None:
    for column in fields(RefreshReport):
        setattr(total, column.name, getattr(total, column.name) + getattr(part, column.name))
