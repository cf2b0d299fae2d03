"""How sentences are compared with a question by their meaning, and how much that counts beside
their words.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol

import numpy as np

from offline.language.languages import CHINESE, ENGLISH, GERMAN, JAPANESE
from offline.reading.excerpt import Excerpt

MULTILINGUAL = frozenset(
    """
    arabic chinese dutch french german italian japanese polish portuguese russian spanish turkish
    """.split()  # noqa: SIM905
)
"""Languages, but for English, that the multilingual encoder knows and questions are told to be in.
"""

TAUGHT = frozenset((ENGLISH, GERMAN, "french", "spanish", "russian", CHINESE))
"""Languages that the reader was taught in."""

READER = 0.4
"""What a judgement of the reader counts for, in least scores of an answer."""

LEAST_READ = {ENGLISH: 1.5}
OTHER_LEAST_READ = 1.4
"""Least score of an answer that was read, in least scores of one that was not. They are chosen with
documents that the reader did not learn from.
"""

UNRELATED = {
    ENGLISH: ("The weather is pleasant today.", "He put the box on the table."),
    GERMAN: ("Das Wetter ist heute angenehm.", "Er stellte die Kiste auf den Tisch."),
    "russian": ("Сегодня приятная погода.", "Он поставил коробку на стол."),
    "french": ("Il fait beau aujourd'hui.", "Il a posé la boîte sur la table."),
    "spanish": ("Hoy hace buen tiempo.", "Puso la caja sobre la mesa."),
    "italian": ("Oggi il tempo è bello.", "Mise la scatola sul tavolo."),
    "portuguese": ("Hoje o tempo está bom.", "Ele pôs a caixa em cima da mesa."),
    "dutch": ("Het is vandaag mooi weer.", "Hij zette de doos op de tafel."),
    CHINESE: ("今天天气很好。", "他把箱子放在桌子上。"),
    JAPANESE: ("今日は天気がいいです。", "彼は箱を机の上に置いた。"),
}
"""Sentences whose similarity to a question in that language is what the embedding model gives to
texts that have nothing in common.
"""


class Embeds(Protocol):
    """The part of an `Embedder` that embeds."""

    async def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """One vector per text, in order."""
        ...


class Reads(Protocol):
    """A model that reads a question and a sentence together."""

    async def judgements(
        self, question: str, excerpts: Sequence[Excerpt], language: str = ""
    ) -> list[float]:
        """For each excerpt the logarithm of the odds that it answers the question, which is in
        this language, or in an unknown one.
        """
        ...


@dataclass(frozen=True)
class Scoring:
    """How much words and meaning count in the score of a sentence, and how many sentences are
    compared by their meaning.
    """

    words: float
    meaning: float
    power: int
    """Of the similarity: squared, a small one says nothing and a great one more."""
    least_score: float
    """Score below which no sentence answers."""
    candidates: int = 20
    """Most sentences that are embedded for one answer, below what heads them."""
    finalists: int = 8
    """Most of them that are compared in all their readings."""

    def score(self, words: float, similarity: float) -> float:
        """Return the part of the score that words and meaning make."""
        return self.words * words + self.meaning * max(0.0, similarity) ** self.power


IN_ENGLISH = Scoring(0.8, 2.0, 2, 1.0, candidates=48, finalists=12)
BY_WORDS = Scoring(1.0, 0.3, 1, 0.56)
"""For other languages by an embedder that knows English alone, as that of the embedded stack."""
BY_MULTILINGUAL = Scoring(0.8, 1.0, 1, 0.65, candidates=48, finalists=12)
"""By the multilingual encoder. All are chosen with `benchmarks/answers.py` and
`benchmarks/answers_kinds.py`.
"""


@dataclass(frozen=True)
class Models:
    """What embeds questions and sentences, and what reads them together."""

    main: Embeds
    multilingual: Embeds | None = None
    """For the languages of `MULTILINGUAL`; `main` has them too where it is None."""
    reader: Reads | None = None

    @property
    def can_cross(self) -> bool:
        """Whether a question and sentences in another language can be compared and read."""
        return self.multilingual is not None and self.reader is not None

    def scoring(self, language: str) -> Scoring:
        """Return how sentences are scored for a question in a language."""
        if language == ENGLISH:
            return IN_ENGLISH
        return BY_MULTILINGUAL if self._knows(language) else BY_WORDS

    def least_score(self, language: str) -> float:
        """Return the score below which no sentence answers a question in a language."""
        least_score = self.scoring(language).least_score
        if not self.reading(language):
            return least_score
        return LEAST_READ.get(language, OTHER_LEAST_READ) * least_score

    def reading(self, language: str) -> Reads | None:
        """Return what reads a question in a language, if anything does."""
        return self.reader if language in TAUGHT else None

    def comparison(self, question: str, language: str) -> "Comparison":
        """Return what compares a question in a language with sentences."""
        known = self.multilingual if self._knows(language) else None
        return Comparison(question, language, known or self.main)

    def _knows(self, language: str) -> bool:
        return self.multilingual is not None and language in MULTILINGUAL


class Comparison:
    """Compares a question with sentences by their embeddings, each text once."""

    def __init__(self, question: str, language: str, embedder: Embeds) -> None:
        self._question = question
        self._unrelated = UNRELATED.get(language, UNRELATED[ENGLISH])
        self._embedder = embedder
        self._cosines: dict[str, float] = {}
        self._vector: Any = None

    async def similarities(self, readings: Sequence[Sequence[str]]) -> list[float]:
        """Return for each sentence the mean cosine of the question to those two of its readings
        that are most similar.

        One alone would decide by chance, and all would let a heading that says nothing count
        against a sentence. Cosines are scaled so that unrelated texts have 0 with every model.
        """
        await self._embed([*self._unrelated, *chain.from_iterable(readings)])
        base_similarity = max(0.0, sum(self._cosines[text] for text in self._unrelated) / 2)
        best_cosines = [
            sorted(self._cosines[text] for text in reading)[-2:] for reading in readings
        ]
        means = [sum(cosines) / len(cosines) for cosines in best_cosines]
        return [(cosine - base_similarity) / (1 - base_similarity or 1.0) for cosine in means]

    async def _embed(self, texts: Sequence[str]) -> None:
        new_texts = [text for text in dict.fromkeys(texts) if text not in self._cosines]
        unembedded_questions = [] if self._vector is not None else [self._question]
        vectors = await self._embedder.embed([*unembedded_questions, *new_texts])
        if unembedded_questions:
            self._vector = np.array(vectors[0])
        if new_texts:
            cosines = np.array(vectors[len(unembedded_questions) :]) @ self._vector
            self._cosines.update(zip(new_texts, cosines.tolist(), strict=True))
