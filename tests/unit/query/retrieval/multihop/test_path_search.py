"""Paths over an index of passages: what they are worth, which way they lead, and that they keep to
a scope.
"""

import numpy as np

from services.query.passage import Passage
from services.query.retrieval.linking import link_entities
from services.query.retrieval.multihop.evidence import gather_evidence
from services.query.retrieval.multihop.path_search import BEAM_WIDTH, MAX_STEPS, Path, search_paths
from services.query.retrieval.multihop.query_terms import QueryTerms
from services.query.retrieval.multihop.starts import starts, sure_links
from services.query.retrieval.name_index import NameIndex
from services.query.retrieval.passage_index.builder import IndexBuilder
from services.query.retrieval.passage_index.edges import BACK, ONWARD
from services.query.retrieval.passage_index.index import PassageIndex
from services.query.retrieval.passage_index.passage_words import words_of

TEXTS = (
    "Blue Harbour is a film. It was produced by Lowell Pictures.",
    "Lowell Pictures is a studio. It was founded by Otto Brandt. It was sold to Ida Bell.",
    "Otto Brandt was born in Port Elm.",
    "Ida Bell collects stamps.",
)
NAMES = ("Blue Harbour", "Lowell Pictures", "Otto Brandt", "Ida Bell", "Port Elm", "Film")


def names() -> NameIndex:
    index = NameIndex()
    index.add((name, "thing") for name in NAMES)
    return index


def indexed(*texts: str) -> PassageIndex:
    passages = [
        Passage(str(number), f"d{number}", 0, text, "a.txt") for number, text in enumerate(texts)
    ]
    return IndexBuilder(names()).add(map(words_of, passages)).build()


def paths(
    index: PassageIndex, question: str, documents: frozenset[str] | None = None
) -> list[Path]:
    links = sure_links(index, link_entities(question, names()))
    allowed = index.allowed(documents)
    evidence = gather_evidence(index, QueryTerms.of(question, links), {}, allowed)
    return search_paths(index, evidence, starts(index, evidence, links, {}, allowed))


def test_edges_lead_onward_to_what_defines_an_entity_and_back() -> None:
    index = indexed(*TEXTS)
    kinds: dict[tuple[int, int], int] = {}
    for passage in range(len(index)):
        edges = index.edges.of(passage)
        targets = index.passage_of[index.edges.mentions[edges]]
        for target, kind in zip(targets, index.edges.kinds[edges], strict=True):
            kinds[passage, int(target)] = int(kind)
    assert kinds == {
        (0, 1): ONWARD,
        (1, 0): BACK,
        (1, 2): ONWARD,
        (2, 1): BACK,
        (1, 3): ONWARD,
        (3, 1): BACK,
    }


def test_the_best_path_of_two_steps_goes_by_the_sentences_that_say_what_is_asked() -> None:
    result = paths(
        indexed(*TEXTS), "Where was the founder of the studio born that produced Blue Harbour?"
    )
    longer = [path.passages for path in result if len(path.passages) == 3]
    assert longer[0] == (0, 1, 2) and (0, 1, 3) in longer


def test_a_path_keeps_to_the_documents_of_a_scope() -> None:
    result = paths(indexed(*TEXTS), "Who founded Lowell Pictures?", frozenset({"d1", "d3"}))
    assert {passage for path in result for passage in path.passages} == {1, 3}


def test_a_word_in_lower_case_is_a_name_only_where_it_mostly_is_one() -> None:
    index = indexed(
        "A film about a film.", "This film is long.", "Film is a pub.", "Blue Harbour is a film."
    )
    links = link_entities("which film is blue harbour", names())
    assert [link.text for link in sure_links(index, links)] == ["blue harbour"]
    assert "film" in QueryTerms.of("which film is blue harbour", sure_links(index, links)).stems


def test_a_hub_has_edges_in_proportion_to_its_mentions_and_the_beam_is_bounded() -> None:
    index = indexed(
        "Blue Harbour is old.", *(f"Walk {n} led to Blue Harbour by night." for n in range(500))
    )
    assert len(index.edges.mentions) <= 2 * 4 * 5 * len(index)
    result = paths(index, "Which walk led to Blue Harbour?")
    assert len(result) <= 20 + MAX_STEPS * BEAM_WIDTH


def test_nothing_leads_nowhere() -> None:
    assert paths(indexed(), "Who founded Lowell Pictures?") == []
    assert np.array_equal(indexed(*TEXTS).allowed(frozenset({"none"})), np.zeros(4))
