"""The rankings of a walk that begin at names alone: by paths onward, by their first steps, and by
the neighbourhood.
"""

from services.query.passage import Passage
from services.query.retrieval.linking import link_entities
from services.query.retrieval.multihop.evidence import Evidence, gather_evidence
from services.query.retrieval.multihop.name_paths import (
    MAX_FIRST_STEPS,
    by_first_steps,
    by_name_paths,
    name_paths,
)
from services.query.retrieval.multihop.neighbour_ranking import MAX_NEAR, by_neighbourhood
from services.query.retrieval.multihop.path_search import Path
from services.query.retrieval.multihop.query_terms import QueryTerms
from services.query.retrieval.multihop.starts import (
    name_fragments,
    sure_links,
    with_titles,
    without_homonyms,
)
from services.query.retrieval.name_index import NameIndex
from services.query.retrieval.passage_index.builder import IndexBuilder
from services.query.retrieval.passage_index.index import PassageIndex
from services.query.retrieval.passage_index.passage_words import words_of

TEXTS = (
    (
        "Blue Harbour is a film of 1931. It was directed by Otto Brandt. It was produced by "
        "Lowell Pictures."
    ),
    "Green Valley is a film of 1940. It was directed by Ida Bell.",
    "Otto Brandt was a painter. He married Ada Marsh.",
    "Ida Bell was a singer from Port Elm.",
    "Ada Marsh came from Old Mill.",
    "Lowell Pictures is a studio.",
    "Blue Harbour is a film of 1952. It was directed by Iris Stone.",
    "Iris Stone was a singer.",
    "Old Mill is a town.",
    "A spouse is born where the director of a film is born, they say in Port Elm.",
)
NAMES = (
    "Blue Harbour",
    "Green Valley",
    "Otto Brandt",
    "Ida Bell",
    "Ada Marsh",
    "Lowell Pictures",
    "Iris Stone",
    "Old Mill",
    "Port Elm",
)


def names(*more: str) -> NameIndex:
    index = NameIndex()
    index.add((name, "thing") for name in (*NAMES, *more))
    return index


def indexed(*texts: str, more: tuple[str, ...] = ()) -> PassageIndex:
    """`more`: further names of entities."""
    passages = [
        Passage(str(number), f"d{number}", 0, text, "a.txt") for number, text in enumerate(texts)
    ]
    return IndexBuilder(names(*more)).add(map(words_of, passages)).build()


class RankedQuestion:
    """A question over an index, with what all rankings need."""

    def __init__(
        self, question: str, index: PassageIndex, documents: frozenset[str] | None = None
    ) -> None:
        self.index = index
        self.links = with_titles(
            index, question, sure_links(index, link_entities(question, index.names))
        )
        self.allowed = without_homonyms(index, self.links, index.allowed(documents))
        terms = QueryTerms.of(question, self.links)
        fragments = name_fragments(index, self.links)
        self.evidence: Evidence = gather_evidence(index, terms, {}, self.allowed, fragments)

    def paths(self) -> list[list[Path]]:
        return name_paths(self.index, self.evidence, self.links, {}, self.allowed)

    def by_paths(self) -> list[int]:
        return by_name_paths(self.paths())

    def by_first_steps(self) -> list[int]:
        return by_first_steps(self.paths())

    def by_neighbourhood(self) -> list[int]:
        return by_neighbourhood(self.index, self.evidence, self.links, {}, self.allowed)


def test_the_passages_of_a_chain_come_before_one_with_all_words_of_the_question() -> None:
    question = RankedQuestion(
        "Where was the spouse of the director of Blue Harbour (1931 film) born?", indexed(*TEXTS)
    )
    assert (
        question.by_paths()[0] == 0
        and {0, 2, 4} <= set(question.by_paths()[:5])
        and 9 not in question.by_paths()
    )
    near = question.by_neighbourhood()
    assert near[0] == 0 and set(near[1:3]) == {2, 5}


def test_two_names_take_turns() -> None:
    question = RankedQuestion(
        "Were the directors of Blue Harbour (1931) and Green Valley born in one town?",
        indexed(*TEXTS),
    )
    assert set(question.by_paths()[:2]) == {0, 1}
    assert {0, 1, 2, 3} <= set(question.by_paths()[:6]) and {0, 1, 2, 3} <= set(
        question.by_neighbourhood()[:6]
    )


def test_each_of_two_names_has_what_its_own_passage_leads_to_before_what_lies_further() -> None:
    # The first film's chain goes on to where its director's wife is from; the second one's has no
    # word of the question.
    index = indexed(*TEXTS)
    question = RankedQuestion(
        "Whose director married first, that of Blue Harbour (1931) or that of Green Valley?", index
    )
    assert question.by_first_steps() == [0, 1, 2, 3, 5] and 4 in question.by_paths()


