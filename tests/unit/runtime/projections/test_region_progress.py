"""What a follower notes of itself is read again, also as older programs noted it."""

import json

import pytest

from contracts.partitions import LogPosition, first_sequence
from runtime.projections.region_progress import PLACES, RegionProgress


@pytest.mark.parametrize("partitions", [1, 3])
def test_what_was_never_noted_is_the_beginning(partitions: int) -> None:
    progress = RegionProgress.of(b"", partitions)
    assert {getattr(progress, name) for name in PLACES} == {LogPosition.start(partitions)}
    assert not progress.is_erasing
    assert RegionProgress.of(progress.to_json()) == progress


def test_a_note_of_one_stream_has_numbers_as_ever() -> None:
    note = {"region": "second", "position": 7, "removed_to": 5, "cleaned_to": 5, "writer_end": 9}
    progress = RegionProgress.of(json.dumps(note).encode())
    assert progress.events_behind == 2
    assert not progress.is_erasing
    assert note.items() <= json.loads(progress.to_json()).items()


def test_each_partition_counts_for_what_is_missing_and_to_be_erased() -> None:
    start = LogPosition.start(2)
    ahead = start.behind([3])
    behind = start.behind([first_sequence(1) + 4])
    progress = RegionProgress(
        position=ahead, removed_to=behind, cleaned_to=ahead, writer_end=behind
    )
    assert progress.events_behind == 5
    assert progress.is_erasing
