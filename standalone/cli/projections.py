"""`digest` and `rebuild`: what the stores hold, in one number, and how to make it anew from the log."""

import asyncio
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from typing import Annotated, Any, Literal

import typer

from runtime.errors import InvalidInput
from standalone.cli.common import (
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
from standalone.embedded.data_folder import DataFolder

# `--help` answers at once: the stores' drivers are loaded by the command that needs them.
# ruff: noqa: PLC0415

MAX_SHOWN = 20
"""Events of a newer version that are listed."""

Projections = Literal["status", "graph", "vectors", "all"]


def digest(data: Data = DATA, as_json: Json = False, workspace: Workspace = WORKSPACE) -> None:
    """The canonical SHA-256 of status, graph and vectors, and counts. Equal digests mean equal contents."""
    with errors(as_json):
        quiet_logs()
        from standalone.operations.projections import digests
        from standalone.operations.target import select_target

        found = asyncio.run(digests(select_target(data).settings, workspace))
        if as_json:
            print_json(found)
        else:
            _show(found)


def rebuild(
    projection: Annotated[Projections, typer.Argument(help="Which one.")],
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
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Read the log from its beginning into a new generation, compare, and switch to it with one write.

    The live generation serves on meanwhile. Nothing is published and no language model is called. Killed half way, it
    can simply be started again. All workspaces are rebuilt; the digests compared are those of the one named.

    Vectors are made by the model that the stack runs with. Where another one made the live vectors, or is to make the
    new ones, say which with --embedding-model: the running services then embed with that.

    With --fresh the store is emptied first: its folder is moved aside, and questions answer 503 or find less until the
    rebuild has switched. That is for a store that cannot open its data.
    """
    with errors(as_json):
        quiet_logs()
        from contracts.graph import PROJECTIONS
        from standalone.operations import projections
        from standalone.operations.target import select_target

        if accept_loss and (projection != "all" or rollback):
            raise InvalidInput("a loss of the log concerns all projections: `lightstream rebuild all --accept-loss`")
        targets = PROJECTIONS if projection == "all" else (projection,)
        if embedding_model and "vectors" not in targets:
            raise InvalidInput(f"--embedding-model says what makes vectors, and {projection} has none")
        wanted = projections.RebuildRequest(targets, embedding_model, embedding_dim, emptied_before=fresh)
        report = _ignore if as_json else _step
        with ExitStack() as held:
            aside = held.enter_context(_empty_stores(data, projection, rollback, as_json)) if fresh else []
            stack = select_target(data)
            if not fresh:
                held.enter_context(stack.rebuild_lock())
            if accept_loss:
                result = asyncio.run(projections.accept_loss(stack, wanted, report, workspace))
            elif rollback:
                result = asyncio.run(projections.rollback(stack, wanted, report))
            else:
                result = asyncio.run(projections.rebuild(stack, wanted, report, workspace))
        if aside:
            result["aside"] = aside
        if as_json:
            print_json(result)
        else:
            _summary(result)


@contextmanager
def _empty_stores(data: Data, projection: str, rollback: bool, as_json: bool) -> Generator[list[str]]:
    """Empty the stores of a data folder, and give where their former data are. Inside nobody else rebuilds it."""
    from standalone.operations.empty_stores import empty_stores
    from standalone.operations.target import named_by_environment

    if rollback:
        raise InvalidInput("--fresh leaves no generation to go back to: give it without --rollback")
    if named_by_environment(data):
        raise InvalidInput(
            "--fresh is for the stack of a data folder: empty the store of a deployment by its own means"
        )
    folder = DataFolder.at(data)
    if not folder.path.is_dir():
        folder.ready_state()
    with folder.rebuild_lock():
        yield [str(path) for path in empty_stores(folder, projection, silent if as_json else note)]


def _ignore(_: dict[str, Any]) -> None:
    """Steps are for people."""


def _step(step: dict[str, Any]) -> None:
    note("  " + ", ".join(f"{name} {value}" for name, value in step.items()))


def _summary(result: dict[str, Any]) -> None:
    """A line for each projection, then the figures."""
    digests: dict[str, Any] = result.pop("digests", {})
    generations: dict[str, int] = result.pop("generations", {})
    for name, generation in generations.items():
        compared = digests.get(name)
        what = "" if compared is None else "as before, " if compared["same"] else "differs from what was live, "
        sha256 = "" if compared is None else f", digest {compared['rebuilt']['sha256']}"
        echo(f"{name:<8} {what}generation {generation} is live{sha256}")
        if compared and compared.get("why"):
            echo(f"         ({compared['why']})")
    result.pop("targets", None)
    newer: list[dict[str, Any]] = result.pop("newer", [])
    _show(result)
    if newer:
        echo(f"{'newer':<16} {len(newer)} events of a version newer than this code were left out:")
        for event in newer[:MAX_SHOWN]:
            whose = f"{event['workspace']}/{event['document']}"
            echo(f"  {event['sequence']:>7}  {event['type']} v{event['version']}  {whose}")
        if len(newer) > MAX_SHOWN:
            echo(f"  … and {len(newer) - MAX_SHOWN} more; --json lists all")
        echo("they are parked; services of the release that knows them handle them, no further rebuild is needed")


def _show(result: dict[str, Any], indent: str = "") -> None:
    for name, value in result.items():
        if isinstance(value, dict):
            echo(f"{indent}{name}")
            _show(value, indent + "  ")  # pyright: ignore[reportUnknownArgumentType]
        else:
            echo(f"{indent}{name:<16} {value}")
