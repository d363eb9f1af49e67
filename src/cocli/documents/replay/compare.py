"""Compares two editions: what a new version of a node makes of everything that was ever fetched, against the old one.

Both are read in the order of the documents, page by page, and merged: what is kept in memory does not grow with them.
Where the digests are equal, one side is read; documents are never written.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from cocli.documents.replay.fields import compare_fields, fields_of
from cocli.documents.replay.selection import DocumentQuery, pages
from cocli.errors import DocumentDamaged, DocumentDeleted, DocumentNotFound, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cocli.documents.replay.fields import FieldChange, Verdict
    from cocli.documents.repository import DocumentRepository
    from cocli.models.document import PipeDoc

EXAMPLES = 3
MAX_FIELDS = 10_000
OTHER_FIELDS = "/…"
"""All fields beyond the first MAX_FIELDS together: data whose keys are values has any number of them."""
_LONGEST_EXAMPLE = 200
_HEADING = ("field", "same", "changed", "gained", "lost", "example")


@dataclass(frozen=True, slots=True)
class ComparisonExample:
    doc: str
    datasource: str
    verdict: Verdict
    left: str | None
    right: str | None


@dataclass(slots=True)
class FieldSummary:
    """How often the values of a field are the same, changed, gained (right only) or lost (left only)."""

    path: str
    same: int = 0
    changed: int = 0
    gained: int = 0
    lost: int = 0
    examples: list[ComparisonExample] = field(default_factory=list)

    @property
    def differs(self) -> bool:
        return bool(self.changed or self.gained or self.lost)


@dataclass(frozen=True, slots=True)
class DocumentComparison:
    """One document of one datasource. `changes` has every value that is not the same; `same` the number of those that
    are, by field."""

    doc: str
    in_left: bool
    in_right: bool
    changes: Sequence[FieldChange] = ()
    same: Mapping[str, int] = field(default_factory=dict)
    problem: str | None = None
    """Why it could not be compared."""
    datasource: str = ""
    """Two of them may have a document of one id: they are compared each for itself."""
    is_shared: bool = False
    """Whether other datasources have a document of this id as well."""

    @property
    def name(self) -> str:
        """For people: which document, and where that is not enough, of which datasource."""
        return f"{self.doc} ({self.datasource})" if self.is_shared else self.doc


@dataclass(slots=True)
class Comparison:
    """Of `documents` in both editions, `identical` have the same values in every field."""

    left: str
    right: str
    documents: int = 0
    identical: int = 0
    different: int = 0
    only_left: int = 0
    only_right: int = 0
    unreadable: int = 0
    fields: dict[str, FieldSummary] = field(default_factory=dict)
    examples_only_left: list[str] = field(default_factory=list)
    examples_only_right: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self) | {"fields": [asdict(summary) for summary in self.sorted_fields()]}

    def sorted_fields(self) -> list[FieldSummary]:
        return [self.fields[path] for path in sorted(self.fields)]

    def table(self) -> list[tuple[str, ...]]:
        """A heading and a line per field, for people."""
        return [_HEADING, *(_line(summary) for summary in self.sorted_fields())]

    def add(self, document: DocumentComparison, examples: int) -> None:
        if document.problem is not None:
            self.unreadable += 1
            _append(self.problems, f"{document.name}: {document.problem}", examples)
        elif document.in_left and document.in_right:
            self.documents += 1
            self.identical += not document.changes
            self.different += bool(document.changes)
            self._add_fields(document, examples)
        elif document.in_left:
            self.only_left += 1
            _append(self.examples_only_left, document.name, examples)
        else:
            self.only_right += 1
            _append(self.examples_only_right, document.name, examples)

    def _add_fields(self, document: DocumentComparison, examples: int) -> None:
        for path, count in document.same.items():
            self._field(path).same += count
        for change in document.changes:
            summary = self._field(change.path)
            setattr(summary, change.verdict, getattr(summary, change.verdict) + change.count)
            example = ComparisonExample(
                document.doc, document.datasource, change.verdict, _short(change.left), _short(change.right)
            )
            _append(summary.examples, example, examples)

    def _field(self, path: str) -> FieldSummary:
        if path not in self.fields and len(self.fields) >= MAX_FIELDS:
            path = OTHER_FIELDS
        return self.fields.setdefault(path, FieldSummary(path))


def compare_editions(
    repository: DocumentRepository,
    account: str,
    left: str,
    right: str,
    *,
    datasource: str | None = None,
    doc: str | None = None,
    examples: int = EXAMPLES,
) -> Comparison:
    """Two editions summed up: per field, with examples."""
    summed = Comparison(left, right)
    for document in compare_documents(repository, account, left, right, datasource=datasource, doc=doc):
        summed.add(document, examples)
    return summed


def compare_documents(
    repository: DocumentRepository,
    account: str,
    left: str,
    right: str,
    *,
    datasource: str | None = None,
    doc: str | None = None,
) -> Iterator[DocumentComparison]:
    """Document by document, in the order of their ids; what two datasources have under one id is two documents."""
    if left == right:
        raise UsageError(reason=f"the edition {left} is compared with itself")
    query = DocumentQuery(doc=doc, datasource=datasource)
    ours, theirs = (_documents(repository, account, query, edition) for edition in (left, right))
    for name, mine, other in _merged(ours, theirs):
        yield from _compare_datasources(repository, account, name, mine, other)


_Rows = list["PipeDoc"]


def _compare_datasources(
    repository: DocumentRepository, account: str, doc: str, left: _Rows, right: _Rows
) -> Iterator[DocumentComparison]:
    owners = sorted({(row.connector, row.datasource) for row in (*left, *right)})
    for connector, datasource in owners:
        mine, other = (
            [row for row in rows if (row.connector, row.datasource) == (connector, datasource)]
            for rows in (left, right)
        )
        found = _compare(repository, account, doc, mine, other)
        yield replace(found, datasource=datasource, is_shared=len(owners) > 1)


def _documents(
    repository: DocumentRepository, account: str, query: DocumentQuery, edition: str
) -> Iterator[tuple[str, _Rows]]:
    rows = (row for page in pages(repository, account, query, edition=edition) for row in page)
    for name, group in groupby(rows, key=lambda row: row.doc):
        yield name, list(group)


def _merged(
    left: Iterator[tuple[str, _Rows]], right: Iterator[tuple[str, _Rows]]
) -> Iterator[tuple[str, _Rows, _Rows]]:
    mine, other = next(left, None), next(right, None)
    while mine is not None or other is not None:
        # Ids come in the order of their code points, from both databases.
        if mine is not None and (other is None or mine[0] < other[0]):
            yield mine[0], mine[1], []
            mine = next(left, None)
        elif other is not None and (mine is None or other[0] < mine[0]):
            yield other[0], [], other[1]
            other = next(right, None)
        elif mine is not None and other is not None:
            yield mine[0], mine[1], other[1]
            mine, other = next(left, None), next(right, None)


def _compare(repository: DocumentRepository, account: str, doc: str, left: _Rows, right: _Rows) -> DocumentComparison:
    if not left or not right:
        return DocumentComparison(doc, bool(left), bool(right))
    equal = {row.address: row.digest for row in left} == {row.address: row.digest for row in right}
    try:
        ours = fields_of(_data(repository, account, left))
        theirs = ours if equal else fields_of(_data(repository, account, right))
    except (DocumentDamaged, DocumentNotFound, DocumentDeleted) as error:
        return DocumentComparison(doc, in_left=True, in_right=True, problem=error.message)
    changes, same = [], dict[str, int]()
    for change in compare_fields(ours, theirs):
        if change.verdict == "same":
            same[change.path] = same.get(change.path, 0) + change.count
        else:
            changes.append(change)
    return DocumentComparison(doc, in_left=True, in_right=True, changes=changes, same=same)


def _data(repository: DocumentRepository, account: str, rows: _Rows) -> dict[str, Any]:
    """What every node found, by node. A state also has what nodes before it found: their own states go before it."""
    found: dict[str, Any] = {}
    for row in rows:
        data = repository.get(account, row.reference).data
        found = {**data, **found} if row.address not in data else {**data, **found, row.address: data[row.address]}
    return found


def _line(summary: FieldSummary) -> tuple[str, ...]:
    shown = f"{summary.examples[0].left or '–'} → {summary.examples[0].right or '–'}" if summary.examples else ""
    return (
        summary.path,
        *(f"{count:,}" for count in (summary.same, summary.changed, summary.gained, summary.lost)),
        shown,
    )


def _short(text: str | None) -> str | None:
    return text if text is None or len(text) <= _LONGEST_EXAMPLE else f"{text[:_LONGEST_EXAMPLE]}…"


def _append(examples: list[Any], example: object, most: int) -> None:
    if len(examples) < most:
        examples.append(example)
