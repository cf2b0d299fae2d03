"""What passages say of entities, and which ways through them say what is asked."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from services.query.passage import Passage
from services.query.retrieval.linking import NameIndex, linked
from services.query.retrieval.multihop.bm25 import lexical
from services.query.retrieval.multihop.paths import Path, bridge, paths, telling
from services.query.retrieval.multihop.query_terms import Asked, stem
from services.query.retrieval.multihop.sentences import LED, NAMED, TITLED, sentences
from services.query.retrieval.multihop.subgraph import Map

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


def asked(question: str) -> Asked:
    return Asked.of(question, linked(question, index()))


def known(question: str) -> Map:
    built = Map()
    passages = {id: passage(id, text) for id, text in TEXTS.items()}
    built.read(passages, [s for p in passages.values() for s in sentences(p, index(), asked(question))])
    return built


def test_a_sentence_is_about_what_it_names_and_what_its_paragraph_begins_with() -> None:
    said = sentences(passage("x", TEXTS["film"]), index(), asked("who produced the film"))
    assert [dict(s.about) for s in said] == [
        {"Blue Harbour": LED},
        {"Blue Harbour": LED, "Lowell Pictures": NAMED},
        {"Blue Harbour": LED, "Ada Marsh": NAMED},
    ]
    assert [sorted(s.heard) for s in said] == [["film"], ["produc"], []]


def test_a_file_or_a_heading_called_like_an_entity_makes_all_of_the_passage_be_about_it() -> None:
    said = sentences(passage("x", "Nobody knows why.", file_path="Port_Elm.md"), index(), asked("why"))
    assert [dict(s.about) for s in said] == [{"Port Elm": TITLED}]
    headed = Passage("x", "x", 0, "It is old.", "notes.md", ("Towns", "Old Mill"))
    assert [dict(s.about) for s in sentences(headed, index(), asked("why"))] == [{"Old Mill": TITLED}]


def test_words_of_one_family_have_one_stem() -> None:
    assert len({stem(word) for word in ("founder", "founded", "founders", "founding")}) == 1
    assert len({stem(word) for word in ("director", "directed", "directs")}) == 1
    assert len({stem(word) for word in ("owner", "owned", "owns", "own")}) == 1
    assert stem("学") == "学"


def test_what_stands_next_to_a_name_is_asked_first() -> None:
    found = asked("Where was the founder of the studio born that produced Blue Harbour in colour?")
    assert found.beside["Blue Harbour"] == (("produc", "born", "studio", "found"), ("colour",))
    assert found.phrases == 4


def test_between_two_names_words_are_beside_both() -> None:
    found = asked("Was the founder of Lowell Pictures taught by Iris Bell alone?")
    assert found.beside["Lowell Pictures"] == (("found",), ("taught",))
    assert found.beside["Iris Bell"] == (("taught",), ("alon",))


def test_the_best_path_says_what_is_asked_in_order_and_ends_where_it_is_answered() -> None:
    question = "Where was the founder of the studio born that produced Blue Harbour?"
    best = paths(known(question), asked(question), ["Blue Harbour"])[0]
    assert best.names == ("Blue Harbour", "Lowell Pictures", "Otto Brandt", "Port Elm")
    assert best.chunks == ("film", "studio", "person") and best.telling


def test_a_step_goes_back_where_the_passage_is_about_what_is_asked_for() -> None:
    question = "Who wrote the music of the film that Lowell Pictures produced?"
    best = paths(known(question), asked(question), ["Lowell Pictures"])[0]
    assert best.names == ("Lowell Pictures", "Blue Harbour", "Ada Marsh") and best.chunks == ("film",)


def test_the_passages_of_paths_come_in_turn_for_each_link() -> None:
    question = "Was the founder of Lowell Pictures born where Iris Bell was born?"
    around = known(question)
    found = paths(around, asked(question), ["Lowell Pictures", "Iris Bell"])
    order = bridge(found, around, [{"Lowell Pictures"}, {"Iris Bell"}])
    assert set(order[:3]) == {"studio", "person", "other"}


def test_without_words_or_passages_there_are_no_paths() -> None:
    assert paths(Map(), asked("who founded it"), ["Blue Harbour"]) == []
    assert paths(known("Blue Harbour?"), asked("Blue Harbour?"), ["Blue Harbour"]) == []


def test_passages_that_share_rare_words_come_first() -> None:
    passages = {id: passage(id, text) for id, text in TEXTS.items()}
    assert lexical("who wrote the music", passages)[0] == "film"
    assert lexical("xyzzy", passages) == [] and lexical("music", {}) == []


@given(st.text(max_size=200), st.text(max_size=60))
def test_any_passage_is_read_without_failing(text: str, question: str) -> None:
    for sentence in sentences(passage("x", text), index(), asked(question)):
        assert sentence.about and sentence.heard <= asked(question).stems


def way(value: float, *chunks: str, start: str = "start", tells: bool = True, hoped: float = 0.0) -> Path:
    return Path((start, *chunks), chunks, np.zeros(1), value, value + hoped, telling=tells)


def test_of_ways_that_come_to_the_words_differently_the_best_counts_and_of_those_that_tell_nothing_none() -> None:
    best, other = way(-1.0, "a"), way(-2.0, "b")
    assert telling([best, way(-1.5, "a"), way(-1.7, "c", tells=False), other]) == [best, other]


def test_ways_that_agree_outweigh_a_better_one_that_goes_elsewhere() -> None:
    ways = [way(-1.0, "alone"), way(-1.2, "first", "left"), way(-1.3, "first", "right")]
    assert bridge(ways, Map(), [{"start"}]) == ["first", "alone", "left", "right"]


def test_a_way_that_came_to_all_words_is_likelier_than_one_with_words_left() -> None:
    assert bridge([way(-1.0, "open", hoped=3.0), way(-2.0, "whole")], Map(), [{"start"}]) == ["whole", "open"]


def test_for_two_names_their_passages_come_in_turn_however_likely() -> None:
    ways = [way(-1.0, "a", "b"), way(-9.0, "c", "d", start="other")]
    assert bridge(ways, Map(), [{"start"}, {"other"}]) == ["a", "c", "b", "d"]
