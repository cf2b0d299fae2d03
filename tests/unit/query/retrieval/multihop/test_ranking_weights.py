"""Which rankings of a walk count more, and how a passage counts by the paths that it is on."""

import numpy as np
import pytest

from services.query.passage import Passage
from services.query.retrieval.linking import link_entities
from services.query.retrieval.multihop.evidence import gather_evidence
from services.query.retrieval.multihop.name_paths import name_paths
from services.query.retrieval.multihop.path_search import Path, passage_values
from services.query.retrieval.multihop.query_terms import QueryTerms
from services.query.retrieval.multihop.ranking_weights import NAMES_LEAD, WEIGHTS, ranking_weights
from services.query.retrieval.name_index import NameIndex
from services.query.retrieval.passage_index.builder import IndexBuilder
from services.query.retrieval.passage_index.passage_words import words_of

FILM = "Blue Harbour is a film. It was directed by Otto Brandt, with Ida Bell and Ada Marsh."
ARTICLES = ("Otto Brandt was a painter.", "Ida Bell was a singer.", "Ada Marsh was a tailor.")


def weights(question: str, *texts: str) -> object:
    names = NameIndex()
    names.add((name, "thing") for name in ("Blue Harbour", "Otto Brandt", "Ida Bell", "Ada Marsh"))
    passages = [
        Passage(str(number), f"d{number}", 0, text, "a.txt") for number, text in enumerate(texts)
    ]
    index = IndexBuilder(names).add(map(words_of, passages)).build()
    links = link_entities(question, names)
    allowed = index.allowed(None)
    evidence = gather_evidence(index, QueryTerms.of(question, links), {}, allowed)
    return ranking_weights(index, name_paths(index, evidence, links, {}, allowed))


@pytest.mark.parametrize(
    ("articles", "expected"), [(3, NAMES_LEAD), (2, NAMES_LEAD), (1, WEIGHTS), (0, WEIGHTS)]
)
def test_names_lead_where_most_of_what_a_passage_mentions_has_a_passage(
    articles: int, expected: object
) -> None:
    assert weights("Who directed Blue Harbour?", FILM, *ARTICLES[:articles]) is expected


def test_without_a_name_or_anything_mentioned_no_name_leads() -> None:
    assert weights("Who directed it?", FILM, *ARTICLES) is WEIGHTS
    assert weights("When was Ida Bell born?", FILM, *ARTICLES) is WEIGHTS


def test_paths_that_agree_on_a_passage_outweigh_a_better_one_that_goes_elsewhere() -> None:
    def path(value: float, *passages: int) -> Path:
        return Path(value, passages, tuple(-1 for _ in passages), np.zeros(1), 0.0)

    values = passage_values([path(0.5, 0, 1), path(0.48, 0, 2, 3), path(0.48, 0, 2, 4)])
    assert values[0] > values[2] > values[1] > values[3] == values[4]
    assert values[1] == pytest.approx(0.5) and passage_values([]) == {}
