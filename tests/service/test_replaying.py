"""Replay and comparison by the service: progress as a stream, jobs that are left and gone on with, accounts apart."""

from __future__ import annotations

from contextlib import suppress

import pytest

from cocli.documents import Blob, Document, DocumentSource
from cocli.documents.proto.generated import repository_pb2 as pb
from cocli.errors import CocliError, IdentityError, JobBusy, UnknownJob, UnknownNode, UsageError
from cocli.service.documents.client import DocumentClient

DATASOURCE = "replayed"


@pytest.fixture(scope="module")
def pages(alice: DocumentClient) -> list[str]:
    docs = [f"replayed-{number:02d}" for number in range(12)]
    for number, doc in enumerate(docs):
        page = Document.intake(
            account="alice",
            connector="web",
            datasource=DATASOURCE,
            doc=doc,
            source=DocumentSource(f"https://firm-{number}.com/", "text/html"),
        )
        body = f'<title>Firm {number}</title><a href="mailto:office@firm-{number}.com">write</a>'
        alice.save(page.with_blob("body", Blob.of(body.encode(), "text/html")))
    return docs


def test_everything_is_replayed_and_two_clusters_are_compared(alice: DocumentClient, pages: list[str]) -> None:
    looks = list(alice.replay(pb.ReplayRequest(datasource=DATASOURCE, cluster="one", dry_run=True)))
    assert [(look.state, look.total, look.memoised) for look in looks] == [("dry-run", 12, 0)]
    last = list(alice.replay(pb.ReplayRequest(datasource=DATASOURCE, cluster="one")))[-1]
    assert (last.state, last.total, last.done, last.changed, last.failed) == ("done", 12, 12, 12, 0)
    again = list(alice.replay(pb.ReplayRequest(datasource=DATASOURCE, cluster="one")))[-1]
    assert (again.state, again.changed, again.memoised) == ("done", 0, 12)
    found = alice.current(pages[3], "page", "one")
    assert found.data["page"]["emails"][0]["value"] == "office@firm-3.com"

    only = list(alice.replay(pb.ReplayRequest(doc_id=pages[3], cluster="two")))[-1]
    assert (only.state, only.changed) == ("done", 1)
    edited = found.at("page", "two").with_data("page", {**found.data["page"], "language": "tlh"})
    alice.save(edited)
    compared = alice.compare("one", "two", datasource=DATASOURCE)
    assert (compared.documents, compared.identical, compared.only_left, compared.only_right) == (1, 0, 11, 0)
    (changed,) = [field for field in compared.fields if field.changed or field.gained or field.lost]
    assert (changed.node, changed.path, changed.examples[0].right) == ("page", "/language", '"tlh"')


def test_who_leaves_pauses_the_job_and_can_go_on(alice: DocumentClient, pages: list[str]) -> None:
    stream = alice.replay(pb.ReplayRequest(datasource=DATASOURCE, cluster="slow", rate=2.0))
    job = next(stream).job_id
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    states: list[pb.ReplayProgress] = []
    while not states:
        with suppress(JobBusy):  # the other runner finishes what it has in hand
            states = list(alice.replay(pb.ReplayRequest(job_id=job), timeout=30))
    assert (states[0].done < 12, states[-1].state, states[-1].done) == (True, "done", 12)


def test_another_account_sees_no_job_and_replays_nothing(
    alice: DocumentClient, mallory: DocumentClient, pages: list[str]
) -> None:
    job = list(alice.replay(pb.ReplayRequest(doc_id=pages[0], cluster="private")))[-1].job_id
    with pytest.raises(UnknownJob):
        list(mallory.replay(pb.ReplayRequest(job_id=job)))
    for request in (
        pb.ReplayRequest(doc_id=pages[0], cluster="private"),
        pb.ReplayRequest(datasource=DATASOURCE, cluster="private"),
        pb.ReplayRequest(cluster="private", from_cluster="", from_node=""),
    ):
        assert {look.total for look in mallory.replay(request)} == {0}
    compared = mallory.compare("one", "private")
    assert (compared.documents, compared.only_left, compared.only_right, len(compared.fields)) == (0, 0, 0, 0)
    assert mallory.states(pages[0]) == []


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (pb.ReplayRequest(from_node="nowhere"), UnknownNode),
        (pb.ReplayRequest(cluster="intake"), UsageError),
        (pb.ReplayRequest(cluster="a|b"), IdentityError),
        (pb.ReplayRequest(doc_id="a|b"), IdentityError),
        (pb.ReplayRequest(rate=-1.0), UsageError),
        (pb.ReplayRequest(rate=float("nan")), UsageError),
        (pb.ReplayRequest(job_id="nothing"), UnknownJob),
    ],
)
def test_what_makes_no_sense_is_refused(
    alice: DocumentClient, request_: pb.ReplayRequest, error: type[CocliError]
) -> None:
    with pytest.raises(error):
        list(alice.replay(request_))


def test_comparisons_that_make_no_sense(alice: DocumentClient) -> None:
    for left, right in (("one", "one"), ("", "one"), ("a|b", "one")):
        with pytest.raises((UsageError, IdentityError)):
            alice.compare(left, right)
    with pytest.raises(UsageError):
        alice.compare("one", "two", examples=1000)