def test_of_a_name_few_first_steps_are_ranked_and_of_none_nothing() -> None:
    films = tuple(f"Actor {name} was in it." for name in NAMES[1:])
    index = indexed(
        "Blue Harbour: " + " ".join(films), *(f"{name} is well known." for name in NAMES[1:])
    )
    steps = RankedQuestion("Who was in Blue Harbour?", index).by_first_steps()
    assert steps[0] == 0 and len(steps) == MAX_FIRST_STEPS
    assert RankedQuestion("Who was it?", index).by_first_steps() == []


def test_no_path_leads_by_a_part_of_a_name_to_what_begins_alike() -> None:
    journeys = (
        "A Crimson Journey to Port Elm: a novel by Ida Bell.",
        "A Crimson Journey to Old Mill: a novel by Otto Brandt.",
        "Ida Bell was a singer.",
        "Otto Brandt was a painter.",
    )
    index = indexed(*journeys, more=("Crimson Journey",))
    question = RankedQuestion("Who wrote A Crimson Journey to Port Elm?", index)
    assert [link.text for link in question.links] == ["Crimson Journey to Port Elm"]
    for ranking in (question.by_first_steps(), question.by_paths()):
        assert ranking[:2] == [0, 2] and 1 not in ranking
    assert 1 in RankedQuestion("Who wrote the Crimson Journey?", index).by_first_steps()


def test_what_stands_in_brackets_after_a_name_tells_homonyms_apart() -> None:
    index = indexed(*TEXTS)
    for text, film, other in (
        ("Who directed Blue Harbour (1952 film)?", 6, 0),
        ("who directed blue harbour (1931 film)?", 0, 6),
    ):
        question = RankedQuestion(text, index)
        assert question.links[0].qualifier and question.by_paths()[0] == film
        assert other not in question.by_paths() and other not in question.by_neighbourhood()
    both = RankedQuestion(
        "Which is older, Blue Harbour (1931 film) or Blue Harbour (1952 film)?", index
    )
    assert {0, 6} <= set(both.by_paths())
    assert {0, 6} <= set(
        RankedQuestion("Who directed Blue Harbour (the best film of all)?", index).by_paths()
    )


def test_nothing_outside_a_scope_is_ranked_and_nothing_without_names() -> None:
    index = indexed(*TEXTS)
    scoped = RankedQuestion(
        "Who is the director of Blue Harbour?", index, frozenset({"d0", "d5", "d9"})
    )
    assert set(scoped.by_paths()) <= {0, 5, 9} and set(scoped.by_neighbourhood()) <= {0, 5, 9}
    nameless = RankedQuestion("Who is the director?", index)
    assert nameless.by_paths() == [] and nameless.by_neighbourhood() == []


def test_of_a_hub_a_bounded_part_is_ranked() -> None:
    index = indexed(
        "Blue Harbour is old.",
        *(f"Walk {n} led to Blue Harbour by night." for n in range(2 * MAX_NEAR)),
    )
    question = RankedQuestion("Who walked to Blue Harbour?", index)
    assert 0 in question.by_neighbourhood()[:5] and len(question.by_neighbourhood()) <= 300


def test_a_title_that_is_no_name_of_an_entity_is_found_by_what_passages_open_with() -> None:
    index = indexed(
        *TEXTS,
        "A Letter from Old Mill: it was written by Otto Brandt.",
        "A Letter from Port Elm: it was written by Ida Bell.",
        "Letters are long.",
    )
    for text in ("Who wrote A Letter from Port Elm?", "who wrote a letter from port elm?"):
        question = RankedQuestion(text, index)
        assert [(link.text.lower(), link.method) for link in question.links] == [
            ("letter from port elm", "title")
        ]
        assert question.by_paths()[:2] == [11, 3] and question.by_neighbourhood()[0] == 11
    assert [link.method for link in RankedQuestion("Who came from Blue Harbour?", index).links] == [
        "name"
    ]
    assert (
        RankedQuestion("Who wrote a Letter from Port Elm?", index, frozenset({"d1"})).by_paths()
        == []
    )


def test_words_that_many_passages_open_with_are_no_title() -> None:
    index = indexed(*(f"Long letter {number} of them." for number in range(20, 29)))
    assert RankedQuestion("who wrote a long letter?", index).links == []
    assert [link.text for link in RankedQuestion("who wrote long letter 23?", index).links] == [
        "long letter 23"
    ]
