"""Sentences in another language than the question: the nearest by their meaning, judged by the
reader.

The score of a sentence is the reader's judgement, the logarithm of the odds, plus the similarity of
meaning and an amount for the rank of its passage. Words do not count: two languages share too few.
All figures are chosen with `benchmarks/answers_languages.py`.
"""

from collections.abc import Sequence
from operator import itemgetter

from offline.answers.comparison import TAUGHT, Comparison, Models
from offline.answers.quotation import Candidate
from offline.language.languages import is_foreign, language_of

PASSAGES = 3
"""Passages, the first ones, whose sentences are compared."""

READ = 6
"""Most sentences that are read for one question."""

MEANING = 10.0
"""What a similarity of 1 counts beside a judgement."""

BEST_PASSAGE = 3.0
"""What sentences of the first passage get; those of the second get half, of the third a third."""

LEAST_SCORE = 7.5
"""Score below which no sentence answers; it is the same for all pairs of languages."""

LEAST_NEAR = 6.0
"""Score from which a sentence is near enough to be shown in a refusal."""


def is_in_another_language(text: str, language: str) -> bool:
    """Return whether a text is in another language than this one, and the reader knows both."""
    return language in TAUGHT and is_foreign(text, language) and language_of(text) in TAUGHT


async def crossed_candidates(
    question: str, sentences: Sequence[Candidate], models: Models, language: str
) -> list[tuple[float, Candidate]]:
    """Return the sentences that were read with their scores, best first; none without a reader or
    an encoder that knows both languages.
    """
    if models.reader is None or models.multilingual is None or not sentences:
        return []
    comparison = Comparison(question, language, models.multilingual)
    similarities = await comparison.similarities([[sentence.below] for sentence in sentences])
    by_meaning = zip(similarities, sentences, strict=True)
    nearest = sorted(by_meaning, key=itemgetter(0), reverse=True)[:READ]
    judgements = await models.reader.judgements(question, [near.excerpt for _, near in nearest])
    scores = [
        (judgement + MEANING * similarity + BEST_PASSAGE / (1 + sentence.passage), sentence)
        for judgement, (similarity, sentence) in zip(judgements, nearest, strict=True)
    ]
    return sorted(scores, key=itemgetter(0), reverse=True)
