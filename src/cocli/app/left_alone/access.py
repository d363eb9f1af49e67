"""What is held about somebody, with sources and dates: for whoever answers them. Nothing is changed.

The same search as that of `forget`: whatever that would touch is told here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any

from cocli.app.campaigns.name import campaign_names
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.left_alone.forget import all_copies
from cocli.app.left_alone.identity import find_identity
from cocli.app.left_alone.suppress import check
from cocli.app.workspace import Progress, no_progress
from cocli.documents import codec
from cocli.errors import DocumentDamaged
from cocli.index.reader import open_reader
from cocli.store.base import StoredObject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.app.left_alone.identity import Identity
    from cocli.app.left_alone.matcher import SubjectMatcher
    from cocli.app.left_alone.suppress import SubjectOptions
    from cocli.app.workspace import Workspace
    from cocli.store.base import Store

_LOT = 64
_AROUND = 80
_MOST_EXCERPTS = 5
_STYLE = (
    "body{font:16px/1.5 sans-serif;max-width:60rem;margin:2rem auto}pre{white-space:pre-wrap}"
    "td,th{text-align:left;vertical-align:top;padding:.1rem .6rem .1rem 0}"
)
_INSIDE = ("/indexes/", "/LATEST")


@dataclass
class HeldRecord:
    """A record of an index: its values, and where each was read."""

    campaign: str
    index: str
    values: dict[str, Any]
    origins: list[dict[str, Any]]


@dataclass
class HeldObject:
    """A capture, a note, a task, an export: where it is, of when, and what it says around them."""

    key: str
    size: int
    date: str
    source: str
    excerpts: list[str]


@dataclass
class SubjectAccess:
    """All of it."""

    identity: Identity
    made_at: str
    listed: list[dict[str, Any]] = field(default_factory=list)
    records: list[HeldRecord] = field(default_factory=list)
    objects: list[HeldObject] = field(default_factory=list)


def subject_access(
    workspace: Workspace, text: str, options: SubjectOptions, progress: Progress = no_progress
) -> SubjectAccess:
    identity = find_identity(workspace, text, options)
    matcher = identity.matcher(workspace.store.now())
    found = SubjectAccess(identity, workspace.store.now().isoformat())
    found.listed = [entry.model_dump(mode="json") for entry in check(workspace, identity.subjects)]
    for name in sorted(campaign_names(workspace.store)):
        found.records += _records(workspace, name, matcher)
    for store in all_copies(workspace):
        found.objects += _objects(store, matcher, progress)
    return found


def _records(workspace: Workspace, name: str, matcher: SubjectMatcher) -> Iterator[HeldRecord]:
    indexes = campaign_indexes(workspace, name)
    for ref in indexes.refs():
        for record in open_reader(indexes.open_whole(ref), fresh=True).scan():
            values = record.model_dump(mode="json", exclude_defaults=True)
            if matcher.strong.finds(str(values)):
                origins = values.pop("origins", [])
                yield HeldRecord(name, ref.name, values, list(origins))


def _objects(store: Store, matcher: SubjectMatcher, progress: Progress) -> Iterator[HeldObject]:
    """Everything but the files of indexes, whose records are told by themselves."""
    keys = [info.key for info in store.list()]
    remaining = iter(key for key in keys if not any(part in f"/{key}" for part in _INSIDE))
    done = 0
    while lot := list(islice(remaining, _LOT)):
        for answer in store.get_many(lot):
            if isinstance(answer, StoredObject) and (held := _held(answer, matcher)) is not None:
                yield held
        done += len(lot)
        progress(done)


def _held(stored: StoredObject, matcher: SubjectMatcher) -> HeldObject | None:
    if not matcher.is_theirs(stored.key) and not matcher.finds_in(stored.key, stored.data):
        return None
    source, date = "", stored.modified.isoformat()
    if stored.key.endswith(".pb"):
        try:
            document = codec.decode(stored.data).document
        except DocumentDamaged:
            document = None  # it is told by where it lies
        if document is not None:
            source = document.source.uri or document.doc
            date = document.source.fetched_at.isoformat() if document.source.fetched_at else date
    return HeldObject(stored.key, len(stored.data), date, source, _excerpts(stored.data, matcher))


def _excerpts(data: bytes, matcher: SubjectMatcher) -> list[str]:
    """The lines that name them, shortened."""
    lines = data.decode("utf-8", "replace").splitlines()
    found = (line.strip() for line in lines if matcher.strong.finds(line))
    return [_shortened(line, matcher) for line in islice(found, _MOST_EXCERPTS)]


def _shortened(line: str, matcher: SubjectMatcher) -> str:
    scrubbed = matcher.strong.text(line)
    same = next((number for number, pair in enumerate(zip(line, scrubbed, strict=False)) if pair[0] != pair[1]), 0)
    return line[max(0, same - _AROUND) : same + 2 * _AROUND]


def as_json(found: SubjectAccess) -> dict[str, Any]:
    return {
        "made_at": found.made_at,
        "subjects": [{"kind": subject.kind, "value": subject.value} for subject in found.identity.subjects],
        "texts": found.identity.literals,
        "do_not_contact": found.listed,
        "records": [vars(record) for record in found.records],
        "objects": [vars(held) for held in found.objects],
    }


def as_html(found: SubjectAccess) -> str:
    """One page that opens anywhere. What stands in it was written by strangers: every text is escaped, nothing runs."""
    known = [f"{subject.kind}: {subject.value}" for subject in found.identity.subjects]
    parts = [
        "<!doctype html><meta charset='utf-8'><title>What is held</title>",
        "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        f"<style>{_STYLE}</style>",
        f"<h1>What is held</h1><p>Made on {escape(found.made_at)}.</p>",
        _list("Searched for", known + [f"text: {text}" for text in found.identity.literals]),
        _list("On the do-not-contact list", [f"{entry['kind']}, since {entry['added_at']}" for entry in found.listed]),
        f"<h2>Records: {len(found.records)}</h2>",
        *(_record(record) for record in found.records),
        f"<h2>Pages, notes and other files: {len(found.objects)}</h2>",
        *(_object(held) for held in found.objects),
    ]
    return "\n".join(parts) + "\n"


def _list(title: str, lines: list[str]) -> str:
    return f"<h2>{escape(title)}</h2><ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"


def _record(record: HeldRecord) -> str:
    rows = []
    for name, value in record.values.items():
        origin = next((said for said in record.origins if name in said["fields"]), None)
        where = f"{origin['source']}, {origin['observed_at']}, {origin.get('document') or ''}" if origin else ""
        cells = "".join(f"<td>{escape(str(cell))}</td>" for cell in (name, value, where))
        rows.append(f"<tr>{cells}</tr>")
    head = "<tr><th>field</th><th>value</th><th>source, date, document</th></tr>"
    return f"<h3>{escape(record.index)} of {escape(record.campaign)}</h3><table>{head}{''.join(rows)}</table>"


def _object(held: HeldObject) -> str:
    lines = "".join(f"<pre>{escape(line)}</pre>" for line in held.excerpts)
    told = f"{escape(held.date)}, {held.size} bytes, {escape(held.source)}"
    return f"<h3>{escape(held.key)}</h3><p>{told}</p>{lines}"
