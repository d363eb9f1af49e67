"""Blobs of any size by the service: in pieces, by ranges, and on after a restart."""

from __future__ import annotations

import hashlib
import io
import random
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.kit import servers
from tests.kit.effort import effort

from cocli.documents import Document, codec
from cocli.documents.limits import PART_BYTES
from cocli.documents.proto.generated import repository_pb2 as pb
from cocli.errors import DocumentInvalid, UnknownUpload, UploadOffset
from cocli.service.documents.client import DocumentClient

PLACES = ["folder", "s3"] if effort(1) > 1 else ["s3"]
BIG = random.Random(1).randbytes(2 * PART_BYTES + 12_345)


def a_file(client: DocumentClient, doc: str) -> Document:
    return Document.intake(account=client.account, connector="files", doc=doc)


def begun(client: DocumentClient, doc: str, **more: Any) -> str:
    save = pb.SaveRequest(document=codec.to_message(a_file(client, doc)))
    return client.begin_upload(pb.BeginUploadRequest(save=save, **more)).upload_id


def test_a_large_file_comes_back_byte_for_byte_and_by_ranges(alice: DocumentClient) -> None:
    receipt = alice.upload(a_file(alice, "movie"), io.BytesIO(BIG), mime_type="video/mp4", filename="movie.mp4")
    assert receipt.outcome == "created"
    assert b"".join(alice.download(receipt.reference)) == BIG
    for offset, length in ((0, 1), (PART_BYTES - 1, 2), (PART_BYTES, PART_BYTES), (len(BIG) - 5, 100), (7, 0)):
        end = offset + length if length else len(BIG)
        assert b"".join(alice.download(receipt.reference, offset=offset, length=length)) == BIG[offset:end]
    again = alice.upload(a_file(alice, "movie"), io.BytesIO(BIG), mime_type="video/mp4", filename="movie.mp4")
    assert (again.outcome, again.reference) == ("unchanged", receipt.reference)
    document = alice.get(receipt.reference)
    assert (document.blobs["body"].sha256, document.blobs["body"].size) == (hashlib.sha256(BIG).hexdigest(), len(BIG))


def test_a_document_that_was_read_without_its_large_blob_can_be_saved_again(
    alice: DocumentClient, mallory: DocumentClient
) -> None:
    receipt = alice.upload(a_file(alice, "kept"), io.BytesIO(BIG))
    state = alice.get(receipt.reference).at("parse", "main").with_data("parse", {"n": 1})
    parsed = alice.save(state)
    assert (
        b"".join(alice.download(parsed.reference, offset=PART_BYTES - 3, length=6))
        == BIG[PART_BYTES - 3 : PART_BYTES + 3]
    )
    stolen = Document.intake(account="mallory", connector="files", doc="kept")
    with pytest.raises(DocumentInvalid, match="was not sent along"):
        mallory.save(stolen.with_blobs(dict(state.blobs)))


@pytest.mark.parametrize("kind", PLACES)
def test_an_upload_goes_on_after_the_service_was_killed(
    start: Any, tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    half, store = PART_BYTES + 1000, dict[str, str]()
    if kind == "s3":
        server: servers.S3Server = request.getfixturevalue("seaweedfs")
        address = server.url("cocli-data-test", f"large-{secrets.token_hex(6)}")
        store = {**servers.credentials_environment(), "AWS_EC2_METADATA_DISABLED": "true", "COCLI_STORE": address}
    with start(tmp_path / "home", **store) as service, service.client("alice") as client:
        upload = begun(client, "long", sha256=hashlib.sha256(BIG).hexdigest())
        url, headers = (
            f"http://{service.http}/v1/uploads/{upload}",
            {"Authorization": f"Bearer {service.token('alice')}"},
        )
        sent = httpx2.patch(url, content=BIG[:half], headers={**headers, "Upload-Offset": "0"}, timeout=60)
        assert (sent.status_code, sent.json()["offset"]) == (200, half)
        service.process.kill()
    with (
        start(tmp_path / "home", **store) as service,
        service.client("alice") as client,
        service.client("mallory") as other,
    ):
        assert client.upload_state(upload).offset == half
        with pytest.raises(UnknownUpload):
            other.upload_state(upload)
        with pytest.raises(UploadOffset):
            list_upload(client, upload, 0, BIG)
        receipt = client.upload(a_file(client, "long"), io.BytesIO(BIG), resume=upload)
        assert b"".join(client.download(receipt.reference)) == BIG
        middle = client.download(receipt.reference, offset=PART_BYTES - 3, length=6)
        assert b"".join(middle) == BIG[PART_BYTES - 3 : PART_BYTES + 3]
        with pytest.raises(UnknownUpload):
            client.upload_state(upload)
    assert (tmp_path / "home" / "data" / "uploads").exists() == (kind == "folder")


def list_upload(client: DocumentClient, upload: str, offset: int, data: bytes) -> None:
    """Send to an upload as somebody who does not ask where it stands."""

    def requests() -> Iterator[pb.UploadRequest]:
        yield pb.UploadRequest(upload_id=upload, offset=offset, data=data[:100])

    method = client._channel.stream_unary(
        "/cocli.documents.v1.DocumentRepository/Upload",
        request_serializer=pb.UploadRequest.SerializeToString,
        response_deserializer=pb.UploadResponse.FromString,
    )
    try:
        method(requests(), timeout=30, metadata=client._metadata)
    except client._grpc.RpcError as error:
        raise client._mapped(error) from error


def test_http_takes_a_large_file_and_gives_ranges(service: Any, tmp_path: Path, start: Any) -> None:
    with start(tmp_path / "home") as large:
        headers = {"Authorization": f"Bearer {large.token('alice')}", "Content-Type": "video/mp4"}
        with httpx2.Client(base_url=f"http://{large.http}", headers=headers, timeout=60) as http:
            saved = http.post(
                "/v1/documents", params={"doc": "movie", "filename": "a.mp4"}, content=iter([BIG[:5], BIG[5:]])
            )
            assert saved.status_code == 201, saved.text
            content = ("/v1/documents/content", {"doc": "movie"})
            whole = http.get(content[0], params=content[1])
            assert (whole.status_code, whole.content == BIG, whole.headers["content-type"]) == (200, True, "video/mp4")
            etag = whole.headers["etag"]
            head = http.head(content[0], params=content[1])
            assert (head.headers["content-length"], head.headers["etag"], head.content) == (str(len(BIG)), etag, b"")
            part = http.get(
                content[0], params=content[1], headers={"Range": f"bytes={PART_BYTES - 2}-{PART_BYTES + 1}"}
            )
            assert (part.status_code, part.content) == (206, BIG[PART_BYTES - 2 : PART_BYTES + 2])
            assert part.headers["content-range"] == f"bytes {PART_BYTES - 2}-{PART_BYTES + 1}/{len(BIG)}"
            assert http.get(content[0], params=content[1], headers={"Range": "bytes=-4"}).content == BIG[-4:]
            beyond = http.get(content[0], params=content[1], headers={"Range": f"bytes={len(BIG)}-"})
            assert (beyond.status_code, beyond.headers["content-range"]) == (416, f"bytes */{len(BIG)}")
            other = {"Range": "bytes=0-1", "If-Range": '"another"'}
            assert http.get(content[0], params=content[1], headers=other).status_code == 200
            assert http.get(content[0], params=content[1], headers={"If-None-Match": etag}).status_code == 304
            assert http.get(content[0], params={"doc": "nothing"}).status_code == 404
