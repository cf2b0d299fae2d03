"""Which entities a passage names: by parts of longer names, by shorter forms, by surnames that are
no common words.
"""

import pytest

from services.query.passage import Passage
from services.query.retrieval.linking import link_entities
from services.query.retrieval.multihop.starts import sure_links, whole_names
from services.query.retrieval.name_index import NameIndex
from services.query.retrieval.passage_index.builder import IndexBuilder
from services.query.retrieval.passage_index.edges import ONWARD
from services.query.retrieval.passage_index.index import PassageIndex
from services.query.retrieval.passage_index.mentions import MAX_SURNAME_ALONE
from services.query.retrieval.passage_index.passage_words import words_of


def indexed(names: dict[str, str], *texts: str) -> PassageIndex:
    """An index of these passages, with names by type."""
    index = NameIndex()
    index.add(names.items())
    passages = [Passage(str(n), f"d{n}", 0, text, f"{n}.txt") for n, text in enumerate(texts)]
    return IndexBuilder(index).add(map(words_of, passages)).build()


def named_in(index: PassageIndex, passage: int) -> set[str]:
    names = list(index.entities)
    return {names[entity] for entity in index.entity_of[index.passage_of == passage]}


def leads_to(index: PassageIndex, passage: int) -> set[int]:
    edges = index.edges.of(passage)
    onward = index.edges.mentions[edges][index.edges.kinds[edges] == ONWARD]
    return set(index.passage_of[onward].tolist())


@pytest.mark.parametrize("name", ["Interstate 80", "mid-September", "Late-May"])
def test_a_number_and_the_rest_of_a_hyphenated_word_are_no_surnames(name: str) -> None:
    last_word = name.replace("-", " ").split()[-1]
    assert named_in(indexed({name: "other"}, f"On {last_word} others came."), 0) == set()


def test_a_surname_still_names_the_only_one_who_bears_it() -> None:
    assert named_in(indexed({"Ada Marsh": "person"}, "Letters to Marsh were found."), 0) == {
        "Ada Marsh"
    }


def test_a_passage_leads_to_what_a_part_of_a_longer_name_is_called() -> None:
    names = {
        "Otto Brandt of Grey Gull": "person",
        "Otto Brandt": "person",
        "Grey Gull": "ship",
        "Song": "other",
    }
    index = indexed(
        names,
        "The Song is by Otto Brandt of Grey Gull.",
        "Otto Brandt was a tailor.",
        "Grey Gull sank.",
    )
    assert leads_to(index, 0) == {1, 2}


def test_one_word_of_a_longer_name_is_no_name_in_it() -> None:
    names = {"New York Times": "organization", "York": "city", "Song": "other"}
    assert named_in(
        indexed(names, "The Song was in the New York Times.", "York is a city."), 0
    ) == {
        "Song",
        "New York Times",
    }


@pytest.mark.parametrize(
    "opening",
    [
        "A native of Port Elm, Ada Marsh was a tailor.",
        "Of a family in Port Elm, Ada Marsh (born 1902) is the last.",
    ],
)
def test_a_passage_defines_whom_its_first_sentence_says_something_of(opening: str) -> None:
    names = {"Ada Marsh": "person", "Port Elm": "town", "Blue Harbour": "film"}
    index = indexed(
        names,
        "Blue Harbour is by Ada Marsh.",
        opening,
        "Port Elm is a town.",
        "Blue Harbour: of Port Elm.",
    )
    assert leads_to(index, 0) == {1, 3} and 2 in leads_to(index, 1)
    assert 1 not in leads_to(index, 3)


def test_characters_without_a_blank_are_one_word_of_a_longer_name() -> None:
    names = {"蒋蒋 云胡陈": "person", "蒋蒋": "person", "Song": "other"}
    assert named_in(indexed(names, "The Song is by 蒋蒋 云胡陈.", "蒋蒋 was a tailor."), 0) == {
        "Song",
        "蒋蒋 云胡陈",
    }


@pytest.mark.parametrize("short_name", ["Trent Marsh", "Michael Marsh"])
def test_whoever_is_introduced_by_all_names_is_defined_there_under_fewer(short_name: str) -> None:
    names = {"Michael Trent Marsh": "person", short_name: "person", "Blue Harbour": "film"}
    index = indexed(
        names,
        f"Blue Harbour was made by {short_name}.",
        "Michael Trent Marsh (born 1965) is a singer.",
    )
    assert leads_to(index, 0) == {1}


def test_a_longer_name_of_something_else_than_a_person_has_no_shorter_form() -> None:
    names = {
        "National Rowing League": "organization",
        "Rowing League": "organization",
        "Otto Brandt": "person",
    }
    index = indexed(
        names, "Otto Brandt led the Rowing League.", "National Rowing League: a league."
    )
    assert leads_to(index, 0) == set()


@pytest.mark.parametrize("other_texts", [MAX_SURNAME_ALONE, MAX_SURNAME_ALONE + 1])
def test_a_surname_that_far_more_passages_have_than_the_whole_name_is_a_common_word(
    other_texts: int,
) -> None:
    texts = [
        "Samuel French wrote plays.",
        *(f"French sailors met Ada Marsh in 19{n:02}." for n in range(other_texts)),
    ]
    index = indexed({"Samuel French": "person", "Ada Marsh": "person"}, *texts)
    has = ["Samuel French" in named_in(index, n) for n in range(other_texts + 1)]
    assert has == [True, *[other_texts <= MAX_SURNAME_ALONE] * other_texts]
    assert "french" in index.words.numbers


