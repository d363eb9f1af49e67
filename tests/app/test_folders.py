"""One level of a store, read without walking what lies below: over real stores, counted in requests."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cocli.app.campaigns.name import campaign_names
from cocli.app.store.deletion import FolderContents, delete_folder, measure_folder
from cocli.store import Put, Store, open_store
from cocli.store.folders import children

_parts = st.sampled_from(["a", "b", "a-b", "a.b", "a0", "~", "~~", "a~", "Z", "%2E", "+", "="])
_keys = st.lists(_parts, min_size=1, max_size=4).map("/".join)


def filled(keys: list[str]) -> Store:
    store = open_store("memory://")
    store.put_many([Put(key, b"x") for key in keys])
    return store


@given(st.sets(_keys, max_size=30), st.sampled_from(["", "a/", "a-b/", "a/b/", "~/"]))
def test_children_are_the_first_parts_below_a_folder(keys: set[str], prefix: str) -> None:
    found = list(children(filled(sorted(keys)), prefix))
    below = {key[len(prefix) :] for key in keys if key.startswith(prefix)}
    folders = {f"{rest.partition('/')[0]}/" for rest in below if "/" in rest}
    objects = {prefix + rest for rest in below if "/" not in rest}
    assert sorted(child for child in found if isinstance(child, str)) == sorted(folders)
    assert sorted(child.key for child in found if not isinstance(child, str)) == sorted(objects)


def test_a_deep_folder_is_jumped_over() -> None:
    deep = [f"campaigns/{name}/queues/q/{number:05d}" for name in ("a", "a-b", "b") for number in range(3000)]
    store = filled([*deep, "campaigns/c/config.toml"])
    read = 0

    class Counted:
        """The store, counting what is listed."""

        def list(self, prefix: str = "", *, start_after: str | None = None) -> object:
            nonlocal read
            for info in store.list(prefix, start_after=start_after):
                read += 1
                yield info

    names = list(campaign_names(Counted()))  # type: ignore[arg-type]
    assert sorted(names) == ["a", "a-b", "b", "c"]
    assert read < 300


def test_a_folder_is_counted_and_removed_last_key_last() -> None:
    store = filled([f"f/{number:04d}" for number in range(2500)] + ["f/0000-config", "g/other"])
    assert measure_folder([store], "f/") == FolderContents(2501, 2501)
    told: list[int] = []

    def progress(done: int) -> None:
        told.append(done)
        assert any(info.key == "f/0000-config" for info in store.list("f/"))

    assert delete_folder(store, "f/", last="f/0000-config", progress=progress) == FolderContents(2501, 2501)
    assert told[-1] == 2500
    assert [info.key for info in store.list()] == ["g/other"]
