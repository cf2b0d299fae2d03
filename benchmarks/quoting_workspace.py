"""A workspace in memory, filled by the handlers of the services, that answers without a language
model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.multihop_stores import LIVE, CachedEmbedder, filled
from benchmarks.multihop_world import Document
from contracts.chunking import Chunking
from offline.answers.extractive_answer import NOT_SAID
from runtime.models.minilm import MiniLmEmbedder
from runtime.models.multilingual import MultilingualEmbedder
from runtime.models.reader import ThreadedReader
from runtime.parsing.files import parse
from services.query.adapters.offline import ExtractiveAnswerGenerator
from services.query.answer import Answer
from services.query.answering.ask import NO_CONTEXT, ask
from services.query.answering.dependencies import QueryDependencies
from services.query.partitions import Partitions
from services.query.question import Question

CHUNKING = Chunking(size=1200, overlap=100)


@dataclass(frozen=True)
class QuotingWorkspace:
    """A workspace that can be asked."""

    dependencies: QueryDependencies

    async def answer(self, question: str, mode: Any) -> Answer:
        """Return the answer to a question in a mode."""
        return await ask(Question(question, mode), Partitions.of("w", LIVE), self.dependencies)


async def quoting_workspace(
    documents: Sequence[Document], chunking: Chunking = CHUNKING, *, is_multilingual: bool = False
) -> QuotingWorkspace:
    """Return a workspace of these documents, whose index has vectors of MiniLM or of the
    multilingual encoder.
    """
    english, multilingual = CachedEmbedder(MiniLmEmbedder()), CachedEmbedder(MultilingualEmbedder())
    embedder = multilingual if is_multilingual else english
    stores = await filled(documents, embedder, chunking)
    generator = ExtractiveAnswerGenerator(english, multilingual, ThreadedReader())
    return QuotingWorkspace(
        stores.deps(embed=embedder.embed, min_score=0.2, answer_generator=generator)
    )


async def read_documents(paths: Sequence[Path]) -> list[Document]:
    """Return the documents of files, read as the command line reads them."""
    return [Document(path.name, (await parse(path.read_bytes(), path.name)).text) for path in paths]


def is_answered(text: str) -> bool:
    """Return whether a text answers, and says neither that nothing was found nor that it does not
    answer.
    """
    return not text.startswith((NOT_SAID, NO_CONTEXT))
