"""What the product would have read for a question: what the reader has to tell apart."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.multihop_stores import CachedEmbedder
from benchmarks.reader.groups import LabelledQuestion
from offline.answers.comparison import Models
from offline.answers.extractive_answer import SourcePassage, scored_candidates
from offline.reading.excerpt import Excerpt
from runtime.models.minilm import MiniLmEmbedder
from runtime.models.multilingual import MultilingualEmbedder
from runtime.parsing.files import parse


@dataclass
class _Recorder:
    """`Reads` that records what it is given to read, and judges nothing."""

    excerpts: list[Excerpt] = field(default_factory=list[Excerpt])

    async def judgements(
        self, question: str, excerpts: Sequence[Excerpt], language: str = ""
    ) -> list[float]:
        """Return 0 for each."""
        self.excerpts += excerpts
        return [0.0] * len(excerpts)


async def with_compared(
    questions: Sequence[LabelledQuestion], folder: Path
) -> list[LabelledQuestion]:
    """Return questions about the documents of a folder with what the product would have read of
    the document.
    """
    english, multilingual = CachedEmbedder(MiniLmEmbedder()), CachedEmbedder(MultilingualEmbedder())
    passages = {
        path.name: SourcePassage("1", (await parse(path.read_bytes(), path.name)).text)
        for path in sorted((folder / "documents").iterdir())
    }
    result: list[LabelledQuestion] = []
    for question in questions:
        recorder = _Recorder()
        models = Models(english, multilingual, recorder)
        passage = passages[question.file]
        await scored_candidates(question.question, [passage], models, question.language)
        result.append(question.compared_with(recorder.excerpts))
    return result
