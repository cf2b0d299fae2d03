"""Which rankings of a walk count more, and how a passage counts by the paths that it is on."""

from collections.abc import Mapping

import numpy as np
import pytest

from services.query.passage import Passage
from services.query.retrieval.linking import link_entities
from services.query.retrieval.multihop.evidence import gather_evidence
from services.query.retrieval.multihop.name_paths import name_paths
from services.query.retrieval.multihop.path_search import Path, passage_values
from services.query.retrieval.multihop.query_terms import QueryTerms
from services.query.retrieval.multihop.ranking_weights import (
    LIKENESS_WEIGHT,
    NAMES_LEAD,
    UNSURE_LIKENESS_WEIGHT,
    WEIGHTS,
    ranking_weights,
)
from services.query.retrieval.name_index import NameIndex
from services.query.retrieval.passage_index.builder import IndexBuilder
from services.query.retrieval.passage_index.passage_words import words_of

FILM = "Blue Harbour is a film. It was directed by Otto Brandt, with Ida Bell and Ada Marsh."
ARTICLES = ("Otto Brandt was a painter.", "Ida Bell was a singer.", "Ada Marsh was a tailor.")


def weights(question: str, *texts: str) -> Mapping[str, float]:
    names = NameIndex()
    names.add((name, "thing") for name in ("Blue Harbour", "Otto Brandt", "Ida Bell", "Ada Marsh"))
    passages = [
        Passage(str(number), f"d{number}", 0, text, "a.txt") for number, text in enumerate(texts)
    ]
    index = IndexBuilder(names).add(map(words_of, passages)).build()
    links = link_entities(question, names)
    allowed = index.allowed(None)
    evidence = gather_evidence(index, QueryTerms.of(question, links), {}, allowed)
    return ranking_weights(index, links, name_paths(index, evidence, links, {}, allowed))


def likeness(weight: float) -> dict[str, float]:
    return {"words": weight, "vectors": weight}


@pytest.mark.parametrize(
    ("articles", "expected"), [(3, NAMES_LEAD), (2, NAMES_LEAD), (1, WEIGHTS), (0, WEIGHTS)]
)
def test_names_lead_where_most_of_what_a_passage_mentions_has_a_passage(
    articles: int, expected: dict[str, float]
) -> None:
    result = weights("Who directed Blue Harbour?", FILM, *ARTICLES[:articles])
    assert result == expected | likeness(LIKENESS_WEIGHT)


def test_without_a_name_or_anything_mentioned_no_name_leads() -> None:
    assert weights("Who directed it?", FILM, *ARTICLES) == WEIGHTS | likeness(
        UNSURE_LIKENESS_WEIGHT
    )
    assert weights("When was Ida Bell born?", FILM, *ARTICLES) == WEIGHTS | likeness(
        LIKENESS_WEIGHT
    )


@pytest.mark.parametrize(
    ("phrases", "expected"), [(3, LIKENESS_WEIGHT), (4, UNSURE_LIKENESS_WEIGHT)]
)
def test_likeness_counts_more_where_the_words_of_a_name_are_seldom_one(
    phrases: int, expected: float
) -> None:
    others = ["We saw a blue harbour from the road."] * phrases
    assert weights("Who directed Blue Harbour?", FILM, *others)["words"] == expected


def test_paths_that_agree_on_a_passage_outweigh_a_better_one_that_goes_elsewhere() -> None:
    def path(value: float, *passages: int) -> Path:
        return Path(value, passages, tuple(-1 for _ in passages), np.zeros(1), 0.0)

    values = passage_values([path(0.5, 0, 1), path(0.48, 0, 2, 3), path(0.48, 0, 2, 4)])
    assert values[0] > values[2] > values[1] > values[3] == values[4]
    assert values[1] == pytest.approx(0.5) and passage_values([]) == {}
