"""Two editions of the parsers side by side, for the screen *Compare*."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cocli.app.documents.differences import compare_editions
from cocli.app.documents.documents import opened_documents
from cocli.models.web.compare import WebChangeExample, WebCompare, WebFieldChange, WebRecordChanges

if TYPE_CHECKING:
    from cocli.app.documents.documents import Documents
    from cocli.app.web.site import DataSite
    from cocli.pipeline.editions.differences import RecordDifferences

EXAMPLES = 20
_KEY = re.compile(r"\(([0-9a-f]{16})\)$")


def make_compare(site: DataSite, name: str, left: str | None = None, right: str | None = None) -> WebCompare:
    """The edition that the campaign lives by against another one: the newest, where none is named."""
    with opened_documents(site.workspace, name) as documents:
        known = _editions(documents)
        live = documents.edition
        others = [edition for edition in known if edition != live]
        left = left or live
        right = right or (others[-1] if others else None)
        if right is None or left not in known or right not in known:
            return WebCompare(campaign=name, at=site.now(), editions=tuple(known), live_edition=live)
        found = compare_editions(site.workspace, documents, left, right, examples=EXAMPLES)
    return WebCompare(
        campaign=name,
        at=site.now(),
        left=left,
        right=right,
        editions=tuple(known),
        live_edition=live,
        states_read=found.states_read,
        missing=found.missing,
        places=_changes(found.places),
        prospects=_changes(found.prospects) if found.prospects else None,
        promote_command=f"cocli documents promote {right} -c {name}" if right != live else None,
    )


def _editions(documents: Documents) -> list[str]:
    """Every edition that any document has a state of."""
    return sorted({state.cluster for state in documents.repository.catalog.places() if state.cluster})


def _changes(found: RecordDifferences) -> WebRecordChanges:
    both = found.same + found.changed
    fields = tuple(
        WebFieldChange(
            field=field,
            same=both - difference.changed,
            changed=difference.changed - difference.gained - difference.lost,
            gained=difference.gained,
            lost=difference.lost,
            examples=tuple(_example(example.what, example.left, example.right) for example in difference.examples),
        )
        for field, difference in sorted(found.fields.items())
    )
    return WebRecordChanges(
        same=found.same,
        changed=found.changed,
        new=found.new,
        gone=found.gone,
        examples_new=tuple(found.examples_new),
        examples_gone=tuple(found.examples_gone),
        fields=fields,
    )


def _example(what: str, left: str | None, right: str | None) -> WebChangeExample:
    company = _KEY.search(what)
    return WebChangeExample(what=what, before=left, after=right, company_hash=company[1] if company else None)
