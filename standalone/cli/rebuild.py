"""`rebuild`: make projections anew from the log, at once or step by step."""

import asyncio
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from runtime.errors import InvalidInput
from standalone.cli.common import (
    DATA,
    WORKSPACE,
    Data,
    Json,
    Workspace,
    errors,
    note,
    print_json,
    quiet_logs,
    show,
    silent,
)
from standalone.cli.rebuild_output import Progress, ignore, print_summary
from standalone.embedded.data_folder import DataFolder

if TYPE_CHECKING:
    from standalone.operations.projections import RebuildRequest
    from standalone.operations.target import Target

# `--help` answers at once: the stores' drivers are loaded by the command that needs them.
# ruff: noqa: PLC0415

Projections = Literal["status", "graph", "vectors", "all"]
Work = Literal["status", "graph", "vectors", "all", "start", "await", "promote", "rollback", "cleanup"]


def rebuild(
    what: Annotated[Work, typer.Argument(help="A projection, all of them, or a step.")],
    projection: Annotated[Projections, typer.Argument(help="Behind a step: which one.")] = "all",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be read and made, and how long it takes; change nothing.")
    ] = False,
    events_per_second: Annotated[
        int, typer.Option(min=0, metavar="N", help="Read at most so many events a second; 0: as many as possible.")
    ] = 0,
    rollback: Annotated[bool, typer.Option("--rollback", help="Go back to the generation before the last.")] = False,
    accept_loss: Annotated[
        bool, typer.Option("--accept-loss", help="With all: the log lost events; go on with those that it has.")
    ] = False,
    embedding_model: Annotated[
        str, typer.Option(metavar="NAME", help="Make the vectors by this model. Only so is the model ever changed.")
    ] = "",
    fresh: Annotated[
        bool,
        typer.Option("--fresh", help="Move the store's data aside first, as for a damaged one, and start it empty."),
    ] = False,
    embedding_dim: Annotated[int, typer.Option(min=0, help="Its dimension, where that is not known.")] = 0,
    reason: Annotated[str, typer.Option(help="Why, for whoever looks while it is under way.")] = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Read the log from its beginning into a new generation, compare, and switch to it with one write.

    The live generation serves on meanwhile. Nothing is published and no language model is called. Killed half way, it
    can simply be started again. All workspaces are rebuilt; the digests compared are those of the one named.

    In steps: `start [PROJECTION]` fills and compares, and switches nothing; `promote` switches to that, after it has
    caught up with the log; `rollback [PROJECTION]` goes back; `cleanup [PROJECTION]` drops what is neither live nor the
    generation before, also what waits for promotion; `await` waits until none is under way. `rebuild status` rebuilds
    the status: how far a rebuild is, `lightstream projections list` shows.

    Vectors are made by the model that the stack runs with. Where another one made the live vectors, or is to make the
    new ones, say which with --embedding-model: the running services then embed with that.

    With --fresh the store is emptied first: its folder is moved aside, and questions answer 503 or find less until the
    rebuild has switched. That is for a store that cannot open its data.
    """
    with errors(as_json):
        quiet_logs()
        from contracts.graph import PROJECTIONS
        from standalone.operations.projections import RebuildRequest

        if what in ("status", "graph", "vectors", "all"):
            step, projection = "rollback" if rollback else "run", what
        else:
            step = what
        _refuse_odd_options(step, projection, accept_loss=accept_loss, fresh=fresh, rollback=rollback)
        targets = PROJECTIONS if projection == "all" else (projection,)
        if embedding_model and "vectors" not in targets:
            raise InvalidInput(f"--embedding-model says what makes vectors, and {projection} has none")
        wanted = RebuildRequest(
            targets, embedding_model, embedding_dim, emptied_before=fresh, events_per_second=events_per_second,
            reason=reason,
        )  # fmt: skip
        with ExitStack() as held:
            aside = held.enter_context(_empty_stores(data, projection, as_json)) if fresh and not dry_run else []
            work = _work("accept_loss" if accept_loss else "plan" if dry_run else step, wanted, workspace, as_json)
            result = _run(work, data, held, locked=not fresh and not dry_run and step != "await")
        if aside:
            result["aside"] = aside
        if as_json:
            print_json(result)
        elif dry_run or step in ("await", "cleanup"):
            show(result)
        else:
            print_summary(result, "waits for promotion" if step == "start" else "is live")


def _refuse_odd_options(step: str, projection: str, *, accept_loss: bool, fresh: bool, rollback: bool) -> None:
    if accept_loss and (projection != "all" or step != "run"):
        raise InvalidInput("a loss of the log concerns all projections: `lightstream rebuild all --accept-loss`")
    if rollback and step != "rollback":
        raise InvalidInput(f"--rollback is a step of its own: give it without {step}")
    if fresh and step == "rollback":
        raise InvalidInput("--fresh leaves no generation to go back to: give it without --rollback")
    if fresh and step != "run":
        raise InvalidInput(f"--fresh empties the live store, which must be filled at once: give it without {step}")


def _run(work: "Callable[[Target], dict[str, Any]]", data: Data, held: ExitStack, *, locked: bool) -> dict[str, Any]:
    from standalone.operations.target import select_target

    stack = select_target(data)
    if locked:
        held.enter_context(stack.rebuild_lock())
    return work(stack)


def _work(step: str, wanted: "RebuildRequest", workspace: str, as_json: bool) -> "Callable[[Target], dict[str, Any]]":
    """Return what the step does to a stack."""
    from runtime.projections import rebuild_candidate
    from standalone.operations import projections
    from standalone.operations.publishing import connect_bus

    report = ignore if as_json else Progress()

    async def run(stack: "Target") -> dict[str, Any]:
        match step:
            case "plan":
                async with connect_bus(stack.settings.nats_url) as bus:
                    return await rebuild_candidate.plan(bus, wanted.targets, wanted.events_per_second)
            case "start":
                return await projections.start(stack, wanted, report, workspace)
            case "await":
                await projections.wait_for_rebuild(stack.settings, report)
                return {}
            case "promote":
                return await projections.promote(stack, wanted, report)
            case "rollback":
                return await projections.rollback(stack, wanted, report)
            case "cleanup":
                await projections.cleanup(stack, wanted.targets)
                return {"targets": list(wanted.targets)}
            case "accept_loss":
                return await projections.accept_loss(stack, wanted, report, workspace)
            case _:
                return await projections.rebuild(stack, wanted, report, workspace)

    return lambda stack: asyncio.run(run(stack))


@contextmanager
def _empty_stores(data: Data, projection: str, as_json: bool) -> Generator[list[str]]:
    """Empty the stores of a data folder, and give where their former data are. Inside nobody else rebuilds it."""
    from standalone.operations.empty_stores import empty_stores
    from standalone.operations.target import named_by_environment

    if named_by_environment(data):
        raise InvalidInput(
            "--fresh is for the stack of a data folder: empty the store of a deployment by its own means"
        )
    folder = DataFolder.at(data)
    if not folder.path.is_dir():
        folder.ready_state()
    with folder.rebuild_lock():
        yield [str(path) for path in empty_stores(folder, projection, silent if as_json else note)]
