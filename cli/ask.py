"""`ask`: a question, its answer, and where the answer is from."""

import asyncio
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cli.citations import number_citations
from cli.common import (
    DATA,
    WORKSPACE,
    Data,
    Json,
    Workspace,
    echo,
    errors,
    note,
    print_json,
    tell_retries,
)
from cli.terminal import line
from cli.validity import FORMATS, with_zone

if TYPE_CHECKING:
    from typing import Unpack

    from lightstream_rag.models import Answer, Reference
    from lightstream_rag.questions import QueryOptions

# `--help` answers at once: the HTTP client is loaded by the command that needs it.

Mode = Literal["auto", "mix", "hybrid", "local", "global", "naive", "walk"]
Effort = Literal["low", "medium", "high"]

PROMPT_TRUNCATED = (
    "The language model read only a part of what was found: its context window is too small; raise "
    "it where the model is served."
)
TRUNCATED = "This answer is not whole: the language model ended at its length limit, or broke off."

NO_MODEL = (
    "To have answers written by a language model, set OPENAI_API_KEY (or LLM_BASE_URL, "
    "LLM_MODEL and LLM_API_KEY) and start the stack again."
)


def ask(
    question: Annotated[str, typer.Argument(help="In plain words.")],
    mode: Annotated[
        Mode | None,
        typer.Option(
            help=(
                "What is searched: passages (naive), entities (local), relations (global), both "
                "(hybrid), all (mix); along what is tied to the names in the question (walk); walk "
                "or mix, by the question (auto). Without it DEFAULT_MODE of the service, auto."
            )
        ),
    ] = None,
    effort: Annotated[
        Effort,
        typer.Option(
            help="One search (low), or rounds in which the language model asks for what is missing (medium, high); "  # noqa: E501
            "without one, a wider search."
        ),
    ] = "low",
    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of",
            metavar="SEQ|TIME",
            help="Answer from what the log had then: 17, 2026-03-01T12:00.",
        ),
    ] = None,
    valid_at: Annotated[
        datetime | None,
        typer.Option(
            "--valid-at",
            formats=FORMATS,
            metavar="TIME",
            help="Prefer what was in force then; else at the time of --as-of, or today.",
        ),
    ] = None,
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Ask about the documents. The answer names its sources."""
    with errors(as_json):
        from operations.query_service import query_address  # noqa: PLC0415

        tell_retries()
        api = query_address(data)
        options: QueryOptions = {"mode": mode, "effort": effort, "as_of": as_of or None}
        if valid_at:
            options["valid_at"] = with_zone(valid_at)
        answer = asyncio.run(ask_query_service(api, workspace, question, **options))
        if as_json:
            print_json(answer.model_dump(exclude_unset=True))
        else:
            show_answer(answer)


async def ask_query_service(
    base: str, workspace: str, question: str, **options: "Unpack[QueryOptions]"
) -> "Answer":
    """Return the answer of the query service."""
    from operations.query_service import query_client  # noqa: PLC0415

    async with query_client(base, workspace) as client:
        return await client.query(question, **options)


def show_answer(answer: "Answer") -> None:
    """Print the answer, and its sources by number unless it lists them itself."""
    text, references = number_citations(answer.response.strip(), answer.references or ())
    echo(text)
    lines = [
        f"[{number}] {line(reference.file_path)}{_also_in(reference)}"
        for number, reference in references
    ]
    if answer.truncated:
        note(f"\n{TRUNCATED}")
    if answer.prompt_truncated:
        note(f"\n{PROMPT_TRUNCATED}")
    missing_lines = [text_line for text_line in lines if text_line not in text]
    if missing_lines:
        echo()
        echo("Sources:")
        for text_line in missing_lines:
            echo(f"  {text_line}")
    for number, search_round in enumerate(answer.rounds or (), 1):
        searches = "".join(f"\n  searched: {line(search)}" for search in search_round.searches)
        end_line = f"\n  ended: {line(search_round.ended)}" if search_round.ended else ""
        note(
            f"Round {number}: {search_round.new_passages} new passages, {search_round.tokens} "
            f"tokens{searches}{end_line}"
        )
    if answer.mode_reason:
        note(f"\nMode {answer.mode}: {line(answer.mode_reason)}")
    if (
        answer.references and not answer.llm_generated
    ):  # else nothing was found, with a model or without
        note(f"\n{NO_MODEL}")


def _also_in(reference: "Reference") -> str:
    """Return what stands behind a source of which other files say the same."""
    return (
        f" (also in {', '.join(line(file) for file in reference.also_in)})"
        if reference.also_in
        else ""
    )
