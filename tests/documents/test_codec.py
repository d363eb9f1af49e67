"""Documents survive their bytes, equal content has one digest, and what is no document is noticed."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kit.effort import effort

from cocli.documents import Blob, Document, DocumentSource, Fault, codec
from cocli.documents.document import headers_that_matter
from cocli.documents.header import DocumentState, Header, Operation, PurgeProof, RemovedObject
from cocli.documents.proto.generated import document_pb2 as pb
from cocli.errors import DocumentDamaged, DocumentInvalid, UsageError
from cocli.models.document import Step

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NAME = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="|\0"), min_size=1, max_size=20).filter(
    lambda text: text.strip() != "" and text != "intake"
)
WORD = TEXT.filter(bool)
TIMES = st.integers(0, 2**52).map(lambda count: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=count))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
DIGESTS = st.text("0123456789abcdef", min_size=64, max_size=64)
SOURCES = st.builds(
    DocumentSource,
    uri=st.none() | WORD,
    mime_type=st.none() | WORD,
    fetched_at=st.none() | TIMES,
    http_status=st.none() | st.integers(100, 999),
    headers=st.dictionaries(WORD.map(str.lower), TEXT, max_size=3),
    filename=st.none() | WORD,
)
BLOBS = st.builds(Blob.of, st.binary(max_size=200), WORD, filename=st.none() | WORD)
DOCUMENTS = st.builds(
    Document,
    account=NAME,
    connector=NAME,
    datasource=NAME,
    doc=NAME,
    address=NAME,
    cluster=NAME,
    source=SOURCES,
    blobs=st.dictionaries(TEXT, BLOBS, max_size=3),
    data=st.dictionaries(TEXT, st.dictionaries(TEXT, JSON, max_size=3), max_size=2),
    steps=st.lists(st.builds(Step, node=NAME, code_digest=DIGESTS, input_digest=DIGESTS, at=TIMES), max_size=2).map(
        tuple
    ),
    errors=st.lists(st.builds(Fault, NAME, WORD, TEXT, st.booleans(), st.none() | TIMES), max_size=2).map(tuple),
    parent_digest=st.none() | DIGESTS,
)


def state_of(document: Document, **changes: Any) -> DocumentState:
    header = Header(1, document.digest, NOON, Operation.CREATED, ("parser",))
    return DocumentState(replace(header, **changes), document)


@given(DOCUMENTS)
def test_a_document_survives(document: Document) -> None:
    state = state_of(document)
    data = codec.encode(state, inline_limit=1000)
    assert data == codec.encode(state_of(replace(document)), inline_limit=1000), "the same document, other bytes"
    back = codec.decode(data)
    assert back.document == document
    assert back.header == state.header
    assert back.document.digest == document.digest


@given(DOCUMENTS)
def test_the_order_of_things_does_not_matter(document: Document) -> None:
    turned = replace(
        document,
        blobs=dict(reversed(list(document.blobs.items()))),
        data={node: dict(reversed(list(values.items()))) for node, values in reversed(list(document.data.items()))},
    )
    assert turned.digest == document.digest
    assert codec.encode(state_of(turned)) == codec.encode(state_of(document))


@given(DOCUMENTS, st.data())
def test_other_content_has_another_digest(document: Document, data: st.DataObject) -> None:
    others = (
        document.with_data("new node", {"a": 1}),
        document.with_blob("new blob", Blob.of(b"new")),
        document.with_source(replace(document.source, uri=(document.source.uri or "") + "x")),
        document.with_fault(Fault("n", "c", "m")),
    )
    assert data.draw(st.sampled_from(others)).digest != document.digest


def test_what_changes_though_nothing_changed_is_left_out_of_the_digest() -> None:
    def fetched(at: datetime, **headers: str) -> Document:
        source = DocumentSource(uri="https://a.de/", fetched_at=at, headers={"Content-Type": "text/html", **headers})
        return Document.intake(account="a", connector="web", doc="d", source=source)

    first = fetched(NOON, Date="Sun, 15 Nov 2026 12:00:00 GMT")
    later = fetched(NOON + timedelta(days=1), Date="Mon, 16 Nov 2026 12:00:00 GMT", Server="nginx")
    assert first.digest == later.digest
    assert first.digest != fetched(NOON, Location="https://b.de/").digest
    step = Step(node="n", code_digest="0" * 64, input_digest="1" * 64, at=NOON)
    assert first.with_step(step).at("parser", "main").digest == first.digest


def test_the_digest_vector() -> None:
    """Frozen: rows, references and earlier versions are named by it."""
    source = DocumentSource(
        uri="https://a.de/", mime_type="text/html", http_status=200, headers={"content-type": "text/html"}
    )
    document = Document.intake(account="a", connector="web", doc="d", source=source)
    document = document.with_blob("body", Blob.of(b"<p>hi</p>", "text/html")).with_data("n", {"b": [1, "ü"], "a": None})
    text = (
        'cocli.pipedoc-digest/1\n{"blobs":{"body":["'
        + hashlib.sha256(b"<p>hi</p>").hexdigest()
        + '",9,"text/html",null]},"data":{"n":{"a":null,"b":[1,"ü"]}},"errors":[],"source":{"filename":null,'
        + '"headers":{"content-type":"text/html"},"http_status":200,"mime_type":"text/html","uri":"https://a.de/"}}'
    )
    assert document.digest == hashlib.sha256(text.encode()).hexdigest()
    assert document.digest == "152128c3ae7a0670338fe67cb80a1705c5c4ec332c59dbfb3cb26d376ffb400d"


@pytest.mark.parametrize("number", [2**63 + 1, 2**53 + 1, -(2**64), 1.5, 1e300])
def test_numbers_keep_their_digits(number: float) -> None:
    """A protobuf Struct would have made a double of each: a 64-bit id would come back as another one."""
    document = Document.intake(account="a", connector="web", doc="d").with_data("n", {"cid": number})
    assert codec.decode(codec.encode(state_of(document))).document.data["n"]["cid"] == number


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"a": float("nan")}, "not JSON"),
        ({"a": object()}, "not JSON"),
        ({"a": "\ud800"}, "surrogate"),
        ({1: "a", "b": 2}, "not JSON"),
        ("text", "not a JSON object"),
        ([1], "not a JSON object"),
    ],
)
def test_data_that_is_no_json_is_refused(values: Any, reason: str) -> None:
    document = Document.intake(account="a", connector="web", doc="d").with_data("n", values)
    with pytest.raises(DocumentInvalid, match=reason):
        _ = document.digest


def test_data_that_contains_itself_is_refused() -> None:
    deep: dict[str, Any] = {}
    deep["self"] = deep
    nested: Any = {}
    for _ in range(100_000):
        nested = {"a": nested}
    for values in (deep, nested):
        with pytest.raises(DocumentInvalid, match=r"nested|Circular"):
            _ = Document.intake(account="a", connector="web", doc="d").with_data("n", values).digest


@settings(max_examples=effort(100))
@given(st.binary(max_size=300))
def test_bytes_of_anything_are_damaged(data: bytes) -> None:
    with pytest.raises(DocumentDamaged):
        codec.decode(data, doc="d")


@given(st.data())
def test_a_flipped_byte_never_passes_for_the_content(data: st.DataObject) -> None:
    document = Document.intake(account="a", connector="web", doc="d").with_data("n", {"email": "info@example.com"})
    document = document.with_blob("body", Blob.of(b"<p>hello</p>", "text/html"))
    good = codec.encode(state_of(document))
    position = data.draw(st.integers(0, len(good) - 1))
    bad = bytearray(good)
    bad[position] ^= data.draw(st.integers(1, 255))
    try:
        back = codec.decode(bytes(bad)).document
    except DocumentDamaged:
        return
    # What the digest does not cover (times, versions) may be another; what was found and read may not.
    assert (back.data, back.blobs, back.source, back.errors) == (
        document.data,
        document.blobs,
        document.source,
        document.errors,
    )


def test_a_truncated_object_is_damaged() -> None:
    good = codec.encode(
        state_of(Document.intake(account="a", connector="web", doc="d").with_data("n", {"a": "b" * 99}))
    )
    for length in range(len(good)):
        with pytest.raises(DocumentDamaged):
            codec.decode(good[:length])


def test_a_time_that_no_calendar_has_is_damage_and_not_a_crash() -> None:
    good = codec.encode(state_of(Document.intake(account="a", connector="web", doc="d")))
    for seconds in (2**62, -(2**62), 253_402_300_800):  # the last one: the first second of the year 10,000
        message = pb.PipeDoc.FromString(good)
        message.state.saved_at.seconds = seconds
        with pytest.raises(DocumentDamaged):
            codec.decode(message.SerializeToString())


def test_a_stub_keeps_its_proof() -> None:
    removed = RemovedObject("version", "main", "a3526da5-c3be-344c-82be-e341d1a7eb75", "0" * 64, 12)
    proof = PurgeProof(NOON, "me", "asked", (removed,), NOON + timedelta(seconds=1))
    document = Document.intake(account="a", connector="web", doc="d")
    header = Header(4, "1" * 64, NOON, Operation.PURGED, (), NOON, "me")
    back = codec.decode(codec.encode(DocumentState(header, document, proof)))
    assert back.purge == proof
    assert back.row().purged_at == proof.purged_at


def test_a_blob_that_was_not_read_says_so() -> None:
    blob = Blob(sha256="0" * 64, size=5)
    with pytest.raises(UsageError, match="not read"):
        _ = blob.content


def test_cookies_are_not_kept() -> None:
    headers = {"Content-Type": "text/html", "Set-Cookie": "id=1", "ETag": '"x"', "X-Request-Id": "1"}
    assert headers_that_matter(headers) == {"content-type": "text/html", "etag": '"x"'}


def test_json_of_the_data_is_readable_by_anybody() -> None:
    from cocli.documents.proto.generated import document_pb2

    document = Document.intake(account="a", connector="web", doc="d").with_data("n", {"b": 1, "a": "ü"})
    message = document_pb2.PipeDoc.FromString(codec.encode(state_of(document)))
    assert message.data[0].json == '{"a":"ü","b":1}'
    assert json.loads(message.data[0].json) == {"a": "ü", "b": 1}
