"""The keys of a queue are those of the namespace, whatever a task is called."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from cocli.keys.paths import CompletedKey, LeaseKey, SidelinedKey, TaskKey, task_files
from cocli.queue.base import Category
from cocli.queue.places import Places

IDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=300)


@given(IDS)
@example("ChIJyUzh2kXqwoARUtNFG8VjnYQ")
@example("..")
@example("33.7_-118.3_plumber near me")
@example("é" * 4096)
def test_keys_are_those_of_the_namespace(task_id: str) -> None:
    campaign, queue = "c-1", "gm-details"
    places = Places(campaign, queue)
    assert task_files(places.folder(task_id)) == (
        str(TaskKey(campaign, queue, task_id)),
        str(LeaseKey(campaign, queue, task_id)),
    )
    assert places.completions(task_id) == [
        str(CompletedKey(campaign, queue, task_id, form)) for form in ("json", "usv")
    ]
    assert places.completions_at(places.spot(task_id)) == places.completions(task_id)
    assert places.sidelines(task_id) == [str(SidelinedKey(campaign, queue, category, task_id)) for category in Category]
    assert places.sidelines_at(places.spot(task_id)) == places.sidelines(task_id)
    assert places.spot_of_completion(places.completion(task_id, batch=False)) == places.spot(task_id)
