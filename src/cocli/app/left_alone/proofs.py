"""The proofs of who was forgotten: by hashes alone. They lie in the store, and every copy obeys them."""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING

from cocli.config.places import state_home
from cocli.config.private import make_private
from cocli.errors import NotFound
from cocli.formats import json_records
from cocli.keys.paths import FORGOTTEN_FOLDER, ForgottenKey
from cocli.models.left_alone.forgotten import Forgotten
from cocli.store import settled
from cocli.store.base import StoredObject

if TYPE_CHECKING:
    from cocli.config.places import Environment
    from cocli.store.base import Store

_OBEYED = "forgotten.json"


def read_proofs(store: Store) -> list[Forgotten]:
    keys = [info.key for info in store.list(FORGOTTEN_FOLDER) if ForgottenKey.fits(info.key)]
    found: list[Forgotten] = []
    for answer in store.get_many(keys):
        if isinstance(answer, StoredObject):
            found.append(json_records.read(Forgotten, answer.data, file=answer.key))
        elif not isinstance(answer, NotFound):
            raise answer
    return found


def write_proof(store: Store, proof: Forgotten) -> str:
    """Write a proof, together with what the one that is there says; its key."""
    key = str(ForgottenKey(proof.id))
    while settled.create(store, key, json_records.render(proof)) is None:
        try:
            there = store.get(key)
        except NotFound:
            continue
        merged = merged_proof(json_records.read(Forgotten, there.data, file=key), proof)
        data = json_records.render(merged)
        if data == there.data or settled.swap(store, key, data, there.etag) is not None:
            break
    return key


def merged_proof(known: Forgotten | None, new: Forgotten) -> Forgotten:
    """Both together, whoever comes first: all values, all objects, the earlier beginning, the later end."""
    if known is None or known.id != new.id:
        return new
    ends = [proof.finished_at for proof in (known, new) if proof.finished_at is not None]
    objects = {(found.kind, found.sha256, found.done): found for found in (*known.objects, *new.objects)}
    values = {(value.kind, value.sha256): value for value in (*known.values, *new.values)}
    earlier = known if known.begun_at <= new.begun_at else new
    return earlier.with_changes(
        values=tuple(values[name] for name in sorted(values)),
        objects=tuple(objects[name] for name in sorted(objects)),
        remaining=_later(known, new).remaining,
        notes=known.notes or new.notes,
        files=max(known.files, new.files),
        finished_at=max(ends) if ends else None,
    )


def _later(known: Forgotten, new: Forgotten) -> Forgotten:
    """The one that ended later; where none has, the one that says more."""
    ended = [proof for proof in (known, new) if proof.finished_at is not None]
    if ended:
        return max(ended, key=lambda proof: (str(proof.finished_at), len(proof.remaining)))
    return max((known, new), key=lambda proof: (len(proof.remaining), str(proof.remaining)))


# --- which of them this machine has obeyed


def version_of(proof: Forgotten) -> str:
    """A proof that says more than before is obeyed again."""
    told = sorted(f"{value.kind} {value.sha256}" for value in proof.values)
    return hashlib.sha256(f"{proof.id} {proof.notes} {proof.finished_at} {told}".encode()).hexdigest()


def _path(environ: Environment, store: Store) -> str:
    name = hashlib.sha256(store.address.encode()).hexdigest()[:16]
    folder = os.path.join(state_home(environ), "left-alone", name)
    make_private(folder)
    return os.path.join(folder, _OBEYED)


def obeyed_proofs(environ: Environment, store: Store) -> set[str]:
    try:
        with open(_path(environ, store), encoding="utf-8") as file:
            return set(json.load(file))
    except (OSError, ValueError):
        return set()  # nothing was obeyed yet, or it is not known: then it is done again


def remember_obeyed(environ: Environment, store: Store) -> None:
    """This machine has swept a store for all who are forgotten there now."""
    versions = {version_of(proof) for proof in read_proofs(store)}
    path = _path(environ, store)
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        json.dump(sorted(versions), file)
    os.replace(f"{path}.new", path)
