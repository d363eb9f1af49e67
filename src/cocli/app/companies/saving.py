"""Saving a company that a program read and changed for its user. What people wrote around the change stays."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cocli.app.companies.companies import Changed, replace_file
from cocli.app.workspace import location
from cocli.errors import FormatError, UsageError
from cocli.formats.markdown import PROGRAM_KEY, MarkdownFile
from cocli.results.companies.pages import read_company

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cocli.results.companies.pages import CompanyPage
    from cocli.store.base import Store


def person_values(page: CompanyPage) -> dict[str, Any]:
    """The keys of the front matter that belong to people, with their values; none where it cannot be read."""
    try:
        front = MarkdownFile.parse(page.stored.data, file=page.key).front
    except FormatError:  # the page's `problem` says so
        return {}
    return {str(name): value for name, value in front.items() if name != PROGRAM_KEY}


def save_company(store: Store, page: CompanyPage, values: Mapping[str, Any], body: str) -> Changed:
    """Write a company back: the lines of the keys that differ, and the body. Everything else stays byte for byte.

    `Conflict` if anybody changed the file since it was read, `FormatError` if the result could not be read again:
    then nothing is written.
    """
    edited = _edited(page, values, body)
    changed = edited != page.stored.data
    if changed:
        read_company(edited, file=page.key)
        replace_file(store, page.key, edited, page.stored.etag)
    return Changed(page.slug, location(store, page.key), changed)


def _edited(page: CompanyPage, values: Mapping[str, Any], body: str) -> bytes:
    if PROGRAM_KEY in values:
        raise UsageError(
            reason=f'The key "{PROGRAM_KEY}" of {page.key} belongs to programs',
            hint="Facts come from campaigns, with: cocli company refresh",
        )
    before, file = person_values(page), MarkdownFile.parse(page.stored.data, file=page.key)
    for name in [*before, *(name for name in values if name not in before)]:
        value = values.get(name)
        if value != before.get(name):
            file = file.with_value(name, value)
    return replace(file, body=body).render()
