"""Keywords and answers without a language model: the rules of `offline/answers` behind the ports of
questions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from offline.answers.comparison import Embeds, Reads
from offline.answers.extractive_answer import SourcePassage, extractive_answer
from offline.answers.keywords import keywords
from runtime.models.port import Completion
from services.query.context.prompt import Prompt
from services.query.passage import Passage
from services.query.question import Keywords


class OfflineKeywordExtractor:
    """Extracts names and content words of the question."""

    async def extract(self, workspace: str, question: str) -> Keywords:
        """Return the keywords; no model is called."""
        return offline_keywords(question)

    async def close(self) -> None:
        """Do nothing: there is nothing to store."""


def offline_keywords(question: str) -> Keywords:
    """Return names and content words of the question."""
    high, low = keywords(question)
    return Keywords(tuple(high), tuple(low))


class ExtractiveAnswerGenerator:
    """Quotes the sentences that answer, or says that the documents do not."""

    uses_model = False

    def __init__(
        self, embedder: Embeds, multilingual: Embeds | None = None, reader: Reads | None = None
    ) -> None:
        """`multilingual`: embeds questions and sentences in the languages that it knows. `reader`:
        reads both together.
        """
        self._embedder = embedder
        self._multilingual = multilingual
        self._reader = reader

    def stream(self, prompt: Prompt) -> None:
        """Return None: quotations are not streamed."""

    async def answer(
        self,
        prompt: Prompt,
        passages: Sequence[tuple[str, Passage]],
        levels: Mapping[str, int] | None = None,
    ) -> Completion:
        """Return the best sentences with their references."""
        sources = source_passages(passages, levels)
        answer = await extractive_answer(
            prompt.query, sources, self._embedder, self._multilingual, self._reader
        )
        return Completion(answer)


FULL = 0.9
"""Share of the tokens of the longest passage from which a passage counts as full: its document may
go on.
"""

FULL_TOKENS = 300
"""Tokens that a full passage has at least."""


def source_passages(
    passages: Sequence[tuple[str, Passage]], levels: Mapping[str, int] | None = None
) -> list[SourcePassage]:
    """Return what may be quoted, each passage with what stands before and after it where that
    was found too.

    `levels`: by id, those to which others are preferred; see `RetrievalResult.levels`.
    """
    by_place = {(passage.document_id, passage.order): passage for _, passage in passages}
    longest = max((passage.tokens for _, passage in passages), default=0)
    result: list[SourcePassage] = []
    for reference, passage in passages:
        preceding = by_place.get((passage.document_id, passage.order - 1))
        following = by_place.get((passage.document_id, passage.order + 1))
        is_full = passage.tokens >= max(FULL_TOKENS, FULL * longest)
        source = source_passage(reference, passage)
        result.append(
            replace(
                source,
                preceding=_beginning(preceding, passage) if preceding else "",
                following=_continuation(passage, following) if following else "",
                ends_inside=following is not None or is_full,
                level=(levels or {}).get(passage.id, 0),
            )
        )
    return result


def _beginning(preceding: Passage, passage: Passage) -> str:
    """Return the part of the passage before that this one lacks; nothing where the places of both
    are not known.
    """
    if preceding.start is None or preceding.end is None or passage.start is None:
        return ""
    if passage.start > preceding.end:
        return ""
    return preceding.content[: passage.start - preceding.start]


def _continuation(passage: Passage, following: Passage) -> str:
    """Return the part of the next passage that this one lacks; nothing where the places of both are
    not known.
    """
    if passage.end is None or following.start is None or following.start > passage.end:
        return ""
    return following.content[passage.end - following.start :]


def source_passage(reference: str, passage: Passage) -> SourcePassage:
    """Return what may be quoted of a passage, under the id by which it is cited."""
    return SourcePassage(
        reference,
        passage.content,
        passage.headings,
        title=passage.file_path,
        begins_inside=passage.order > 0,
    )
