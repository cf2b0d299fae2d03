"""What many chunks say about one thing, made one."""

from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.events import EntitiesExtracted
from contracts.graph import UNKNOWN_TYPE, Entity, Relation
from contracts.ids import SEPARATOR, UNKNOWN_SOURCE
from knowledge.contributions import Contribution, Key, contributions
from knowledge.descriptions import MAX_DESCRIPTION, join
from knowledge.edits import Edits
from knowledge.fold import (
    MAX_FILE_PATHS,
    MAX_KEYWORDS,
    MAX_SOURCES,
    active_contributions,
    aggregate,
    fold,
    fragments,
)
from tests.support.events import NOON, document, entity, extracted, relation


def said(*events: EntitiesExtracted) -> list[Contribution]:
    return [contribution for event in events for contribution in contributions(event)]


def made(key: Key, contributions: list[Contribution], revision: int = 1) -> Entity | Relation:
    """The fold without any edit or summary."""
    active = active_contributions(contributions)
    return fold(key, aggregate(active), join(fragments(active)), revision, Edits())


def folded(name: str, *events: EntitiesExtracted) -> Entity:
    result = made((name,), [c for c in said(*events) if c.names == (name,)])
    assert isinstance(result, Entity)
    return result


def joined(source: str, target: str, *events: EntitiesExtracted) -> Relation:
    result = made((source, target), [c for c in said(*events) if c.names == (source, target)])
    assert isinstance(result, Relation)
    return result


def about(*types: str) -> list[EntitiesExtracted]:
    """One chunk each that names A with this type."""
    return [extracted(document(), order, [entity("A", kind)]) for order, kind in enumerate(types)]


def test_the_type_that_most_chunks_give_is_taken() -> None:
    assert folded("A", *about("city", "person", "person")).type == "person"


def test_of_types_with_as_many_votes_the_first_one_in_the_documents_is_taken() -> None:
    assert folded("A", *about("city", "person", "person", "city")).type == "city"
    assert folded("A", *reversed(about("city", "person"))).type == "city"


def test_the_first_is_by_time_of_the_document_then_by_its_id_then_by_place() -> None:
    late_document = document("a", added_at=NOON + timedelta(seconds=1))
    events = [
        extracted(late_document, 0, [entity("A", "t4", "four")]),
        extracted(document("c"), 0, [entity("A", "t3", "three")]),
        extracted(document("b"), 1, [entity("A", "t2", "two")]),
        extracted(document("b"), 0, [entity("A", "t1", "one")]),
    ]
    result = folded("A", *events)
    assert result.description == SEPARATOR.join(["one", "two", "three", "four"])
    assert result.type == "t1"
    assert result.source_ids == ("b-chunk-000", "b-chunk-001", "c-chunk-000", "a-chunk-000")


def test_the_weight_of_a_relation_is_the_sum_of_its_chunks() -> None:
    events = [extracted(document(f"d{n}"), 0, [], [relation("A", "B")]) for n in range(9)]
    assert joined("A", "B", *events).weight == 9.0


def test_sums_of_fractions_do_not_depend_on_their_order() -> None:
    events = [
        extracted(document(), n, [], [relation("A", "B", weight=w)])
        for n, w in enumerate([0.1, 0.7, 1e9, 0.2])
    ]
    weights = {joined("A", "B", *Random(seed).sample(events, 4)).weight for seed in range(20)}
    assert len(weights) == 1


def test_keywords_of_all_chunks_stand_in_order_of_the_alphabet_each_once() -> None:
    events = [
        extracted(document(), 0, [], [relation("A", "B", "x", "work", "art")]),
        extracted(document(), 1, [], [relation("B", "A", "y", "love", "art")]),
    ]
    assert joined("A", "B", *events).keywords == ("art", "love", "work")


def test_of_too_many_keywords_those_stay_that_most_chunks_give() -> None:
    keywords = [f"k{n:03d}" for n in range(MAX_KEYWORDS)]
    events = [extracted(document(), 0, [], [relation("A", "B", "x", "often", *keywords)])]
    events.append(extracted(document(), 1, [], [relation("A", "B", "x", "often")]))
    assert joined("A", "B", *events).keywords == (*keywords[:-1], "often")


def test_a_relation_has_no_direction() -> None:
    assert [
        c.names
        for c in said(extracted(document(), 0, [], [relation("Z", "A")]))
        if len(c.names) == 2
    ] == [("A", "Z")]


def test_a_description_stands_once_however_many_chunks_give_it() -> None:
    events = [
        extracted(document(), n, [entity("A", "t", text)])
        for n, text in enumerate(["one", "two", "one"])
    ]
    result = folded("A", *events)
    assert result.description == f"one{SEPARATOR}two"
    assert result.support == 3


def test_a_joined_description_stays_within_its_limit_and_leaves_whole_fragments_out() -> None:
    events = [extracted(document(), n, [entity("A", "t", f"{n}" * 1000)]) for n in range(1, 10)]
    events.append(extracted(document(), 20, [entity("A", "t", "short")]))
    parts = folded("A", *events).description.split(SEPARATOR)
    assert len(SEPARATOR.join(parts)) <= MAX_DESCRIPTION
    assert parts[0] == "1" * 1000
    assert parts[-1] == "short"
    assert all(part == part[0] * 1000 for part in parts[:-1])


