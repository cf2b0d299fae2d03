"""Answers questions in this process."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from contracts.spelling import one_spelling
from runtime.errors import Retryable
from services.query.answer import Answer
from services.query.answering.ask import ask
from services.query.answering.dependencies import QueryDependencies
from services.query.answering.effort import retrieve_with_effort
from services.query.answering.evidence import token_use
from services.query.partitions import Partitions
from services.query.past.answers import MemoryPastAnswers
from services.query.past.reading import Past
from services.query.question import (
    RESPONSE_TYPE,
    Keywords,
    ProgressCallback,
    Question,
    ignore_progress,
)
from services.query.questions.configuration import configuration
from services.query.questions.port import (
    QuestionRequest,
    RetrievedData,
    SearchPlace,
)
from services.query.receipts.publishing import AnswerReceipts
from services.query.receipts.recording import AnswerPlace, Recording
from services.query.settings import QuerySettings

LIMITS = (
    "top_k",
    "chunk_top_k",
    "max_entity_tokens",
    "max_relation_tokens",
    "max_total_tokens",
)
"""Fields of a request whose defaults are settings of the same name."""


@dataclass(frozen=True)
class LocalQuestions:
    """`Questions` over the stores and models that this process has opened.

    The call scope of the task names the workspace, for models that are paid: `set_call_scope`.
    """

    settings: QuerySettings
    answering: QueryDependencies
    past: Past
    past_answers: MemoryPastAnswers
    receipts: AnswerReceipts | None = None

    async def ask(
        self, request: QuestionRequest, on_progress: ProgressCallback = ignore_progress, /
    ) -> Answer:
        """See `Questions.ask`."""
        question = to_question(request, self.settings)
        recording = self._recording(request, question)
        dependencies, partitions = await self._searched(request.place)
        answer = await ask(
            question,
            partitions,
            replace(dependencies, on_progress=on_progress),
            output=request.output,
            is_streamed=request.is_streamed,
        )
        return recording.record(answer) if recording else answer

    async def retrieve(self, request: QuestionRequest, /) -> RetrievedData:
        """See `Questions.retrieve`."""
        dependencies, partitions = await self._searched(request.place)
        question = to_question(request, self.settings)
        retrieval = await retrieve_with_effort(question, partitions, dependencies)
        tokens = token_use(retrieval, question, dependencies.count_tokens)
        return RetrievedData(retrieval, tokens, question.mode)

    async def configuration(self, generation: int, /) -> Mapping[str, Any]:
        """See `Questions.configuration`."""
        return configuration(
            self.settings,
            await self._embedding_model(generation),
            reranks=self.answering.reranker is not None,
        )

    def _recording(self, request: QuestionRequest, question: Question) -> Recording | None:
        """Return what records the answer; None where none is wanted: a context and a prompt are no
        answers.
        """
        if self.receipts is None or request.output != "answer":
            return None
        place = request.place
        answer_place = AnswerPlace(
            place.workspace, place.sequence, place.complete_to, place.asked_workspace
        )
        return self.receipts.recording(question, answer_place, is_streamed=request.is_streamed)

    async def _searched(self, place: SearchPlace) -> tuple[QueryDependencies, Partitions]:
        if place.sequence is None:
            return self.answering, place.partitions
        generation = place.partitions.vectors.generation
        return await self.past_answers.at(
            self.past, place.workspace, place.sequence, self.answering, generation
        )

    async def _embedding_model(self, generation: int) -> str:
        """Return the model that embeds questions: the store's, or the settings' while the store
        does not answer.
        """
        try:
            async with self.answering.for_generation(generation) as dependencies:
                return dependencies.vectors.model
        except Retryable:
            return self.answering.vectors.model


def to_question(request: QuestionRequest, settings: QuerySettings) -> Question:
    """Return the question of a request, with the settings' values where the request has none."""
    limits = {name: getattr(request, name) or getattr(settings, name) for name in LIMITS}
    prefix = settings.prompt_prefix if request.has_prompt_prefix else ""
    return Question(
        request.query,
        request.mode or settings.default_mode,
        **limits,
        keywords=Keywords(
            tuple(map(one_spelling, request.keywords.high)),
            tuple(map(one_spelling, request.keywords.low)),
        ),
        effort=request.effort,
        scope=request.scope,
        rerank=settings.rerank_by_default if request.rerank is None else request.rerank,
        response_type=request.response_type or RESPONSE_TYPE,
        user_prompt=prefix + request.user_prompt,
        history=request.history,
        viewer=request.viewer,
        valid_at=request.valid_at or datetime.now(UTC),
    )
