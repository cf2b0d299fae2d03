"""How often is an answer right, and how often is a question answered that the documents do not
answer?

    python -m benchmarks.answers [--modes naive,mix] [--effort low] [--show] python -m
    benchmarks.answers --url http://…/v1 --model NAME [--concurrency 4]     key: LLM_API_KEY

Asks the questions of `benchmarks/answers_data` over its documents, through the services with stores
in memory. Without `--url` answers are quotations: right is one that quotes the sentence. With
`--url` a model behind an OpenAI-compatible endpoint answers from the same passages: right is one
that states the fact; no other model judges. Prints Markdown, the half for choosing, the held-out
half and the questions written last apart; `--show` also prints what went wrong in the half for
choosing. With `--slips` those questions alone are asked that name something, and a letter of each
name is lost.
"""

import argparse
import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import SecretStr

from benchmarks.answers_set import (
    PARTS,
    Case,
    cases,
    declines,
    documents,
    quotes,
    states,
    with_slips,
)
from benchmarks.multihop_stores import LIVE, CachedEmbedder, filled
from benchmarks.quoting_workspace import CHUNKING, is_answered
from runtime.models.minilm import MiniLmEmbedder
from runtime.models.multilingual import MultilingualEmbedder
from runtime.models.open import open_chat
from runtime.models.reader import ThreadedReader
from runtime.settings import Settings
from services.query.adapters.models import ModelAnswerGenerator, ModelFollowUps
from services.query.adapters.offline import ExtractiveAnswerGenerator
from services.query.adapters.tool_choices import ModelToolChoices
from services.query.answering.ask import ask
from services.query.partitions import Partitions
from services.query.question import Effort, Question


@dataclass(frozen=True)
class Outcome:
    """What one question got in one mode."""

    case: Case
    mode: str
    found: bool
    """Whether the passages have the words of the right sentence."""
    answered: bool
    right: bool
    cited: int
    """Sources that are listed."""
    text: str


async def outcomes(modes: Sequence[str], arguments: argparse.Namespace) -> list[Outcome]:
    """Ask every question in every mode."""
    embedder = CachedEmbedder(MiniLmEmbedder())
    stores = await filled(await documents(), embedder, CHUNKING)
    chat = _chat(arguments)
    quoting = ExtractiveAnswerGenerator(
        embedder, CachedEmbedder(MultilingualEmbedder()), ThreadedReader()
    )
    generator = ModelAnswerGenerator(chat) if chat else quoting
    follow_ups = ModelFollowUps(chat) if chat else None
    tool_choices = ModelToolChoices(chat) if chat else None
    questions = with_slips(cases()) if arguments.slips else cases()
    deps = stores.deps(
        embed=embedder.embed,
        min_score=0.2,
        answer_generator=generator,
        follow_ups=follow_ups,
        tool_choices=tool_choices,
    )
    turns = asyncio.Semaphore(arguments.concurrency)

    async def asked(case: Case, mode: Any) -> Outcome:
        async with turns:
            answer = await ask(
                Question(case.question, mode, effort=arguments.effort),
                Partitions.of("w", LIVE),
                deps,
            )
        contents = " ".join(passage.content for _, passage in answer.retrieval.passages)
        if chat:
            answered, right = not declines(answer.text), states(case, answer.text)
        else:
            answered = is_answered(answer.text)
            right = answered and quotes(case, answer.text)
        right = right and bool(case.file)
        return Outcome(
            case,
            mode,
            quotes(case, contents),
            answered,
            right,
            len(answer.retrieval.references),
            answer.text,
        )

    return await asyncio.gather(*(asked(case, mode) for mode in modes for case in questions))


def _chat(arguments: argparse.Namespace) -> Any:
    """Return the model behind the endpoint, None without one."""
    if not arguments.url:
        return None
    key = SecretStr(os.environ.get("LLM_API_KEY", "none"))
    return open_chat(
        Settings(llm_base_url=arguments.url, llm_model=arguments.model, llm_api_key=key)
    )


def table(results: Sequence[Outcome], modes: Sequence[str]) -> str:
    """Return shares by mode and part of the questions."""
    lines = [
        (
            "| mode | part | passage found | right | false answers | of them far | near | sources "
            "listed | characters |"
        ),
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for mode in modes:
        for name in PARTS:
            part = [row for row in results if row.mode == mode and row.case.part == name]
            yes = [row for row in part if row.case.file]
            no = [row for row in part if not row.case.file]
            answered = [row for row in yes if row.answered]
            kinds = [
                _share([row.answered for row in no if row.case.kind == kind])
                for kind in ("far", "near")
            ]
            lines.append(
                f"| {mode} | {name} | {_share([row.found for row in yes])} "
                f"| {_share([row.right for row in yes])} | "
                f"{_share([row.answered for row in no])} | {kinds[0]} "
                f"| {kinds[1]} | {_mean([row.cited for row in answered])} "
                f"| {_mean([len(row.text) for row in answered], 0)} |"
            )
    return "\n".join(lines)


def _share(values: Sequence[bool]) -> str:
    return f"{sum(values)} of {len(values)} ({sum(values) / max(1, len(values)):.0%})"


def _mean(values: Sequence[int], digits: int = 1) -> str:
    return f"{sum(values) / max(1, len(values)):.{digits}f}"


def main() -> None:
    """Run it and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--modes", default="naive,mix")
    parser.add_argument("--url", default="", help="base URL of an OpenAI-compatible endpoint")
    parser.add_argument("--model", default="gpt-4o-mini")
    parser.add_argument("--effort", choices=get_args(Effort), default="low")
    parser.add_argument("--concurrency", type=int, default=4)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--slips", action="store_true", help="lose a letter of each name")
    arguments = parser.parse_args()
    modes = arguments.modes.split(",")
    results = asyncio.run(outcomes(modes, arguments))
    for row in results:
        if (
            arguments.show
            and row.case.part == "for choosing"
            and (not row.right if row.case.file else row.answered)
        ):
            print(f"- {row.mode}: {row.case.question}\n  {row.text}\n")
    print(table(results, modes))


if __name__ == "__main__":
    main()
