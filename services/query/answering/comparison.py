"""Asks one question of two generations, and says whether they answer the same."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from contracts.graph import Generations
from services.query.answering.ask import ask
from services.query.answering.dependencies import QueryDependencies
from services.query.partitions import Partitions
from services.query.question import DEFAULT_MODE, Output, Question, SearchMode

SHOWN = 500
"""Characters of an answer that are reported."""


@dataclass(frozen=True)
class ComparedAnswers:
    """The beginnings of what either side answers, and whether the whole answers are the same."""

    same: bool
    live: str
    new: str


CompareAnswers = Callable[[str, str, Generations, Generations], Awaitable[ComparedAnswers]]
"""Takes a question, a workspace, and the generations that are live and new."""


async def compare_answers(
    dependencies: QueryDependencies,
    question: str,
    workspace: str,
    live: Generations,
    new_generations: Generations,
    *,
    mode: SearchMode = DEFAULT_MODE,
) -> ComparedAnswers:
    """Return what either side answers in this mode. A model is asked once where both sides give it
    the same to read.
    """
    asked = Question(question, mode=mode)
    sides = Partitions.of(workspace, live), Partitions.of(workspace, new_generations)
    prompts = [await _answered(dependencies, asked, side, "prompt") for side in sides]
    before = await _answered(dependencies, asked, sides[0], "answer")
    after = (
        before
        if prompts[0] == prompts[1]
        else await _answered(dependencies, asked, sides[1], "answer")
    )
    return ComparedAnswers(before == after, _shortened(before), _shortened(after))


async def _answered(
    dependencies: QueryDependencies, question: Question, partitions: Partitions, output: Output
) -> str:
    async with dependencies.for_generation(partitions.vectors.generation) as of_generation:
        return (await ask(question, partitions, of_generation, output=output)).text


def _shortened(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]} …"
