"""What passages say of entities, and which ways through them say what is asked."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.query.passage import Passage
from services.query.retrieval.linking import NameIndex, link_entities
from services.query.retrieval.multihop.analysis import analysed
from services.query.retrieval.multihop.bm25 import bm25_ranking
from services.query.retrieval.multihop.paths import Path, informative_paths, rank_chunks, search_paths
from services.query.retrieval.multihop.query_terms import QueryTerms, stem
from services.query.retrieval.multihop.sentences import IN_TITLE, LEADING, MENTIONED
from services.query.retrieval.multihop.similar_words import SimilarWords, similar_words
from services.query.retrieval.multihop.subgraph import Subgraph

NAMES = ("Blue Harbour", "Lowell Pictures", "Otto Brandt", "Port Elm", "Ada Marsh", "Iris Bell", "Old Mill")
TEXTS = {
    "film": "Blue Harbour is a film. It was produced by Lowell Pictures. Ada Marsh wrote the music.",
    "studio": "Lowell Pictures was founded by Otto Brandt.\n\nIts press is directed by Iris Bell.",
    "person": "Otto Brandt was born in Port Elm. He married Iris Bell.",
    "other": "Iris Bell was born in Old Mill.",
}


def index() -> NameIndex:
    built = NameIndex()
    built.add((name, "other") for name in NAMES)
    return built


def passage(id: str, content: str, **fields: str) -> Passage:
    return Passage(id, id, 0, content, fields.get("file_path", f"{id}.txt"))


def asked(question: str) -> QueryTerms:
    return QueryTerms.of(question, link_entities(question, index()))


def known(question: str) -> Subgraph:
    built, names = Subgraph(asked(question)), index()
    passages = {id: passage(id, text) for id, text in TEXTS.items()}
    built.add_passages(passages, [analysed(p, names) for p in passages.values()], SimilarWords())
    return built


def test_a_sentence_is_about_what_it_names_and_what_its_paragraph_begins_with() -> None:
    said = analysed(passage("x", TEXTS["film"]), index()).sentences
    assert [dict(s.entity_weights) for s in said] == [
        {"Blue Harbour": LEADING},
        {"Blue Harbour": LEADING, "Lowell Pictures": MENTIONED},
        {"Blue Harbour": LEADING, "Ada Marsh": MENTIONED},
    ]
    assert [sorted(s.stems) for s in said] == [["film"], ["produc"], ["music", "wrot"]]


def test_a_file_or_a_heading_called_like_an_entity_makes_all_of_the_passage_be_about_it() -> None:
    said = analysed(passage("x", "Nobody knows why.", file_path="Port_Elm.md"), index()).sentences
    assert [dict(s.entity_weights) for s in said] == [{"Port Elm": IN_TITLE}]
    headed = Passage("x", "x", 0, "It is old.", "notes.md", ("Towns", "Old Mill"))
    assert [dict(s.entity_weights) for s in analysed(headed, index()).sentences] == [{"Old Mill": IN_TITLE}]


def test_words_of_one_family_have_one_stem() -> None:
    assert len({stem(word) for word in ("founder", "founded", "founders", "founding")}) == 1
    assert len({stem(word) for word in ("director", "directed", "directs")}) == 1
    assert len({stem(word) for word in ("owner", "owned", "owns", "own")}) == 1
    assert stem("学") == "学"


def test_what_stands_next_to_a_name_is_asked_first() -> None:
    found = asked("Where was the founder of the studio born that produced Blue Harbour in colour?")
    assert found.context_terms["Blue Harbour"] == (("produc", "born", "studio", "found"), ("colour",))
    assert found.phrase_count == 4


def test_between_two_names_words_are_beside_both() -> None:
    found = asked("Was the founder of Lowell Pictures taught by Iris Bell alone?")
    assert found.context_terms["Lowell Pictures"] == (("found",), ("taught",))
    assert found.context_terms["Iris Bell"] == (("taught",), ("alon",))


def test_the_best_path_says_what_is_asked_in_order_and_ends_where_it_is_answered() -> None:
    question = "Where was the founder of the studio born that produced Blue Harbour?"
    best = search_paths(known(question), ["Blue Harbour"])[0]
    assert best.entities == ("Blue Harbour", "Lowell Pictures", "Otto Brandt", "Port Elm")
    assert best.chunk_ids == ("film", "studio", "person") and best.informative


def test_a_step_goes_back_where_the_passage_is_about_what_is_asked_for() -> None:
    question = "Who wrote the music of the film that Lowell Pictures produced?"
    best = search_paths(known(question), ["Lowell Pictures"])[0]
    assert best.entities == ("Lowell Pictures", "Blue Harbour", "Ada Marsh") and best.chunk_ids == ("film",)


def test_the_passages_of_paths_come_in_turn_for_each_link() -> None:
    question = "Was the founder of Lowell Pictures born where Iris Bell was born?"
    around = known(question)
    found = search_paths(around, ["Lowell Pictures", "Iris Bell"])
    order = rank_chunks(found, around, [{"Lowell Pictures"}, {"Iris Bell"}])
    assert set(order[:3]) == {"studio", "person", "other"}


def test_without_words_or_passages_there_are_no_paths() -> None:
    assert search_paths(Subgraph(asked("who founded it")), ["Blue Harbour"]) == []
    assert search_paths(known("Blue Harbour?"), ["Blue Harbour"]) == []


def test_passages_that_share_rare_words_come_first() -> None:
    names = index()
    passages = {id: analysed(passage(id, text), names).counts for id, text in TEXTS.items()}
    assert bm25_ranking("who wrote the music", passages)[0] == "film"
    assert bm25_ranking("xyzzy", passages) == [] and bm25_ranking("music", {}) == []


@given(st.text(max_size=200))
def test_any_passage_is_read_without_failing(text: str) -> None:
    for sentence in analysed(passage("x", text), index()).sentences:
        assert sentence.entity_weights and sentence.words


def test_a_passage_is_read_once_for_many_questions_and_again_when_names_or_text_change() -> None:
    names, film = index(), passage("film", TEXTS["film"])
    read = analysed(film, names)
    assert analysed(film, names) is read
    assert analysed(passage("film", TEXTS["studio"]), names) is not read and analysed(film, index()) is not read


def test_a_word_that_is_similar_to_a_term_covers_a_part_of_it() -> None:
    question, film = "Who released Blue Harbour?", passage("film", TEXTS["film"])
    vectors = {"produced": np.array([0.6, 0.8]), "film": np.array([0.0, 1.0])}
    built = Subgraph(asked(question))
    built.add_passages({"film": film}, [analysed(film, index())], similar_words(vectors, np.array([[1.0, 0.0]])))
    assert built.stems == ["releas"]
    assert built.coverage[:, 0].tolist() == pytest.approx([0.0, 0.9 * (5 / 6) ** 2, 0.0])


def way(value: float, *chunks: str, start: str = "start", tells: bool = True, hoped: float = 0.0) -> Path:
    return Path((start, *chunks), chunks, np.zeros(1), value, value + hoped, informative=tells)


def test_of_ways_that_come_to_the_words_differently_the_best_counts_and_of_those_that_tell_nothing_none() -> None:
    best, other = way(-1.0, "a"), way(-2.0, "b")
    assert informative_paths([best, way(-1.5, "a"), way(-1.7, "c", tells=False), other]) == [best, other]


def test_ways_that_agree_outweigh_a_better_one_that_goes_elsewhere() -> None:
    ways = [way(-1.0, "alone"), way(-1.2, "first", "left"), way(-1.3, "first", "right")]
    assert rank_chunks(ways, Subgraph(asked("")), [{"start"}]) == ["first", "alone", "left", "right"]


def test_a_way_that_came_to_all_words_is_likelier_than_one_with_words_left() -> None:
    assert rank_chunks([way(-1.0, "open", hoped=3.0), way(-2.0, "whole")], Subgraph(asked("")), [{"start"}]) == [
        "whole",
        "open",
    ]


def test_for_two_names_their_passages_come_in_turn_however_likely() -> None:
    ways = [way(-1.0, "a", "b"), way(-9.0, "c", "d", start="other")]
    assert rank_chunks(ways, Subgraph(asked("")), [{"start"}, {"other"}]) == ["a", "c", "b", "d"]
