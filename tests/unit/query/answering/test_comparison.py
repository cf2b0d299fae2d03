"""Two generations are compared in the mode that a question without one has."""

from contracts.graph import Generations
from services.query.answering.comparison import compare_answers
from tests.support.querying import library_of_two

LIVE = Generations()
WITHOUT_GRAPH = Generations(graph=7)
"""Passages are found there, entities are not."""


async def test_either_side_answers_in_the_mode_that_is_given() -> None:
    deps = (await library_of_two()).deps()
    sides = ("Who discovered radium?", "w", LIVE, WITHOUT_GRAPH)
    by_passages = await compare_answers(deps, *sides, mode="naive")
    assert by_passages.same
    assert "Marie Curie discovered radium" in by_passages.new
    by_entities = await compare_answers(deps, *sides, mode="local")
    assert not by_entities.same
    assert "Marie Curie discovered radium" in by_entities.live
    assert "Marie Curie discovered radium" not in by_entities.new
