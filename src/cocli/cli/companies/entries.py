"""What `cocli note` and `cocli meeting` share: removing one after a person was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cocli.cli.kit.context import Call
    from cocli.results.companies.entries import CompanyEntry
    from cocli.store.base import Store


def remove_after_asking(call: Call, place: Store, entry: CompanyEntry[Any], kind: str) -> None:
    """Remove a note or a meeting, unless the person says no."""
    from cocli.app.companies.removal import remove_entry
    from cocli.cli.kit.confirm import confirm

    output = call.output
    title = (entry.record.title if entry.record else None) or entry.name
    question = f"Remove the {kind} {entry.name} of {entry.slug} ({title})?"
    if not confirm(output, question, yes=call.yes, preview=f"cocli {kind} ls {entry.slug}"):
        output.talk("Nothing was removed.")
        return
    path = remove_entry(place, entry)
    if output.as_json:
        output.document({kind: {"slug": entry.slug, "name": entry.name, "path": path, "status": "removed"}})
        return
    output.line(path)
    output.talk(f"Removed: {entry.name} of {entry.slug}.")
