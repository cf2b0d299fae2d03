"""Derived names: golden values that old logs and stores already hold, and the laws behind them."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from contracts import ids

any_text = st.text(st.characters(codec=None))
"""Lone surrogates too: a name may come from a file system."""


def test_names_of_old_logs_stay_what_they_were() -> None:
    assert ids.document_id("...", "a.txt") == "doc-a5e54d1fd7bb69a228ef0dcd2431367e"
    assert ids.document_id("Low water at noon.") == "doc-" + ids.md5("Low water at noon.")
    assert ids.chunk_id("doc-1", 7) == "doc-1-chunk-007"
    assert ids.entity_vector_id("Tide Mill") == "ent-2956096dd277ec68179c372f6c03242e3e562363"
    assert (
        ids.relation_vector_id("Tide Mill", "Brackwater")
        == "rel-8a5dc895cce774aaa904522fe5e5cf96ba666d17"
    )
    assert ids.md5("Marit Ousland") == "fb35bec4844e5bb4acb529f4e617b7d5"
    assert ids.sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert ids.event_id("cause", "ChunksCreated", 2) == "29f5e657-2da7-5e80-9f1f-f5807dc3f2ad"


def test_a_document_is_named_by_its_file_whatever_folder_it_lies_in() -> None:
    names = (
        "a.txt",
        "/home/ida/a.txt",
        "C:\\Users\\ida\\a.txt",
        " a.txt ",
        "x/../a.txt",
        "a.[native].txt",
    )
    assert {ids.document_id(f"text {n}", name) for n, name in enumerate(names)} == {
        ids.document_id("", "a.txt")
    }


def test_a_document_without_a_file_is_named_by_its_text() -> None:
    for no_name in (ids.UNKNOWN_SOURCE, "", "  ", "folder/", "/"):
        assert (
            ids.document_id("one", no_name)
            == ids.document_id("one")
            != ids.document_id("two", no_name)
        )


def test_only_a_hint_before_the_ending_is_no_part_of_a_name() -> None:
    assert ids.canonical_name("a/report.[native].pdf") == "report.pdf"
    assert ids.canonical_name("report.[2026].draft.pdf") == "report.[2026].draft.pdf"
    assert ids.canonical_name("report.[native]") == "report.[native]"


def test_a_document_below_a_folder_is_named_by_its_whole_path() -> None:
    assert (
        ids.path_id("a/README.md") == "doc-" + ids.md5("a/README.md") != ids.path_id("b/README.md")
    )
    for name in ("README.md", " README.md ", "README.[native].md", "a\\README.md"):
        assert ids.path_id(name) == ids.document_id("", name)


def test_a_name_may_mean_the_document_of_its_path_or_of_its_base_name() -> None:
    assert ids.ids_of_name("a/README.md") == [
        ids.path_id("a/README.md"),
        ids.document_id("", "README.md"),
    ]
    assert ids.ids_of_name("README.md") == [ids.document_id("", "README.md")]


@given(any_text, any_text)
def test_the_same_input_gives_the_same_name_of_the_same_form(text: str, name: str) -> None:
    document_id = ids.document_id(text, name)
    assert document_id == ids.document_id(text, name)
    assert document_id.startswith("doc-")
    assert len(document_id) == 36
    assert set(document_id[4:]) <= set("0123456789abcdef")


@given(any_text, st.integers(0, 10**6), any_text, st.integers(0, 10**6))
def test_two_chunks_never_share_a_name(
    document: str, order: int, other_document: str, other_order: int
) -> None:
    is_same = ids.chunk_id(document, order) == ids.chunk_id(other_document, other_order)
    assert is_same == ((document, order) == (other_document, other_order))


@given(st.lists(st.integers(0, 2000), min_size=2, unique=True))
def test_chunk_names_sort_by_order_up_to_a_thousand(orders: list[int]) -> None:
    small_orders = [order for order in orders if order < 1000]
    assert sorted(small_orders) == [
        int(name[-3:]) for name in sorted(ids.chunk_id("d", order) for order in small_orders)
    ]


@given(any_text, any_text)
def test_a_relation_has_no_direction(source: str, target: str) -> None:
    assert ids.pair(source, target) == ids.pair(target, source) == tuple(sorted((source, target)))
    assert ids.relation_vector_id(source, target) == ids.relation_vector_id(target, source)


@given(st.text(), st.integers(), st.integers(), st.text("-\x1f", max_size=2))
def test_names_that_are_cut_elsewhere_make_other_relations(
    text: str, first: int, second: int, between: str
) -> None:
    cut = sorted(number % (len(text) + 1) for number in (first, second))
    first_pair, second_pair = [(text[:at] + between, text[at:]) for at in cut]
    is_same = ids.relation_vector_id(*first_pair) == ids.relation_vector_id(*second_pair)
    assert is_same == (ids.pair(*first_pair) == ids.pair(*second_pair))
    assert ids.relation_vector_id("ZqA", "bcdyx") != ids.relation_vector_id("ZqAb", "cdyx")


@given(st.text(), st.sampled_from(["ChunksCreated", "StageFailed"]), st.integers(0, 10**6))
def test_an_event_id_is_a_uuid_of_version_5_that_tells_causes_types_and_ordinals_apart(
    cause: str, event_type: str, ordinal: int
) -> None:
    event_id = ids.event_id(cause, event_type, ordinal)
    assert event_id == ids.event_id(cause, event_type, ordinal)
    assert UUID(event_id).version == 5
    other_ids = [
        ids.event_id(cause + "x", event_type, ordinal),
        ids.event_id(cause, "VectorsIndexed", ordinal),
        ids.event_id(cause, event_type, ordinal + 1),
    ]
    assert len({event_id, *other_ids}) == 4
