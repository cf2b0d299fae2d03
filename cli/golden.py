"""`golden`: questions with what must be found for them, and how they fare."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cli.client import call_query_service
from cli.common import (
    DATA,
    WORKSPACE,
    Data,
    Json,
    Reason,
    Workspace,
    Yes,
    echo,
    errors,
    note,
    print_json,
)
from cli.terminal import counted, line
from runtime.errors import InvalidInput

if TYPE_CHECKING:
    from lightstream_rag.golden import Feedback, GoldenQuestion, GoldenRun

# `--help` answers at once: the client is loaded by the command that needs it.

app = typer.Typer(
    help="Golden questions: what must be found for them, and whether it is.",
    no_args_is_help=True,
)

Mode = Literal["auto", "mix", "hybrid", "local", "global", "naive", "walk"]
Facts = Annotated[
    list[str] | None,
    typer.Option("--fact", help="What stands in the answer or in a passage; may be repeated."),
]
Documents = Annotated[
    list[str] | None,
    typer.Option(
        "--document", metavar="DOCUMENT", help="Id or file name it rests on; may be repeated."
    ),
]
Id = Annotated[str, typer.Argument(metavar="ID", help="As `golden list` has it.")]
Limit = Annotated[int, typer.Option("--limit", min=1, max=500, help="How many at most.")]


@app.command()
def add(
    question: Annotated[
        str, typer.Argument(help="In plain words; from feedback if left out.")
    ] = "",
    facts: Facts = None,
    documents: Documents = None,
    unanswerable: Annotated[
        bool, typer.Option("--unanswerable", help="It is not in the documents.")
    ] = False,
    mode: Annotated[Mode | None, typer.Option(help="Else that of the service.")] = None,
    id: Annotated[str, typer.Option("--id", help="Else one that follows from the question.")] = "",
    from_feedback: Annotated[
        str,
        typer.Option(
            "--from-feedback",
            metavar="FEEDBACK",
            help="Take question and mode of this feedback, and the documents of a thumb up.",
        ),
    ] = "",
    reason: Annotated[
        str, typer.Option("--reason", "--note", metavar="TEXT", help="Why; it is kept with it.")
    ] = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Set what must be found for a question: facts, documents, or that the documents do not answer
    it.
    """
    with errors(as_json):
        fields: dict[str, Any] = {
            "id": id,
            "question": question,
            "mode": mode,
            "facts": facts or [],
            "documents": documents or [],
            "unanswerable": unanswerable,
            "note": reason,
        }
        if from_feedback:
            fields = _with_feedback(fields, _feedback_of(from_feedback, data, workspace))
        _set([{name: value for name, value in fields.items() if value}], data, workspace, as_json)