def test_a_surname_beside_the_whole_name_is_no_common_word() -> None:
    texts = [
        f"Samuel French wrote play {n}. Later French slept." for n in range(2 * MAX_SURNAME_ALONE)
    ]
    index = indexed({"Samuel French": "person"}, *texts)
    assert all(named_in(index, n) for n in range(len(texts)))


def linked(question: str, names: dict[str, str], *texts: str) -> list[tuple[str, ...]]:
    index = indexed(names, *texts)
    links = whole_names(question, sure_links(index, link_entities(question, index.names)))
    return [link.names for link in links]


def test_the_beginning_of_a_name_that_is_not_known_is_none_where_another_name_is() -> None:
    names = {"Peter": "person", "Ada Marsh": "person"}
    assert linked("Which film by Peter Rogers has Ada Marsh in it?", names) == [("Ada Marsh",)]
    assert linked("Which film is by Peter Rogers?", names) == [("Peter",)]
    assert linked("Did Peter know Ada Marsh?", names) == [("Peter",), ("Ada Marsh",)]
    assert linked("Did Peter, Rogers or Ada Marsh sing?", names) == [("Peter",), ("Ada Marsh",)]


def test_what_the_passages_have_is_not_misspelt() -> None:
    names = {"Sumer": "country", "Ada Marsh": "person"}
    assert linked("Did Ada Marsh row in Summer?", names, "In summer people row.") == [
        ("Ada Marsh",)
    ]
    assert linked("Did Ada Marsh row in Summer?", names, "People row.") == [
        ("Ada Marsh",),
        ("Sumer",),
    ]


def test_an_inflected_name_is_linked_though_the_passages_have_its_stem() -> None:
    assert linked("Who led the Hamburgs?", {"Hamburg": "city"}, "Hamburg is a city.") == [
        ("Hamburg",)
    ]


SMALL = "What was decided during the harbour of sighs according to Ada Marsh?"


def test_a_question_with_capitals_may_write_a_name_of_several_words_without_any_if_a_passage_is_about_it() -> (  # noqa: E501
    None
):
    names = {"Harbour of Sighs": "event", "Ada Marsh": "person", "Harbour": "other"}
    about = "Harbour of Sighs was a meeting."
    assert linked(SMALL, names, about) == [("Harbour of Sighs",), ("Ada Marsh",)]
    assert linked(SMALL, names, "Ada Marsh wrote. She saw the Harbour of Sighs there.") == [
        ("Ada Marsh",)
    ]


def test_one_word_without_a_capital_is_no_name_in_a_question_with_capitals() -> None:
    names = {"Harbour": "other", "Ada Marsh": "person"}
    assert linked("What harbour did Ada Marsh see?", names, "Harbour is a town.") == [
        ("Ada Marsh",)
    ]


def test_whoever_is_introduced_with_a_nickname_is_defined_there_without_it() -> None:
    names = {'Michael Trent "Mick" Marsh': "person", "Mick Marsh": "person", "Blue Harbour": "film"}
    index = indexed(
        names,
        "Blue Harbour was made by Mick Marsh.",
        'Michael Trent "Mick" Marsh (born 1965) is a singer.',
    )
    assert leads_to(index, 0) == {1}


def edges_by_name(index: PassageIndex) -> set[tuple[str, str, str, int]]:
    """The edges of an index, whatever the order of its passages: passage, entity, passage, kind."""
    names = list(index.entities)
    edges: set[tuple[str, str, str, int]] = set()
    for passage, id in enumerate(index.ids):
        of_passage = index.edges.of(passage)
        mentions = index.edges.mentions[of_passage].tolist()
        kinds = index.edges.kinds[of_passage].tolist()
        for mention, kind in zip(mentions, kinds, strict=True):
            entity = names[int(index.entity_of[mention])]
            edges.add((id, entity, index.ids[int(index.passage_of[mention])], kind))
    return edges


def test_passages_that_are_read_one_after_another_make_the_same_index() -> None:
    names = NameIndex()
    names.add([("Blue Harbour", "film"), ("Ada Marsh", "person"), ("Port Elm", "town")])
    texts = (
        "Blue Harbour is a film. It was made by Ada Marsh.",
        "Ada Marsh was a tailor.\n\nShe came from Port Elm. Marsh rowed.",
        "",
        "Port Elm is a town. Blue Harbour was made there.",
        "In Port Elm people row.",
    )
    passages = [
        words_of(Passage(str(n), f"d{n}", 0, text, f"{n}.txt")) for n, text in enumerate(texts)
    ]
    together = IndexBuilder(names).add(passages).build()
    apart = IndexBuilder(names)
    for number in (4, 1, 0, 3, 2):
        apart.add([passages[number]])
    assert len(edges_by_name(together)) > 4
    assert edges_by_name(apart.build()) == edges_by_name(together)
    assert set(together.words.numbers) == set(apart.build().words.numbers)


def test_a_sentence_is_about_the_leader_of_its_paragraph_and_no_other() -> None:
    names = {"Ada Marsh": "person", "Port Elm": "town", "Blue Harbour": "film"}
    index = indexed(names, "Ada Marsh was a tailor. She rowed to Port Elm.\n\nBlue Harbour sank.")
    about = {
        name: len(index.sentences_of.of(index.mention_of(entity, 0)))
        for name, entity in index.entities.items()
    }
    assert about == {"Ada Marsh": 2, "Port Elm": 1, "Blue Harbour": 1}
