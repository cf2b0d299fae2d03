"""How telling a name is: learnt from the passages that have its words."""

import numpy as np

from offline.language.normal_forms import words
from offline.language.stems import stem
from services.query.retrieval.arrays import Booleans
from services.query.retrieval.linking import Link
from services.query.retrieval.passage_index.index import PassageIndex


def naming_share(index: PassageIndex, link: Link) -> float:
    """Return in which share of the passages that have the words of a link these are a name there,
    or open it where the link is a title; 1 where no passage has them.

    "RSA" is a name wherever it stands; "prime numbers" are in every passage on them, and a name in
    few.
    """
    passages = np.ones(len(index), bool)
    for word in words(link.text):
        if not word.is_stopword:
            passages &= _has_stem(index, stem(word.form))
    occurrences = int(passages.sum())
    if not occurrences:
        return 1.0
    naming = len(link.passages) + sum(
        float(index.passage_counts[index.entities[name]])
        for name in link.names
        if name in index.entities
    )
    return min(1.0, naming / occurrences)


def _has_stem(index: PassageIndex, form: str) -> Booleans:
    """Return (passages,): whether each has a word of this stem."""
    has_stem = np.zeros(len(index), bool)
    number = index.words.numbers.get(form)
    if number is not None:
        has_stem[index.words.passages.of(number)] = True
    return has_stem
