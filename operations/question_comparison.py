"""Asks the same questions of two generations: which passages the vectors of both find, and what
either answers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from contracts.graph import Partition, Projection
from contracts.topology import CHECKPOINTS_BUCKET
from knowledge.nearest_passages import PassageSearch, nearest_passages
from operations.embedding_model import with_embedding_model
from operations.golden_gate import OpenAsking
from operations.open_stack import open_as_is
from operations.own_vectors import ChosenGenerations
from operations.projections import RebuildRequest
from operations.target import Target
from runtime.bus.nats.key_values import NatsLiveGenerations, NatsSharedValues
from runtime.bus.nats.log import NatsLog
from runtime.errors import InvalidInput
from runtime.projections import rebuild_candidate
from runtime.projections.embedding import EmbeddedVectors
from services.query.settings import QuerySettings
from services.query.wiring import open_asking, open_comparison

FOUND = 10
"""Passages that a question finds: the k of overlap@k."""

EXCERPT = 120
"""Characters of a passage that are shown."""


@dataclass(frozen=True)
class PassageHit:
    """A passage that a question found, with its beginning and the cosine similarity."""

    id: str
    file_path: str
    score: float
    text: str


@dataclass(frozen=True)
class ComparedQuestion:
    """One question: what each generation found, best first, and the share of passages that both
    found.
    """

    question: str
    overlap: float
    live: Sequence[PassageHit]
    new: Sequence[PassageHit]


def read_questions(path: Path) -> list[str]:
    """Return the questions of a file, one a line, without blank lines. Raises InvalidInput for a
    file without any.
    """
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path}: {error}") from None
    if questions := [line.strip() for line in lines if line.strip()]:
        return questions
    raise InvalidInput(f"{path} holds no question: write one on each line")


async def compare_waiting(
    target: Target,
    request: RebuildRequest,
    generations: Mapping[Projection, int],
    workspace: str,
    questions: Sequence[str],
) -> dict[str, Any]:
    """Ask these questions of what is live and of these generations, each with the model that made
    its vectors; a workspace that has a model of its own, of those that wait for it.

    Returns the passages that both vectors find, and the answers. Where the stack has a language
    model, it answers. What models are paid is in the log. Raises ModelChanged where the settings do
    not allow one of the models, `Unavailable`.
    """
    settings = with_embedding_model(
        target.settings_of(QuerySettings), request.embedding_model, request.embedding_dim
    )
    async with open_as_is(settings) as stack:
        live = await (await NatsLiveGenerations.bind(stack.client.jetstream())).live()
        values = await NatsSharedValues.bind(stack.client.jetstream(), CHECKPOINTS_BUCKET)
        candidate = await rebuild_candidate.read(values)
        own_generations = candidate.own_generations if candidate else {}
        new_generations = ChosenGenerations.of(
            replace(live, **generations), own_generations
        ).generations
        live_number = live.of_workspace(workspace).vectors
        new_number = new_generations.of_workspace(workspace).vectors
        log = NatsLog(stack.client.jetstream())
        async with open_comparison(settings, log, workspace) as compare:
            async with (
                stack.embeddings.of(live_number) as before,
                stack.embeddings.of(new_number) as after,
            ):
                sides = (
                    (before, Partition(workspace, live_number)),
                    (after, Partition(workspace, new_number)),
                )
                compared_questions = await compare_questions(questions, *sides)
            answers = [
                await compare(question, workspace, live, new_generations) for question in questions
            ]
    return {
        "k": FOUND,
        "overlap": round(
            sum(question_result.overlap for question_result in compared_questions)
            / len(compared_questions),
            3,
        ),
        "same_answers": sum(answer.same for answer in answers),
        "questions": [
            asdict(question_result) | {"answers": asdict(two)}
            for question_result, two in zip(compared_questions, answers, strict=True)
        ],
    }


def open_golden_asking(target: Target) -> OpenAsking:
    """Return what opens the asking of golden questions of generations that are not live, each
    embedded by the model that made its vectors.
    """
    return partial(open_asking, target.settings_of(QuerySettings))


Side = tuple[EmbeddedVectors, Partition]


async def compare_questions(
    questions: Sequence[str], live: Side, new_side: Side, k: int = FOUND
) -> list[ComparedQuestion]:
    """Return what each question finds on either side. Two sides that find nothing agree."""
    of_live = await _ask(questions, *live, k)
    of_new = await _ask(questions, *new_side, k)
    compared_questions: list[ComparedQuestion] = []
    for question, before, after in zip(questions, of_live, of_new, strict=True):
        common_ids = {hit.id for hit in before} & {hit.id for hit in after}
        larger_count = max(len(before), len(after))
        compared_questions.append(
            ComparedQuestion(
                question,
                round(len(common_ids) / larger_count, 3) if larger_count else 1.0,
                before,
                after,
            )
        )
    return compared_questions


async def _ask(
    questions: Sequence[str], embedding: EmbeddedVectors, partition: Partition, k: int
) -> list[list[PassageHit]]:
    answers: list[list[PassageHit]] = []
    for vector in await embedding.questions.embed(questions):
        search = PassageSearch(partition, vector, k)
        hits = await nearest_passages(embedding.vectors, embedding.vectors.model, search)
        rows = await embedding.vectors.get(partition, "chunks", [hit.id for hit in hits])
        answers.append(
            [
                PassageHit(
                    hit.id, rows[hit.id].file_path, round(hit.score, 3), rows[hit.id].text[:EXCERPT]
                )
                for hit in hits
                if hit.id in rows
            ]
        )
    return answers
