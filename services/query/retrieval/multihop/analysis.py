"""What the mode `walk` reads out of passages, cached: the same passages are read for many questions."""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from runtime.text.analysis_cache import cached_by_characters
from services.query.passage import Passage
from services.query.retrieval.linking import MAX_TEXT, NameIndex, words
from services.query.retrieval.multihop.bm25 import TermCounts
from services.query.retrieval.multihop.query_terms import stem
from services.query.retrieval.multihop.sentences import Sentence, sentences_about_entities

Array = Any

MAX_CACHED = 4_000_000
"""Characters of all cached passages together; an analysis takes about ten bytes for each of them."""


@dataclass(frozen=True, slots=True)
class PassageAnalysis:
    """A passage as a walk reads it; it depends on the names that the workspace has, and on no question."""

    sentences: Sequence[Sentence]
    counts: TermCounts
    names: Sequence[str]
    """The entities that the sentences are about, sentence by sentence."""
    names_per_sentence: Array
    weights: Array
    """For each of `names`, how much its sentence is about it."""
    characters: int


def _characters(analysis: PassageAnalysis) -> int:
    return analysis.characters


def _key(passage: Passage, index: NameIndex) -> Hashable:
    # Ids are unique in one workspace only, and so is an index.
    return index.number, passage.id, passage.version, hash(passage.content)


@cached_by_characters(MAX_CACHED, key=_key, characters=_characters)
def analysed(passage: Passage, index: NameIndex) -> PassageAnalysis:
    """Return the sentences of the passage that are about entities of the index, and how often each stem occurs."""
    tokens = words(passage.content)
    counts = Counter(stem(word.form) for word in tokens if not word.is_stopword)
    sentences = sentences_about_entities(passage, tokens, index)
    return PassageAnalysis(
        sentences,
        TermCounts(dict(counts), len(tokens)),
        tuple(name for one in sentences for name in one.entity_weights),
        np.array([len(one.entity_weights) for one in sentences], np.int64),
        np.array([weight for one in sentences for weight in one.entity_weights.values()], np.float64),
        1 + min(MAX_TEXT, len(passage.content)),
    )
