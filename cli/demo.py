"""`demo`: the whole chain once, from files to a cited answer."""

import asyncio
import shutil
import sys
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from cli.ask import ask_query_service, show_answer
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
    quiet_logs,
    silent,
)
from cli.documents import add_and_follow, show_outcome
from cli.terminal import line
from embedded.data_folder import DataFolder, StackState
from runtime.errors import InvalidInput

# `--help` answers at once: parsers and drivers are loaded by the command that needs them.

PROJECT = Path(__file__).resolve().parents[1]
OWN_DOCUMENTS = ("README.md", "docs")

QUESTION = "How does Lightstream turn documents into a searchable knowledge graph?"
OTHER_QUESTION = "What are these documents about?"


def demo(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PATH]…", help="Documents; without any, the project's own."),
    ] = None,
    question: Annotated[str, typer.Option(help="What to ask about them.")] = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Add documents, watch them go through every stage, and ask a question about them.

    Starts a stack if none is running, and stops that one in the end. A second run adds only what
    has changed.
    """
    with errors(as_json):
        quiet_logs()
        own_documents = [str(PROJECT / name) for name in OWN_DOCUMENTS if (PROJECT / name).exists()]
        if not (given_paths := paths or own_documents):
            raise InvalidInput(
                "there are no documents here: name files or folders, as in `lightstream demo "
                "notes/`"
            )
        demo_question = question or (OTHER_QUESTION if paths else QUESTION)
        has_succeeded = asyncio.run(
            _demo(
                _Demo(
                    DataFolder.at(data),
                    given_paths,
                    demo_question,
                    as_json,
                    workspace,
                    has_own_paths=bool(paths),
                )
            )
        )
        raise typer.Exit(0 if has_succeeded else 1)


@dataclass(frozen=True)
class _Demo:
    """What to add, where, and what to ask about it."""

    folder: DataFolder
    paths: Sequence[str]
    question: str
    as_json: bool
    workspace: str
    has_own_paths: bool
    """Whether the user named them: of the project's own, pictures are left out."""


async def _demo(demo: _Demo) -> bool:
    from embedded.supervisor import on_stop_signal  # noqa: PLC0415

    task = asyncio.current_task()
    assert task is not None
    with on_stop_signal(task.cancel):
        try:
            async with _stack(demo.folder, demo.as_json) as (state, stays):
                return await _run(demo, state, stays)
        except asyncio.CancelledError:
            note("interrupted; what the log has goes on with the next start")
            raise typer.Exit(130) from None


@asynccontextmanager
async def _stack(folder: DataFolder, as_json: bool) -> AsyncGenerator[tuple[StackState, bool]]:
    """Give the running stack, else one for as long as the demo lasts; and True if it stays."""
    from embedded.ports import configured_address  # noqa: PLC0415
    from embedded.stack import run_stack  # noqa: PLC0415

    if folder.is_running():
        yield folder.ready_state(), True
        return
    since = time.monotonic()
    report_to = silent if as_json else _step
    if not as_json:
        echo(f"Starting a stack in {folder.path}")
    async with run_stack(folder, report_to, api=configured_address()) as state:
        if not as_json:
            echo(f"  ready after {time.monotonic() - since:.0f} s\n")
        yield state, False


def _step(line: str) -> None:
    note(f"  {line}")


async def _run(demo: _Demo, state: StackState, stays: bool) -> bool:
    from operations.documents import find_documents  # noqa: PLC0415
    from operations.target import target_of_stack  # noqa: PLC0415

    if not demo.as_json:
        _say_models(state)
        echo(f"Adding {' '.join(_short(path) for path in demo.paths)}")
    documents = find_documents(demo.paths)
    if not demo.has_own_paths:
        # Pictures of the web page: recognizing their text takes minutes, and the pages say more.
        documents.sources = [source for source in documents.sources if not source.is_picture]
    outcome, statuses = await add_and_follow(
        target_of_stack(demo.folder, state),
        demo.workspace,
        documents,
        wait=True,
        is_hidden=demo.as_json,
    )
    if not demo.as_json:
        show_outcome(outcome, documents.skipped)
        echo(f"\nQuestion: {demo.question}\n")
    answer = await ask_query_service(state.api, demo.workspace, demo.question)
    failed_documents = [document for document in statuses if document.status != "processed"]
    if demo.as_json:
        shown_documents = [document.model_dump(exclude_unset=True) for document in statuses]
        answer_fields = answer.model_dump(exclude_unset=True)
        print_json(
            {
                "question": demo.question,
                **answer_fields,
                "documents": shown_documents,
                "refused": len(outcome.refused),
            }
        )
    else:
        show_answer(answer)
        for document in failed_documents:
            note(line(f"{document.status}: {document.file_path}: {document.error_msg}"))
        _say_how_to_go_on(demo.folder, state, stays)
    return bool(answer.references) and not failed_documents


def _say_models(state: StackState) -> None:
    language = state.models.get("language")
    embedding = state.models.get("embedding")
    if language:
        echo(f"Language model {language}, embeddings {embedding}.")
    else:
        echo("Runs without a language model: names are found by rules, and answers are quotations.")
        echo(f"Embeddings: {embedding}, offline.")
    echo()


def _say_how_to_go_on(folder: DataFolder, state: StackState, stays: bool) -> None:
    program = _program()
    option = folder.command_option
    echo("\nHow to go on:")
    if stays:
        echo(f"  {state.api}/      the web page; the API, with a form for every call, at /docs")
    else:
        # No address here: whoever opened it would find nobody, for this stack stops now.
        echo(
            f"  {program} up --detach{option}      starts it again, with its web page; the "
            "API is at /docs"
        )
    echo(f"  {program} add PATH… --wait{option}")
    echo(f'  {program} ask "…"{option}')
    echo(f"  {program} log --follow{option}")
    echo(f"  {program} down{option}")


def _program() -> str:
    """Return the command by which this program is called from the current folder."""
    if shutil.which("lightstream"):
        return "lightstream"
    called_path = Path(sys.argv[0]).resolve()
    return (
        str(called_path.relative_to(Path.cwd()))
        if called_path.is_relative_to(Path.cwd())
        else str(called_path)
    )


def _short(path: str) -> str:
    full_path = Path(path)
    return full_path.relative_to(PROJECT).as_posix() if full_path.is_relative_to(PROJECT) else path
