"""Values of a company's page that a person sets from the command line. Everything else in the file stays as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.app.companies.companies import Changed, company
from cocli.app.workspace import location
from cocli.errors import UsageError
from cocli.formats.markdown import PROGRAM_KEY, MarkdownFile
from cocli.results.companies import writing
from cocli.results.companies.pages import read_company
from cocli.results.companies.tags import KEY as TAGS
from cocli.results.companies.tags import check_tag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.store.base import Store

EXAMPLE = "Write it as field=value, such as status=called; field= takes it away."


def parse_setting(text: str) -> tuple[str, str | list[str] | None]:
    """`status=offer sent` → the key and its value; a list for tags, None where nothing stands behind the sign."""
    name, sign, value = text.partition("=")
    name = name.strip()
    if not sign or not name or not name.isprintable():
        raise UsageError(reason=f'"{text}" sets nothing', hint=EXAMPLE)
    if name == PROGRAM_KEY:
        raise UsageError(
            reason=f'The key "{PROGRAM_KEY}" belongs to programs', hint="Facts come with: cocli company refresh"
        )
    if not value.strip():
        return name, None
    if name == TAGS:
        return name, [check_tag(tag) for tag in value.split(",") if tag.strip()]
    return name, value.strip()


def set_values(store: Store, name: str, settings: Sequence[str]) -> Changed:
    """Set keys of a page. They stand where they stood; new ones come last."""
    page = company(store, name)
    parsed = [parse_setting(text) for text in settings]

    def edit(data: bytes) -> bytes:
        file = MarkdownFile.parse(data, file=page.key)
        for key, value in parsed:
            if file.front.get(key) != value:
                file = file.with_value(key, value)
        edited = file.render()
        read_company(edited, file=page.key)
        return edited

    changed = writing.change(store, page.key, edit, known=page.stored)
    return Changed(page.slug, location(store, page.key), changed)
