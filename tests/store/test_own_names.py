"""Files under the names that people give them: listed, read, changed and removed by their keys, where they lie."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocli.errors import AlreadyExists, Conflict, NotFound
from cocli.keys.parts import is_key
from cocli.keys.paths import CompanyKey, NoteKey
from cocli.store.disk.own_names import part_of, place_of
from cocli.store.local import LocalStore

TALK = "companies/acme/notes/Gespr%C3%A4ch%20mit%20M%C3%BCller.md"
NFC = "companies/acme/notes/Gespräch mit Müller.md"
NFD = unicodedata.normalize("NFD", NFC)


def write(root: Path, name: str, text: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize("name", [NFC, NFD], ids=["NFC", "NFD"])
def test_an_object_is_found_under_the_name_that_a_person_gave_it(tmp_path: Path, name: str) -> None:
    store, path = LocalStore(tmp_path), write(tmp_path, name, "called")
    assert [info.key for info in store.list("companies/acme/")] == [TALK]
    stored = store.get(TALK)
    assert stored.data == b"called"
    with pytest.raises(AlreadyExists):
        store.put(TALK, b"new", if_absent=True)
    with pytest.raises(Conflict):
        store.put(TALK, b"new", if_match='"other"')
    store.put(TALK, b"called again", if_match=stored.etag)
    assert path.read_bytes() == b"called again"
    assert os.listdir(path.parent) == [path.name], "it stays where it is and what it is called"
    store.delete(TALK)
    assert not path.exists()
    with pytest.raises(NotFound):
        store.get(TALK)
    store.put(TALK, b"new", if_absent=True)
    assert (tmp_path / TALK).read_bytes() == b"new", "what is new has its key for a name"


def test_folders_have_names_too(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    write(tmp_path, "companies/Müller & Söhne/_index.md", "a page")
    write(tmp_path, "companies/Müller & Söhne/notes/Büro.md", "a note")
    slug = "Müller & Söhne"
    keys = [str(CompanyKey(slug)), str(NoteKey(slug, "Büro"))]
    assert [info.key for info in store.list("companies/")] == keys
    assert [info.key for info in store.list(f"{keys[0].rpartition('/')[0]}/")] == keys
    assert [store.get(key).data for key in keys] == [b"a page", b"a note"]
    store.put(str(NoteKey(slug, "plain")), b"x")
    assert (tmp_path / "companies/Müller & Söhne/notes/plain.md").exists()


def test_a_long_name_is_known_by_its_shortened_form(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    long, cyrillic = "x" * 240, "Разговор с клиентом о крыше и о цене, второй"
    for name in (long, cyrillic):
        write(tmp_path, f"companies/acme/notes/{name}.md", name)
    keys = [info.key for info in store.list("companies/")]
    assert keys == sorted(str(NoteKey("acme", name)) for name in (long, cyrillic))
    assert {store.get(key).data.decode() for key in keys} == {long, cyrillic}


def test_where_two_files_have_one_key_that_of_the_key_has_it(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    write(tmp_path, NFD, "nfd")
    assert store.get(TALK).data == b"nfd"
    write(tmp_path, NFC, "nfc")
    assert store.get(TALK).data == b"nfc"
    write(tmp_path, TALK, "key")
    assert store.get(TALK).data == b"key"
    assert [(info.key, info.size) for info in store.list()] == [(TALK, 3)]


def test_what_is_no_name_of_a_persons_is_left_alone(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    names = (".#Büro.md", "#Büro.md#", "~$Büro.docx", ".Büro.md.swp", os.fsdecode(b"Gespr\xe4ch.md"))
    for name in names:
        write(tmp_path, f"people/{name}", "x")
    write(tmp_path, "campaigns/plumbers/exports/Büro.csv", "only programs write here")
    write(tmp_path, f"campaigns/plumbers/exports/{'x' * 240}.csv", "no key is so long")
    assert list(store.list()) == []


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("secret")
    (tmp_path / "home" / "people").mkdir(parents=True)
    (tmp_path / "home" / "people" / "Büro.md").symlink_to(tmp_path / "outside.md")
    store = LocalStore(tmp_path / "home")
    assert list(store.list()) == []
    with pytest.raises(Exception, match="symbolic link"):
        store.get("people/B%C3%BCro.md")


@given(st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=60))
def test_every_name_has_one_key_or_none(name: str) -> None:
    part = part_of(name, "people/")
    if part is None:
        assert name.startswith((".", "#", "~$"))
        return
    assert is_key(f"people/{part}")
    assert part_of(unicodedata.normalize("NFC", name), "people/") == part or part == name
    assert part_of(part, "people/") == part, "what is called by its key has this key"


def test_other_keys_cost_no_look(tmp_path: Path) -> None:
    for key in ("people/jane.md", "campaigns/plumbers/x%20y", "indexes/%C3%BC"):
        assert place_of(str(tmp_path / "nowhere"), key) == key
