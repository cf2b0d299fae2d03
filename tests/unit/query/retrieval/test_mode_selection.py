"""What the mode `auto` makes of a walk that has linked no name, and of the mode `mix`."""

from services.query.retrieval.mode_selection import with_walked
from services.query.retrieval.results import SearchResult


def test_the_first_chunks_of_a_walk_stay_first_and_the_best_of_mix_come_soon() -> None:
    walk_result = SearchResult(chunk_ids=[f"walk-{place}" for place in range(20)])
    mixed_result = SearchResult(chunk_ids=["mix-0", "walk-1", "mix-1"], tokens=7)
    result = with_walked(mixed_result, walk_result)
    assert list(result.chunk_ids[:2]) == ["walk-0", "walk-1"]
    assert {"mix-0", "mix-1"} <= set(result.chunk_ids[:20])
    assert result.tokens == 7
