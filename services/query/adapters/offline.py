"""Keywords and answers without a language model: the rules of `offline/answers` behind the ports of
questions.
"""

from collections.abc import Sequence

from offline.answers.extractive_answer import Embeds, SourcePassage, extractive_answer
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

    def __init__(self, embedder: Embeds) -> None:
        self._embedder = embedder

    def stream(self, prompt: Prompt) -> None:
        """Return None: quotations are not streamed."""

    async def answer(self, prompt: Prompt, passages: Sequence[tuple[str, Passage]]) -> Completion:
        """Return the best sentences with their references; at most 16 are embedded."""
        sources = [source_passage(reference, passage) for reference, passage in passages]
        return Completion(await extractive_answer(prompt.query, sources, self._embedder))


def source_passage(reference: str, passage: Passage) -> SourcePassage:
    """Return what may be quoted of a passage, under the id by which it is cited."""
    return SourcePassage(
        reference,
        passage.content,
        passage.headings,
        title=passage.file_path,
        begins_inside=passage.order > 0,
    )
