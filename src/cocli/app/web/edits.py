"""What people change about a company in a browser: its page and its tags. Two who write at once lose nothing."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cocli.app.companies.companies import exclusions_of
from cocli.app.companies.saving import person_values, save_company
from cocli.app.indexes.indexes import campaign_indexes, needed_campaign
from cocli.app.web.companies import find_company, make_company
from cocli.errors import Conflict, UsageError
from cocli.results.companies.pages import page_about
from cocli.results.companies.refresh import Refresher
from cocli.results.companies.tags import check_tag

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cocli.app.indexes.indexes import Indexes
    from cocli.app.web.site import DataSite
    from cocli.models.prospect import Prospect
    from cocli.models.web.company import WebCompany
    from cocli.results.companies.pages import CompanyPage

NO_PAGE = "*"
"""The etag of a page that there is not yet."""
MOST_AT_ONCE = 1000
_MOST_TEXT = 200_000
_MOST_VALUE = 5_000


@dataclass(frozen=True, slots=True)
class CompanyChange:
    """What is to be different. What is not named stays as it is."""

    values: Mapping[str, str | None] = field(default_factory=dict)
    """Key of a person's own → its text; None takes it away."""
    body: str | None = None
    add_tags: Sequence[str] = ()
    remove_tags: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class EditedCompany:
    company: WebCompany
    changed: bool
    command: str
    undo: CompanyChange


@dataclass(frozen=True, slots=True)
class EditConflict:
    """Somebody else was quicker: the company as it is now."""

    theirs: WebCompany


def edit_company(
    site: DataSite, name: str, company_hash: str, change: CompanyChange, etag: str
) -> EditedCompany | EditConflict:
    """Change a company's page, if it is still the one with this etag."""
    _check(change)
    indexes = campaign_indexes(site.workspace, name)
    prospect = find_company(indexes, company_hash)
    page = page_about(indexes.store, prospect)
    if page is None and etag == NO_PAGE:
        page = _made_page(indexes, prospect)
        etag = page.stored.etag
    if page is None or page.stored.etag != etag:
        return EditConflict(make_company(site, name, prospect.company_hash))
    before = person_values(page)
    values = _edited(before, change)
    body = page.body if change.body is None else _body(change.body)
    try:
        saved = save_company(indexes.store, page, values, body)
    except Conflict:  # both are shown to whoever was later
        site.forget()
        return EditConflict(make_company(site, name, prospect.company_hash))
    site.forget()
    made = make_company(site, name, prospect.company_hash)
    return EditedCompany(made, saved.changed, _command(page, change, name), _undo(before, page, change))


def _check(change: CompanyChange) -> None:
    for key, value in change.values.items():
        if key in ("tags", "cocli") or not key.isprintable() or not 0 < len(key) <= 100:
            raise UsageError(reason=f'"{key[:100]}" is not a key that can be set here', hint="Tags are add_tags.")
        if value is not None and (len(value) > _MOST_VALUE or not value.replace("\n", "").isprintable()):
            raise UsageError(reason=f"The value of {key} is too long, or has control characters")
    for tag in change.add_tags:
        check_tag(tag)
    if change.body is not None and len(change.body) > _MOST_TEXT:
        raise UsageError(reason=f"A page has {_MOST_TEXT} characters at most")


def page_for(site: DataSite, name: str, company_hash: str) -> CompanyPage:
    """The page of a company; made where it has none yet."""
    indexes = campaign_indexes(site.workspace, name)
    prospect = find_company(indexes, company_hash)
    return page_about(indexes.store, prospect) or _made_page(indexes, prospect)


def _made_page(indexes: Indexes, prospect: Prospect) -> CompanyPage:
    """The page that `cocli company refresh` would make."""
    campaign = needed_campaign(indexes)
    tag = campaign.settings.model().campaign.tag or campaign.name
    Refresher(indexes.store).refresh(lambda: [prospect], exclusions_of(campaign), tag)
    page = page_about(indexes.store, prospect)
    if page is None:
        raise UsageError(
            reason=f"{prospect.name} has no page, and none can be made: it is excluded",
            hint=f"See what excludes it with: cocli campaign show {campaign.name}",
        )
    return page


def _edited(before: dict[str, Any], change: CompanyChange) -> dict[str, Any]:
    values = dict(before)
    for key, value in change.values.items():
        if value is None or not value.strip():
            values.pop(key, None)
        else:
            values[key] = " ".join(value.split())
    removed = set(change.remove_tags)
    tags = [tag for tag in _tags(before) if tag not in removed]
    tags += [tag for tag in map(check_tag, change.add_tags) if tag not in tags]
    if change.add_tags or change.remove_tags:
        values["tags"] = tags
    return values


def _tags(values: dict[str, Any]) -> list[str]:
    tags = values.get("tags") or []
    return [str(tag) for tag in tags] if isinstance(tags, list) else [str(tags)]


def _body(text: str) -> str:
    plain = text.replace("\r\n", "\n").strip("\n")
    return f"\n{plain}\n" if plain else ""


def _command(page: CompanyPage, change: CompanyChange, campaign: str) -> str:
    slug, lines = shlex.quote(page.slug), []
    if change.values:
        words = [f"{key}={value or ''}" for key, value in change.values.items()]
        settings = " ".join(f"--set {shlex.quote(word)}" for word in words)
        lines.append(f"cocli company edit {slug} {settings}")
    if change.add_tags:
        lines.append(f"cocli company tag {slug} {shlex.join(change.add_tags)}")
    if change.remove_tags:
        lines.append(f"cocli company untag {slug} {shlex.join(change.remove_tags)}")
    if change.body is not None:
        lines.append(f"cocli company open {slug}")
    return " && ".join(f"{line} -c {campaign}" for line in lines) or f"cocli company show {slug} -c {campaign}"


def _undo(before: dict[str, Any], page: CompanyPage, change: CompanyChange) -> CompanyChange:
    had = set(_tags(before))
    return CompanyChange(
        values={key: str(before[key]) if key in before else None for key in change.values},
        body=page.body if change.body is not None else None,
        add_tags=[tag for tag in change.remove_tags if tag in had],
        remove_tags=[tag for tag in change.add_tags if tag not in had],
    )


def tag_companies(
    site: DataSite, name: str, hashes: Sequence[str], *, add: Sequence[str], remove: Sequence[str]
) -> tuple[int, list[str]]:
    """Tags for many companies: how many changed, and what was refused."""
    if len(hashes) > MOST_AT_ONCE:
        raise UsageError(reason=f"At most {MOST_AT_ONCE} companies at once", hint="Narrow the view down.")
    indexes = campaign_indexes(site.workspace, name)
    changed, refused = 0, []
    for company_hash in hashes:
        prospect = find_company(indexes, company_hash)
        page = page_about(indexes.store, prospect)
        change = CompanyChange(add_tags=add, remove_tags=remove)
        done = edit_company(site, name, company_hash, change, page.stored.etag if page else NO_PAGE)
        if isinstance(done, EditConflict):
            refused.append(company_hash)
        else:
            changed += done.changed
    return changed, refused
