"""The words of a question that are no entity names."""

from collections.abc import Sequence
from dataclasses import dataclass

from services.query.retrieval.linking import Link
from services.query.retrieval.passage_index.stemming import stem
from services.query.retrieval.words import words

MAX_TERMS = 32
"""Terms of a question that a walk looks for, the first ones."""


@dataclass(frozen=True)
class QueryTerms:
    """The terms of a question: its words that are neither stopwords nor part of a linked name, each
    stem once.
    """

    stems: Sequence[str]
    all_stems: Sequence[str]
    """Those of names too."""

    @classmethod
    def of(cls, question: str, links: Sequence[Link]) -> "QueryTerms":
        """Return the terms of a question with these links."""
        told = [word for word in words(question) if not word.is_stopword]
        every = dict.fromkeys(stem(word.form) for word in told)
        asks = [
            word for word in told if not any(link.start <= word.start < link.end for link in links)
        ]
        stems = dict.fromkeys(stem(word.form) for word in asks)
        return cls(list(stems)[:MAX_TERMS], list(every)[: 2 * MAX_TERMS])