@app.command("import")
def import_(
    path: Annotated[
        Path,
        typer.Argument(metavar="FILE", dir_okay=False, help="*.jsonl, *.csv or *.yaml."),
    ],
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Set the questions of a file: all of them, or none where a line cannot be used."""
    with errors(as_json):
        from operations.golden_files import read_golden_file  # noqa: PLC0415

        questions = read_golden_file(path)
        if reason:
            questions = [{"note": reason, **question} for question in questions]
        _set(questions, data, workspace, as_json)


@app.command()
def export(
    path: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", dir_okay=False, help="Else standard output, JSON Lines."),
    ] = None,
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Write the questions into a file that `import` reads."""
    with errors(as_json):
        from operations.golden_files import format_of, format_questions  # noqa: PLC0415

        file_format = format_of(path) if path else "jsonl"
        questions = [question.model_dump() for question in _all(data, workspace)]
        text = format_questions(questions, file_format)
        if path is None:
            echo(text.rstrip("\n"))
            return
        path.write_text(text, "utf-8")
        if as_json:
            print_json({"file": str(path), "questions": len(questions)})
        else:
            note(f"{counted(len(questions), 'question')} in {path}")


@app.command("list")
def list_(data: Data = DATA, as_json: Json = False, workspace: Workspace = WORKSPACE) -> None:
    """List the questions, each with how it fared last."""
    with errors(as_json):
        questions = _all(data, workspace)
        if as_json:
            print_json([question.model_dump(mode="json") for question in questions])
            return
        for question in questions:
            latest_result = question.latest
            state = "-" if latest_result is None else "passed" if latest_result.passed else "failed"
            echo(f"{question.id:<16} {line(question.question)}", label=f"{state:7}")
            for reason in latest_result.why if latest_result else ():
                echo(f"          {line(reason)}")
        note(counted(len(questions), "golden question"))


@app.command()
def remove(
    id: Id,
    yes: Yes = False,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Remove a question. What runs found of it stays in their history."""
    with errors(as_json):
        if yes:
            call_query_service(
                data, workspace, lambda client: client.remove_golden_question(id, reason=reason)
            )
        matches = [] if yes else [entry for entry in _all(data, workspace) if entry.id == id]
        if not yes and not matches:
            raise InvalidInput(f"no golden question is called {id}")
        if as_json:
            print_json({"removed" if yes else "would_remove": id})
            return
        echo(f"removed {id}" if yes else f"would remove {id}: {line(matches[0].question)}")
        if not yes:
            note("nothing is removed without --yes")


@app.command()
def history(
    limit: Limit = 20, data: Data = DATA, as_json: Json = False, workspace: Workspace = WORKSPACE
) -> None:
    """List the runs, the newest first: when, up to when documents were in the answers, how many
    passed.
    """
    with errors(as_json):
        runs = call_query_service(data, workspace, lambda client: client.golden_runs(limit))
        if as_json:
            print_json([run.model_dump(mode="json") for run in runs])
            return
        for run in runs:
            echo(f"{run.at:%Y-%m-%d %H:%M}  {_run_line(run)}")
        note(counted(len(runs), "run"))


@app.command()
def feedback(
    rating: Annotated[
        Literal["up", "down"] | None, typer.Option("--rating", help="Only these thumbs.")
    ] = None,
    limit: Limit = 20,
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """List what people said of answers, the newest first."""
    with errors(as_json):
        entries = call_query_service(
            data, workspace, lambda client: client.feedback(rating, limit=limit)
        )
        if as_json:
            print_json([entry.model_dump(mode="json") for entry in entries])
            return
        for entry in entries:
            why = f": {line(entry.reason)}" if entry.reason else ""
            echo(f"{entry.id}  {line(entry.question)}{why}", label=f"{entry.rating:5}")
        note(f"{len(entries)} listed; golden add --from-feedback ID makes a golden question of one")


def _run_line(run: "GoldenRun") -> str:
    position = datetime.fromtimestamp(run.position / 1e6, UTC)
    documents = f"documents up to {position:%Y-%m-%d %H:%M:%S}" if run.position else "no documents"
    kind = (
        " of the past" if run.as_of else " of what did not go live" if run.before_promotion else ""
    )
    kind += f" of branch {line(run.branch)}" if run.branch else ""
    why = f": {line(run.reason)}" if run.reason else ""
    return f"{run.passed} of {run.total} passed ({run.share:.0%})  {documents}{kind}{why}"


def _all(data: Data, workspace: str) -> "list[GoldenQuestion]":
    return call_query_service(data, workspace, lambda client: client.golden_questions())


def _set(questions: list[Any], data: Data, workspace: str, as_json: bool) -> None:
    answer = call_query_service(
        data, workspace, lambda client: client.set_golden_questions(questions)
    )
    if as_json:
        print_json(answer.model_dump())
        return
    for id in answer.ids:
        echo(f"set {id}")
    if answer.unchanged:
        note(f"{len(answer.unchanged)} were set so before")


def _feedback_of(id: str, data: Data, workspace: str) -> "Feedback":
    entries = call_query_service(data, workspace, lambda client: client.feedback(limit=500))
    for entry in entries:
        if entry.id == id:
            return entry
    raise InvalidInput(f"no feedback among the newest 500 is called {id}: see `golden feedback`")


def _with_feedback(fields: dict[str, Any], feedback: "Feedback") -> dict[str, Any]:
    """Return what was given, and what the feedback has where nothing was given."""
    names = [document.file_path or document.id for document in feedback.documents]
    is_good = feedback.rating == "up" and not fields["unanswerable"]
    return {
        **fields,
        "question": fields["question"] or feedback.question,
        "mode": fields["mode"] or feedback.mode,
        "documents": fields["documents"] or (list(filter(None, names)) if is_good else []),
        "note": fields["note"] or feedback.reason,
        "feedback": feedback.id,
    }
