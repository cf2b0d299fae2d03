"""`embedding`: the embedding model of one workspace, where it is to be another than the stack's."""

import asyncio
from contextlib import ExitStack
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from cli.audit_lines import audit_line
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
    quiet_logs,
)
from cli.rebuild_output import Progress, ignore
from cli.rebuild_work import golden_gate
from cli.terminal import counted, line

if TYPE_CHECKING:
    from operations.embedding_choice import ChoiceEstimate
    from operations.golden_gate import GoldenGate
    from operations.target import Target

# `--help` answers at once: bus and stores are loaded by the command that needs them.

app = typer.Typer(help="The embedding model of one workspace.", no_args_is_help=True)

AcceptWorse = Annotated[
    bool,
    typer.Option("--accept-worse", help="Go live although golden questions fare worse."),
]


@app.command("set")
def set_(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="minilm, minilm-floats, multilingual, lexical, or the one of EMBEDDING_MODEL.",
        ),
    ],
    yes: Yes = False,
    accept_worse: AcceptWorse = False,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Embed a workspace and its branches by a model of their own, whatever the others have. Without
    --yes only say what that takes.

    The vectors are made from the log beside the live ones, which questions search until then;
    afterwards documents and questions of the workspace are embedded by the new model. Nothing is
    extracted again, and what the model has embedded before is cached. `embedding clear` goes back,
    and so does `rebuild rollback vectors`, while nothing else was rebuilt.

    Before the switch the golden questions of the workspace are asked of the new vectors. Where
    fewer pass than in the last run, you are asked, or without a terminal nothing is switched and
    the command ends with code 1; --accept-worse goes on.
    """
    with (
        errors(as_json),
        audit_line("embedding set", data, reason, changes=yes, model=model, workspace=workspace),
    ):
        request = _Request(workspace, model, reason, yes, accept_worse, as_json)
        _choose(request, data)


@app.command()
def clear(
    yes: Yes = False,
    accept_worse: AcceptWorse = False,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Embed a workspace by the model of the whole stack again. Without --yes only say what that
    takes. Golden questions are asked before, as `set` asks them.
    """
    with (
        errors(as_json),
        audit_line("embedding clear", data, reason, changes=yes, workspace=workspace),
    ):
        _choose(_Request(workspace, "", reason, yes, accept_worse, as_json), data)


@app.command()
def show(data: Data = DATA, as_json: Json = False, workspace: Workspace = WORKSPACE) -> None:
    """Show the model of the workspace, and whether it was chosen for it."""
    with errors(as_json):
        quiet_logs()
        from operations.embedding_choice import describe  # noqa: PLC0415
        from operations.target import select_target  # noqa: PLC0415

        state = asyncio.run(describe(select_target(data), workspace))
        if as_json:
            print_json(state)
            return
        origin = (
            f"chosen as {state['chosen_model']}"
            if state["chosen_model"]
            else "that of the whole stack"
        )
        echo(
            f"workspace {workspace}: {state['model']}, {origin}; generation {state['generation']} "
            "of vectors"
        )


class _Request(NamedTuple):
    """A model for a workspace, empty for that of the stack, and what else the command says."""

    workspace: str
    model: str
    reason: str
    says_yes: bool
    accepts_worse: bool
    as_json: bool


def _choose(request: _Request, data: Data) -> None:
    quiet_logs()
    from operations.embedding_choice import ModelChoice, choose, estimate  # noqa: PLC0415
    from operations.target import select_target  # noqa: PLC0415

    target = select_target(data)
    choice = ModelChoice(request.workspace, request.model, request.reason)
    if not request.says_yes:
        _show_estimate(asyncio.run(estimate(target, choice)), request.as_json)
        return
    report = ignore if request.as_json else Progress()
    with ExitStack() as locks:
        locks.enter_context(target.rebuild_lock())
        result = asyncio.run(choose(target, choice, report, _gate(target, request)))
    if request.as_json:
        print_json(result)
        return
    _show_result(result)


def _gate(target: "Target", request: _Request) -> "GoldenGate":
    """Return what asks the golden questions of the workspace before the switch."""
    command = f"set {request.model}" if request.model else "clear"
    way_out = (
        "The new vectors were dropped, and what was embedded is cached: `lightstream embedding "
        f"{command} --workspace {request.workspace} --yes --accept-worse`, over HTTP "
        "`accept_worse`, goes live with them"
    )
    return golden_gate(
        target,
        as_json=request.as_json,
        goes_on=request.accepts_worse,
        workspaces=(request.workspace,),
        way_out=way_out,
    )


def _show_estimate(choice_estimate: "ChoiceEstimate", as_json: bool) -> None:
    if as_json:
        print_json(asdict(choice_estimate))
        return
    money = choice_estimate.money
    amount = "" if money is None else f", {money:.4f} {choice_estimate.currency}"
    echo(
        f"an estimate, nothing was changed without --yes: workspace {choice_estimate.workspace}, "
        f"{counted(choice_estimate.texts, 'text')} to embed by {choice_estimate.model}, "
        f"{choice_estimate.cached_texts} cached{amount}"
    )
    for model in choice_estimate.models:
        price = "" if model.money is not None else ", no price in MODEL_PRICES"
        echo(line(f"  {model.model}: {model.calls:,} calls, {model.prompt:,} tokens read{price}"))
    if not choice_estimate.models:
        echo("  no model is paid: embeddings run on this machine")
    echo(f"how: {choice_estimate.basis}")


def _show_result(result: dict[str, Any]) -> None:
    digest = result["digests"]["vectors"]
    counts = ", ".join(f"{count} {kind}" for kind, count in digest["rebuilt"]["counts"].items())
    generation = result["generations"]["vectors"]
    echo(
        f"workspace {result['workspace']} is embedded by {result['model']} now: "
        f"{counts or 'no vectors'} in generation {generation}, {result['seconds']:g} s"
    )
    if not digest["same"]:
        note("its texts are not those of the vectors before: documents came in, or those were lost")
