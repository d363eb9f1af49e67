"""A bucket that keeps versions: what was replaced or deleted there is forgotten as well, and a refusal is told."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import boto3
import pytest
from mypy_boto3_s3 import S3Client

from cocli.app.left_alone.forget import ForgetOptions, forget, plan
from cocli.app.left_alone.proofs import read_proofs
from cocli.app.left_alone.suppress import SubjectOptions, add, subjects_of
from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags
from cocli.demo.town.campaign import TownHome
from cocli.errors import StoreError
from cocli.store import Put, open_store
from cocli.store.s3_versions import BucketVersions
from cocli.store.versions import ObjectVersion
from tests.app.left_alone.conftest import ADDRESS, BUSINESS, CAMPAIGN, DOMAIN, PERSON
from tests.app.left_alone.test_again import cocli
from tests.kit import servers
from tests.kit.faulty_store import Crashed
from tests.kit.residue import BucketHistory, residue

NOTES = ForgetOptions(SubjectOptions(), notes=True)
GONE = (
    f"campaigns/{CAMPAIGN}/exports/old.csv", "people/somebody.md",
    f"campaigns/{CAMPAIGN}/queues/enrichment/completed/0/{DOMAIN}.json",
)  # fmt: skip
"""What was deleted before anybody asked to be forgotten."""
_WORK = (
    "s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload", "s3:ListBucket",
    "s3:GetBucketLocation",
)  # fmt: skip
_LOOK = ("s3:GetBucketVersioning", "s3:ListBucketVersions", "s3:GetObjectVersion")


def _policy(*allowed: str) -> dict[str, Any]:
    everywhere = ["arn:aws:s3:::*", "arn:aws:s3:::*/*"]
    return {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Action": list(allowed), "Resource": everywhere}],
    }


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[servers.S3Server]:
    roles = {"worker": _policy(*_WORK), "looker": _policy(*_WORK, *_LOOK)}
    with servers.seaweedfs(tmp_path_factory.mktemp("versions"), roles) as running:
        yield running


@pytest.fixture
def client(server: servers.S3Server) -> Iterator[S3Client]:
    made = boto3.client("s3", endpoint_url=server.endpoint)
    yield made
    made.close()


@pytest.fixture
def bucket(server: servers.S3Server, client: S3Client, request: pytest.FixtureRequest) -> str:
    name = str(request.node.name).replace("_", "-")[:60].strip("-")
    servers.create_bucket(server, name)
    client.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    return name


@pytest.fixture
def home(
    server: servers.S3Server, bucket: str, client: S3Client, tmp_path: Path, filled: tuple[TownHome, Path]
) -> TownHome:
    """Somebody is known in it, was known in what was deleted since, and a stranger's object lies beside it all."""
    made = TownHome(tmp_path / "home", server.url(bucket, "team"))
    made.folder.mkdir()
    kept = open_store(str(filled[1] / "data"))
    with open_workspace(made.environ, Flags()) as workspace:
        store = workspace.store
        puts = [Put(info.key, kept.get(info.key).data) for info in kept.list()]
        assert all(isinstance(answer, str) for answer in store.put_many(puts))
        for key in GONE:
            store.put(key, f"name,mail\nJo,{ADDRESS}\nTacit,https://www.{DOMAIN}/\n".encode())
            store.delete(key)
        add(workspace, subjects_of(workspace, ADDRESS, SubjectOptions()))  # the list has the value itself until then
    for words in ("of another program", "of another program, again"):
        client.put_object(Bucket=bucket, Key="elsewhere/theirs.txt", Body=words.encode())
    return made


def _versions(client: S3Client, bucket: str) -> set[tuple[str, str]]:
    pages = client.get_paginator("list_object_versions").paginate(Bucket=bucket)
    return {(row["Key"], row["VersionId"]) for page in pages for row in page.get("Versions", [])}


def test_no_version_of_any_object_is_left(
    home: TownHome, bucket: str, client: S3Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut off between two removals, the same command goes on."""
    history = BucketHistory(client, bucket)
    with open_workspace(home.environ, Flags()) as workspace:
        before = _versions(client, bucket)
        planned = plan(workspace, DOMAIN, NOTES)
        assert planned.sweep.counts["earlier version", "removed"] == len(GONE)
        assert planned.sweep.counts["delete marker", "removed"] == len(GONE)
        assert _versions(client, bucket) == before, "a plan changes nothing"
        removals, taken = BucketVersions.remove, 0

        def cut_off(self: BucketVersions, versions: Sequence[ObjectVersion]) -> list[StoreError | None]:
            nonlocal taken
            taken += 1
            if taken == 3:
                raise Crashed("between two removals")
            return removals(self, versions)

        monkeypatch.setattr("cocli.app.left_alone.version_sweep._LOT", 16)
        monkeypatch.setattr("cocli.store.s3_versions._PAGE", 60)
        monkeypatch.setattr(BucketVersions, "remove", cut_off)
        with pytest.raises(Crashed):
            forget(workspace, DOMAIN, NOTES)
        assert residue([history], BUSINESS)
        assert forget(workspace, DOMAIN, NOTES).resumed
        (proof,) = read_proofs(workspace.store)
    assert residue([history, home.folder / "cache", home.folder / "state"], BUSINESS) == []
    strangers = {version for version in before if version[0].startswith("elsewhere/")}
    assert len(strangers) == 2
    assert strangers <= _versions(client, bucket)
    assert (bool(proof.finished_at), proof.remaining) == (True, ())
    assert "earlier version" in {found.kind for found in proof.objects}


def test_who_may_not_remove_versions_is_told_what_is_left(
    home: TownHome, bucket: str, client: S3Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in home.environ.items():
        monkeypatch.setenv(name, value)
    words = ("forget", ADDRESS, "--notes", "--yes")
    for role, is_counted in (("worker", False), ("looker", True)):
        with monkeypatch.context() as as_role:
            as_role.setenv("AWS_ACCESS_KEY_ID", role)
            as_role.setenv("AWS_SECRET_ACCESS_KEY", f"secret-of-{role}")
            code, shown = cocli(*words, "--json")
        assert code == 1, shown
        (rest,) = json.loads(shown)["remaining"]
        assert (rest["kind"], rest["reason"], rest["number"] > 0) == ("earlier version", "denied", is_counted)
        assert "s3:DeleteObjectVersion" in rest["told"]
    history = BucketHistory(client, bucket)
    assert residue([history], PERSON), "they are there still"
    with open_workspace(home.environ, Flags()) as workspace:
        assert residue([workspace.store], PERSON) == [], "but in no object that is current"
        (proof,) = read_proofs(workspace.store)
    assert proof.finished_at is None
    assert [(left.kind, left.reason) for left in proof.remaining] == [("earlier version", "denied")]
    code, shown = cocli(*words)
    assert (code, "left:" in shown) == (0, False), shown
    assert residue([history, home.folder / "state"], PERSON) == []
    code, shown = cocli("forget", "info@bolt.example", "--yes", "--keep-versions")
    assert (code, "until its lifecycle rule ends them" in shown) == (0, True), shown
    with open_workspace(home.environ, Flags()) as workspace:
        proofs = read_proofs(workspace.store)
    assert sorted([left.reason for left in proof.remaining] for proof in proofs) == [[], ["kept"]]
    assert all(proof.finished_at for proof in proofs)
