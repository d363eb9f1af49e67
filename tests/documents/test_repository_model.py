"""The repository against a model of it: any sequence of saves, deletions, restorations and purges."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from tests.kit.effort import effort

from cocli.documents import Blob, Document, DocumentRepository, open_catalog
from cocli.documents.care import fsck as checking
from cocli.documents.subscriptions import EVERYBODY
from cocli.errors import DocumentDeleted, DocumentInvalid, DocumentNotFound
from cocli.models.document import DocumentReference
from cocli.store.memory import MemoryStore

DOCS = st.sampled_from(["a", ".."])
BODIES = st.sampled_from([b"one", b"two", b"three" * 50])
PLACES = st.sampled_from([None, ("parser", "prod"), ("parser", "staging"), ("chunker", "prod")])


class Model(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.now = datetime(2026, 11, 15, tzinfo=UTC)
        self.store = MemoryStore(clock=lambda: datetime(2027, 1, 1, tzinfo=UTC))
        self.repository = self.open()
        self.states: dict[tuple[str, Any], tuple[DocumentReference, Document, bool]] = {}
        """By place: the newest reference, its content, and whether it is deleted."""
        self.earlier: list[tuple[tuple[str, Any], DocumentReference, Document]] = []
        self.gone: set[str] = set()
        self.purged: set[str] = set()

    def open(self) -> DocumentRepository:
        return DocumentRepository(
            self.store, open_catalog("sqlite://:memory:"), clock=self.clock, inline_limit=100, subscriptions=EVERYBODY
        )

    def clock(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now

    def teardown(self) -> None:
        self.repository.catalog.close()

    @rule(doc=DOCS, body=BODIES, place=PLACES)
    def save(self, doc: str, body: bytes, place: Any) -> None:
        document = Document.intake(account="acct", connector="web", doc=doc).with_blob("body", Blob.of(body))
        if place is not None:
            document = document.at(*place)
        known = self.states.get((doc, place))
        try:
            receipt = self.repository.save(document)
        except DocumentDeleted:
            assert doc in self.gone or (known is not None and known[2])
            return
        assert doc not in self.gone
        expected = "created" if known is None else "unchanged" if known[1].digest == document.digest else "updated"
        assert receipt.outcome == expected
        self.states[doc, place] = (receipt.reference, document, False)
        self.earlier.append(((doc, place), receipt.reference, document))

    @rule(doc=DOCS)
    def delete(self, doc: str) -> None:
        places = [key for key in self.states if key[0] == doc]
        if not places and doc not in self.gone:
            return
        self.repository.delete("acct", doc)
        self.gone.add(doc)
        for key in places:
            self.states[key] = (*self.states[key][:2], True)

    @rule(doc=DOCS, cluster=st.sampled_from(["prod", "staging"]))
    def delete_cluster(self, doc: str, cluster: str) -> None:
        places = [key for key in self.states if key[0] == doc and key[1] is not None and key[1][1] == cluster]
        if not places or doc in self.purged:
            return
        self.repository.delete("acct", doc, cluster=cluster)
        for key in places:
            self.states[key] = (*self.states[key][:2], True)

    @rule(doc=DOCS)
    def restore(self, doc: str) -> None:
        try:
            self.repository.restore("acct", doc)
        except DocumentNotFound:
            assert not any(one[2] for key, one in self.states.items() if key[0] == doc)
            assert doc not in self.gone
            return
        except DocumentInvalid:
            assert doc in self.purged
            return
        self.gone.discard(doc)
        for key in [key for key in self.states if key[0] == doc]:
            self.states[key] = (*self.states[key][:2], False)

    @rule(doc=DOCS)
    def purge(self, doc: str) -> None:
        if not any(key[0] == doc for key in self.states) and doc not in self.gone:
            return
        self.repository.purge("acct", doc)
        self.gone.add(doc)
        self.purged.add(doc)
        for key in [key for key in self.states if key[0] == doc]:
            self.states[key] = (*self.states[key][:2], True)

    @rule()
    def rebuild(self) -> None:
        """The catalogue is lost, and made anew from the store alone."""
        self.repository.catalog.close()
        self.repository = self.open()
        assert not checking.rebuild(self.repository).open

    @invariant()
    def what_was_saved_can_be_read(self) -> None:
        for key, (reference, document, deleted) in self.states.items():
            if deleted:
                continue
            found = self.repository.current("acct", document.doc, document.address, document.cluster, blobs=True)
            assert found == document, key
            assert self.repository.get("acct", reference, blobs=True) == document
        for key, reference, document in self.earlier:
            if not self.states[key][2] and key[0] not in self.purged:
                assert self.repository.get("acct", reference, blobs=True) == document

    @invariant()
    def what_was_deleted_cannot(self) -> None:
        for reference, _, deleted in self.states.values():
            if deleted:
                try:
                    self.repository.get("acct", reference)
                except (DocumentDeleted, DocumentNotFound):
                    continue
                raise AssertionError(f"{reference} is still there")

    @invariant()
    def everything_agrees(self) -> None:
        report = checking.check(self.repository, deep=True, grace=timedelta(0))
        assert report.clean, report.findings


Model.TestCase.settings = settings(max_examples=effort(15), stateful_step_count=20)
TestRepositoryModel = Model.TestCase
