"""Keywords and answers, with a language model and without one."""

from array import array
from collections import OrderedDict
from collections.abc import Sequence

from runtime.errors import Poison
from runtime.models.offline.answers import LONGEST, Candidate, best, compose, lexical_scores
from runtime.models.offline.keywords import keywords
from runtime.models.offline.quotable import quotable
from runtime.models.ports import Chat, Embedder, Message, Vector
from services.query.domain.passage import Passage
from services.query.domain.prompt import answer_prompt, keywords_prompt, parse_keywords
from services.query.domain.question import Keywords, Question

NO_MODEL = "(No language model is configured: these sentences are quoted from the documents as they stand.)"

SENTENCES = 5
CANDIDATES = 32
"""Sentences whose meaning is compared with the question's; each costs a few milliseconds."""


class ModelKeywords:
    """Asks the model; where it refuses, the names and words of the question stand in."""

    def __init__(self, chat: Chat, language: str) -> None:
        self._chat, self._language = chat, language

    async def of(self, question: str) -> Keywords:
        """One call."""
        try:
            completion = await self._chat.complete(
                [Message("user", keywords_prompt(question, self._language))], json=True
            )
        except Poison:
            return _offline(question)
        return parse_keywords(completion.text)


class OfflineKeywords:
    """Names and content words of the question."""

    async def of(self, question: str) -> Keywords:
        """Computed at once."""
        return _offline(question)


def _offline(question: str) -> Keywords:
    high, low = keywords(question)
    return Keywords(tuple(high), tuple(low))


class ModelAnswers:
    """Lets the model answer from the context."""

    uses_model = True

    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    async def answer(self, question: Question, context: str, passages: Sequence[tuple[str, Passage]]) -> str:
        """One call."""
        completion = await self._chat.complete(
            [
                Message(
                    "system",
                    answer_prompt(context, response_type=question.response_type, instructions=question.user_prompt),
                ),
                *(Message(turn.role, turn.content) for turn in question.history),
                Message("user", question.query),
            ]
        )
        return completion.text


class RememberedWords:
    """Embeds short texts that come again and again, each once while it is remembered."""

    def __init__(self, embedder: Embedder, most: int = 10_000) -> None:
        self._embedder, self._most = embedder, most
        self._known: OrderedDict[str, array[float]] = OrderedDict()

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per text, in order, in single precision. Raises what `Embedder.embed` raises."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        made = dict(zip(new, await self._embedder.embed(new), strict=True)) if new else {}
        found = {text: array("f", made[text]) if text in made else self._known[text] for text in texts}
        self._known |= found
        for text in found:
            self._known.move_to_end(text)
        while len(self._known) > self._most:
            self._known.popitem(last=False)
        return [tuple(found[text]) for text in texts]


class ExtractiveAnswers:
    """Quotes the sentences that fit best: half by the question's words they name, half by meaning."""

    uses_model = False

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def answer(self, question: Question, context: str, passages: Sequence[tuple[str, Passage]]) -> str:
        """Compares at most `CANDIDATES` sentences with the question."""
        candidates = [
            Candidate(sentence, rank, place, reference)
            for rank, (reference, passage) in enumerate(passages)
            for place, sentence in enumerate(quotable(passage.content))
            if 20 <= len(sentence) <= LONGEST
        ]
        lexical = lexical_scores(question.query, candidates)
        order = sorted(range(len(candidates)), key=lambda i: (-lexical[i], candidates[i].passage, i))[:CANDIDATES]
        if not order:
            return NO_MODEL
        shortlist = [candidates[i] for i in order]
        asked, *said = await self._embedder.embed([question.query, *(candidate.text for candidate in shortlist)])
        meaning = [sum(a * b for a, b in zip(asked, vector, strict=True)) for vector in said]
        scores = [lexical[i] + similar for i, similar in zip(order, meaning, strict=True)]
        return f"{compose(best(shortlist, scores, SENTENCES))}\n\n{NO_MODEL}"
