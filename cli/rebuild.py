"""`rebuild`: make projections anew from the log, at once or step by step."""

import asyncio
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from cli.audit_lines import audit_line
from cli.common import (
    DATA,
    WORKSPACE,
    Data,
    Json,
    Reason,
    Workspace,
    errors,
    note,
    print_json,
    quiet_logs,
    show,
    silent,
)
from cli.moving import MoveOptions, move_stores
from cli.rebuild_options import (
    refuse_odd_end,
    refuse_odd_model,
    refuse_odd_move,
    refuse_odd_options,
    workspaces_rebuilt,
)
from cli.rebuild_output import print_summary
from cli.rebuild_work import rebuild_work
from embedded.data_folder import DataFolder
from runtime.errors import InvalidInput

if TYPE_CHECKING:
    from contracts.graph import Projection
    from contracts.partitions import LogPosition
    from operations.projections import RebuildRequest
    from operations.target import Target

# `--help` answers at once: the stores' drivers are loaded by the command that needs them.

Projections = Literal["status", "graph", "vectors", "all"]
Work = Literal[
    "status", "graph", "vectors", "all", "start", "check", "await", "promote", "rollback", "cleanup"
]


def rebuild(
    what: Annotated[Work, typer.Argument(help="A projection, all of them, or a step.")],
    projection: Annotated[Projections, typer.Argument(help="Behind a step: which one.")] = "all",
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Say what would be read and made, and how long it takes; change nothing.",
        ),
    ] = False,
    events_per_second: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="Read at most so many events a second; 0: as many as possible."
        ),
    ] = 0,
    rollback: Annotated[
        bool, typer.Option("--rollback", help="Go back to the generation before the last.")
    ] = False,
    accept_loss: Annotated[
        bool,
        typer.Option(
            "--accept-loss", help="With all: the log lost events; go on with those that it has."
        ),
    ] = False,
    embedding_model: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Make the vectors by this model. Only so is the model ever changed.",
        ),
    ] = "",
    fresh: Annotated[
        bool,
        typer.Option(
            "--fresh",
            help="Move the store's data aside first, as for a damaged one, and start it empty.",
        ),
    ] = False,
    embedding_dim: Annotated[
        int, typer.Option(min=0, help="Its dimension, where that is not known.")
    ] = 0,
    compare: Annotated[
        Path | None,
        typer.Option(
            metavar="QUESTIONS.txt",
            dir_okay=False,
            help=(
                "With start: ask these, one a line, of the live and the new vectors; show how "
                "they differ."
            ),
        ),
    ] = None,
    to_seq: Annotated[
        list[int] | None,
        typer.Option(
            "--to-seq",
            metavar="SEQ",
            min=0,
            help="With start and check: read the log up to there; one for each partition.",
        ),
    ] = None,
    to_time: Annotated[
        str,
        typer.Option(
            "--to-time", metavar="TIME", help="The same by time: 2026-03-01T12:00:00Z; else UTC."
        ),
    ] = "",
    to: Annotated[
        Path | None,
        typer.Option(
            metavar="ENV_FILE",
            dir_okay=False,
            exists=True,
            help="With all: fill the stores that this file names, while the present ones serve.",
        ),
    ] = None,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes",
            help=(
                "Go live although golden questions fare worse; with cleanup: also remove what "
                "--fresh and `repair` left in the data folder."
            ),
        ),
    ] = False,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Read the log from its beginning into a new generation, compare, and switch to it with one
    write.

    The live generation serves on meanwhile. Nothing is published and no language model is called.
    Killed half way, it can simply be started again. All workspaces are rebuilt; the digests
    compared are those of the one named.

    Before the switch the golden questions of all workspaces are asked of the new generations. Where
    fewer pass than in the last run, you are asked, or without a terminal nothing is switched and
    the command ends with code 1; --yes goes on.

    In steps: `start [PROJECTION]` fills and compares, and switches nothing; `promote` switches to
    that, after it has caught up with the log; `rollback [PROJECTION]` goes back; `cleanup
    [PROJECTION]` drops what is neither live nor the generation before, also what waits for
    promotion; `await` waits until none is under way. `check [PROJECTION]` makes one workspace anew,
    compares it with what is live, and drops it. `start` and `check` stop at --to-seq or --to-time;
    `promote` reads the rest. `rebuild status` rebuilds the status: how far a rebuild is,
    `lightstream projections list` shows.

    Vectors are made by the model that the stack runs with. Where another one made the live vectors,
    or is to make the new ones, say which with --embedding-model: the running services then embed
    with that.

    With --compare, `start` also asks questions of what is live and of what is new, each embedded by
    the model that made its vectors: overlap@10 of the passages found, those that only one of them
    finds, and both answers where they differ. Where a language model answers questions, it is paid
    for these. Nothing is switched.

    With --to, which is for all, other stores are filled from the same log and nothing is switched:
    ENV_FILE has a line NAME=value for each of DOCUMENTS_URL, NEO4J_URI, MILVUS_URI and what belongs
    to them. Given again, it goes on where the log has grown since; services that are then started
    with these variables serve from there.

    With --fresh the store is emptied first: its folder is moved aside, and questions answer 503 or
    find less until the rebuild has switched. That is for a store that cannot open its data.
    """
    only_looks = dry_run or what in ("check", "await")
    about = {"projection": projection, "to": str(to or "")}
    with (
        errors(as_json),
        audit_line(f"rebuild {what}", data, reason, changes=not only_looks, **about),
    ):
        quiet_logs()
        from contracts.graph import PROJECTIONS  # noqa: PLC0415
        from operations.projections import RebuildRequest  # noqa: PLC0415

        if what in ("status", "graph", "vectors", "all"):
            step = "rollback" if rollback else "run"
            projection = what
        else:
            step = what
        refuse_odd_options(
            step, projection, accept_loss=accept_loss, is_fresh=fresh, rollback=rollback
        )
        refuse_odd_end(step, projection, to_seq or (), to_time)
        if to:
            refuse_odd_move(
                step, projection, accept_loss, embedding_model, embedding_dim, fresh, compare
            )
            options = MoveOptions(data, workspace, reason, events_per_second, dry_run, as_json)
            move_stores(to, options)
            return
        targets = PROJECTIONS if projection == "all" else (projection,)
        refuse_odd_model(projection, embedding_model, targets)
        questions = _questions(compare, step, targets)
        request = RebuildRequest(
            targets,
            embedding_model,
            embedding_dim,
            emptied_before=fresh,
            events_per_second=events_per_second,
            until=_end(data, to_seq or (), to_time, workspace if step == "check" else None),
            reason=reason,
        )
        step = "accept_loss" if accept_loss else step
        order = _Order(step, data, workspace, projection, questions, dry_run, fresh, yes, as_json)
        _print_result(_carry_out(order, request), "plan" if dry_run else step, as_json)


class _Order(NamedTuple):
    """What a command asks for, beside the rebuild itself."""

    step: str
    data: Data
    workspace: str
    projection: str
    questions: list[str]
    dry_run: bool
    is_fresh: bool
    says_yes: bool
    as_json: bool


def _carry_out(order: _Order, request: "RebuildRequest") -> dict[str, Any]:
    """Do the step and return what it gives, with what else the options ask for."""
    note_workspaces = not order.as_json and not order.dry_run
    if note_workspaces and (sentence := workspaces_rebuilt(order.step, order.workspace)):
        note(sentence)
    aside: list[str] = []
    with ExitStack() as locks:
        if order.is_fresh and not order.dry_run:
            aside = locks.enter_context(_empty_stores(order.data, order.projection, order.as_json))
        work = rebuild_work(
            "plan" if order.dry_run else order.step,
            request,
            order.workspace,
            as_json=order.as_json,
            goes_on=order.says_yes,
        )
        is_locked = not order.is_fresh and not order.dry_run and order.step != "await"
        result = _run(work, order.data, locks, is_locked=is_locked)
    if aside:
        result["aside"] = aside
    if order.step == "cleanup":
        result |= _leftovers(order.data, remove=order.says_yes and not order.dry_run)
    if order.questions and not order.dry_run:
        generations = result["generations"]
        result["compared"] = _compared(
            order.data, request, generations, order.workspace, order.questions
        )
    return result


def _print_result(result: dict[str, Any], step: str, as_json: bool) -> None:
    if as_json:
        print_json(result)
    elif step in ("plan", "await", "cleanup"):
        show(result)
    else:
        print_summary(
            result,
            {"start": "waits for promotion", "check": "is dropped again"}.get(step, "is live"),
        )


def _leftovers(data: Data, *, remove: bool) -> dict[str, Any]:
    """Return the copies of data that were left in the data folder, with their bytes; they are
    removed if so wanted.
    """
    from operations.leftovers import leftovers, remove_leftovers  # noqa: PLC0415
    from operations.query_service import named_by_environment  # noqa: PLC0415

    if named_by_environment(data):
        return {}
    folder = DataFolder.at(data).path
    sizes = {str(path): size for path, size in leftovers(folder).items()}
    if not sizes:
        return {}
    if remove:
        remove_leftovers(folder)
    else:
        note("  --yes removes what was left")
    return {"leftovers": sizes, "removed": remove}


def _questions(path: Path | None, step: str, targets: Sequence[str]) -> list[str]:
    if path is None:
        return []
    from operations.question_comparison import read_questions  # noqa: PLC0415

    if step != "start" or "vectors" not in targets:
        raise InvalidInput(
            "--compare is for `rebuild start vectors` or `start all`: what waits is promoted "
            "afterwards"
        )
    return read_questions(path)


def _compared(
    data: Data,
    request: "RebuildRequest",
    generations: "dict[Projection, int]",
    workspace: str,
    questions: list[str],
) -> dict[str, Any]:
    from operations.question_comparison import compare_waiting  # noqa: PLC0415
    from operations.target import select_target  # noqa: PLC0415

    return asyncio.run(
        compare_waiting(select_target(data), request, generations, workspace, questions)
    )


def _end(
    data: Data, sequences: Sequence[int], time: str, workspace: str | None
) -> "LogPosition | None":
    """Return the place in the log at which a rebuild is to stop, None for its end. Raises
    InvalidInput where nothing is before it.
    """
    if not sequences and not time:
        return None
    from operations.command_bus import connect_bus  # noqa: PLC0415
    from operations.target import select_target  # noqa: PLC0415
    from runtime.bus.nats.log import NatsLog  # noqa: PLC0415
    from runtime.bus.points import position_at, position_of  # noqa: PLC0415

    async def find() -> "LogPosition":
        async with connect_bus(select_target(data).settings.nats_url) as bus:
            log = NatsLog(bus)
            if time:
                return await position_at(log, time)
            return await position_of(log, sequences, workspace)

    position = asyncio.run(find())
    if not position.event_count:
        raise InvalidInput(f"the log had no event by {time or sequences}")
    return position


def _run(
    work: "Callable[[Target], dict[str, Any]]", data: Data, locks: ExitStack, *, is_locked: bool
) -> dict[str, Any]:
    from operations.target import select_target  # noqa: PLC0415

    stack = select_target(data)
    if is_locked:
        locks.enter_context(stack.rebuild_lock())
    return work(stack)


@contextmanager
def _empty_stores(data: Data, projection: str, as_json: bool) -> Generator[list[str]]:
    """Empty the stores of a data folder, and give where their former data are. Inside nobody else
    rebuilds it.
    """
    from operations.empty_stores import empty_stores  # noqa: PLC0415
    from operations.query_service import named_by_environment  # noqa: PLC0415

    if named_by_environment(data):
        raise InvalidInput(
            "--fresh is for the stack of a data folder: empty the store of a deployment by "
            "its own means"
        )
    folder = DataFolder.at(data)
    if not folder.path.is_dir():
        folder.ready_state()
    with folder.rebuild_lock():
        yield [str(path) for path in empty_stores(folder, projection, silent if as_json else note)]
