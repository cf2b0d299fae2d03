"""An answer, and the retrieval result that it is based on."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass

from runtime.models.port import AnswerPiece
from services.query.context.prompt import Prompt
from services.query.retrieval.results import RetrievalResult


@dataclass(frozen=True)
class Answer:
    """An answer with the retrieval result that it is based on.

    `pieces` yields a streamed answer. The reader closes it, which also stops an unfinished
    generation. `truncated`: the model ended before the answer's end. `prompt_truncated`: it read
    only a part of its prompt. `reasoning`: what the model wrote before it; never cached. `prompt`:
    what was put to the model, known where it was asked. `receipt`: the id of the answer's receipt,
    empty where none is recorded.
    """

    text: str
    retrieval: RetrievalResult
    by_model: bool = False
    pieces: AsyncGenerator[AnswerPiece] | None = None
    truncated: bool = False
    reasoning: str = ""
    prompt_truncated: bool = False
    prompt: Prompt | None = None
    receipt: str = ""