def test_one_description_longer_than_the_limit_is_cut() -> None:
    assert join(["x" * 10_000]) == "x" * MAX_DESCRIPTION


@given(st.lists(st.text(max_size=30), max_size=20), st.integers(1, 100))
def test_a_join_is_never_longer_than_its_limit(descriptions: list[str], limit: int) -> None:
    assert len(join(descriptions, limit)) <= limit


def test_an_end_that_no_chunk_describes_has_an_unknown_type_and_the_relation_s_description() -> (
    None
):
    event = extracted(document(), 0, [entity("A")], [relation("A", "B", "A founded B")])
    end = folded("B", event)
    assert (end.type, end.description, end.source_ids) == (
        UNKNOWN_TYPE,
        "A founded B",
        ("d-chunk-000",),
    )


def test_the_first_chunk_that_describes_an_end_replaces_what_the_relation_said() -> None:
    events = [
        extracted(document(), 0, [], [relation("A", "B", "A founded B")]),
        extracted(document(), 1, [entity("B", "company", "B makes bells")]),
    ]
    end = folded("B", *events)
    assert (end.type, end.description) == ("company", "B makes bells")
    assert end.source_ids == ("d-chunk-000", "d-chunk-001")


def test_an_end_that_the_same_chunk_describes_is_no_end() -> None:
    event = extracted(document(), 0, [entity("A", "person", "A paints")], [relation("A", "B")])
    assert [c.kind for c in said(event) if c.names == ("A",)] == ["entity"]


def test_of_two_rows_about_one_thing_in_one_chunk_the_longer_counts() -> None:
    event = extracted(
        document(),
        0,
        [entity("A", "x", "short"), entity("A", "y", "the longer one")],
        [
            relation("A", "B", "short", "k1", weight=3.0),
            relation("B", "A", "the longer one", "k2", weight=1.0),
        ],
    )
    assert (folded("A", event).type, folded("A", event).support) == ("y", 1)
    edge = joined("A", "B", event)
    assert (edge.description, edge.keywords, edge.weight) == ("the longer one", ("k1", "k2"), 3.0)


def test_the_order_of_rows_within_a_chunk_does_not_matter() -> None:
    entities = [entity("A", "x", "one"), entity("A", "y", "two"), entity("B"), entity("C")]
    relations = [
        relation("A", "B", "x"),
        relation("B", "A", "y"),
        relation("A", "D", "z"),
        relation("D", "B", "w"),
    ]
    states = {
        frozenset(
            said(
                extracted(
                    document(), 0, Random(n).sample(entities, 4), Random(n).sample(relations, 4)
                )
            )
        )
        for n in range(30)
    }
    assert len(states) == 1


def test_an_entity_that_nothing_supports_is_a_tombstone() -> None:
    assert made(("A",), [], 5) == Entity("A", 5, is_gone=True)
    assert made(("A", "B"), [], 5) == Relation("A", "B", 5, is_gone=True)


def test_what_was_taken_back_does_not_count() -> None:
    (once,) = said(extracted(document(), 0, [entity("A")]))
    assert made(("A",), [replace(once, is_retracted=True)], 5).is_gone


def test_sources_and_files_are_bounded_and_the_support_is_not() -> None:
    events = [
        extracted(document(f"d{n:03d}", file_path=f"{n}.txt"), 0, [entity("A")]) for n in range(250)
    ]
    result = folded("A", *events)
    assert (len(result.source_ids), len(result.file_paths), result.support) == (
        MAX_SOURCES,
        MAX_FILE_PATHS,
        250,
    )
    assert result.source_ids[0] == "d000-chunk-000"


def test_a_document_without_a_file_adds_none() -> None:
    event = extracted(document(file_path=UNKNOWN_SOURCE), 0, [entity("A")])
    assert folded("A", event).file_paths == ()


def test_a_thing_is_as_old_as_the_first_document_that_names_it() -> None:
    events = [
        extracted(document(f"d{n}", added_at=NOON + timedelta(days=n)), 0, [entity("A")])
        for n in (3, 1, 2)
    ]
    assert folded("A", *events).created_at == int((NOON + timedelta(days=1)).timestamp())


names = st.sampled_from(["A", "B", "C", "D"])
events = st.lists(
    st.builds(
        lambda d, o, es, rs: extracted(document(d), o, es, [r for r in rs if r.source != r.target]),
        st.sampled_from(["d1", "d2", "d3"]),
        st.integers(0, 4),
        st.lists(
            st.builds(
                entity, names, st.sampled_from(["x", "y"]), st.text("ab", min_size=1, max_size=3)
            )
        ),
        st.lists(
            st.builds(
                relation, names, names, st.text("ab", min_size=1, max_size=3), st.sampled_from("kl")
            )
        ),
    ),
    min_size=1,
    max_size=6,
    unique_by=lambda event: event.chunk.id,
)


@pytest.mark.parametrize("name", ["A", "B"])
@settings(max_examples=60)
@given(events, st.randoms(use_true_random=False))
def test_a_fold_is_a_function_of_the_set_of_contributions(
    name: str, extractions: list[EntitiesExtracted], r: Random
) -> None:
    arrivals = r.sample(extractions, len(extractions))
    assert folded(name, *extractions) == folded(name, *arrivals)
    assert joined("A", "B", *extractions) == joined("A", "B", *arrivals)
