"""The words of a question that are no entity names."""

from collections.abc import Sequence
from dataclasses import dataclass

from offline.language.normal_forms import Word, words
from offline.language.stems import stem
from services.query.retrieval.linking import Link
from services.query.retrieval.multihop.similar_words import similar_words

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
        content_words = [word for word in words(question) if not word.is_stopword]
        outside_names = [word for word in content_words if not _is_in_name(word, links)]
        stems = dict.fromkeys(stem(word.form) for word in outside_names)
        all_stems = dict.fromkeys(stem(word.form) for word in content_words)
        return cls(list(stems)[:MAX_TERMS], list(all_stems)[: 2 * MAX_TERMS])


def question_vocabulary(question: str) -> set[str]:
    """Return the stems that a walk may look for in passages: those of the question, and of words of
    about the same meaning.
    """
    stems = {stem(word.form) for word in words(question)}
    similar = {similar_form for form in stems for similar_form in similar_words(form)}
    return stems | similar


def _is_in_name(word: Word, links: Sequence[Link]) -> bool:
    return any(link.start <= word.start < link.end for link in links)
