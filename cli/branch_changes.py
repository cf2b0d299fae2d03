"""`branch diff`, `promote` and `rollback`: what a branch would change, and having it answer."""

import asyncio
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.branches import Name, app, branch_as_json, on_bus, read_named
from cli.client import call_query_service
from cli.common import (
    DATA,
    WORKSPACE,
    Data,
    Json,
    Reason,
    Workspace,
    echo,
    errors,
    note,
    print_json,
)
from cli.terminal import line

if TYPE_CHECKING:
    from lightstream_rag.client import AsyncLightstream
    from lightstream_rag.golden import ComparedAnswers
    from operations.target import Target
    from runtime.branch_comparison import Difference
    from runtime.branches import Branch
    from runtime.golden.comparing import GateResult

# `--help` answers at once: bus and stores are loaded by the command that needs them.


@app.command()
def diff(
    name: Name,
    questions: Annotated[
        bool, typer.Option("--questions", help="Ask the golden questions of both, too.")
    ] = False,
    limit: Annotated[
        int, typer.Option("--limit", min=0, max=100_000, help="Names listed of each kind.")
    ] = 10,
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Show entities and relations that appeared, went and changed in a branch, what both have cost,
    and answers side by side.
    """
    with errors(as_json):
        from operations.target import select_target  # noqa: PLC0415

        branch = on_bus(data, lambda log: read_named(log, workspace, name))
        entities, relations = asyncio.run(_compare(select_target(data), branch))
        costs = asyncio.run(_costs(select_target(data), branch))
        answers: list[ComparedAnswers] = []
        if questions:
            answers = call_query_service(data, workspace, lambda client: _answers(client, name))
        if as_json:
            kinds = {"entities": entities, "relations": relations}
            differences = {kind: changes.as_json(limit) for kind, changes in kinds.items()}
            shown_answers = [answer.model_dump() for answer in answers]
            result = {**branch_as_json(branch), **differences, "cost": costs}
            print_json({**result, "answers": shown_answers})
            return
        _show_difference("entities", entities, limit)
        _show_difference("relations", relations, limit)
        for place, cost in costs.items():
            echo(
                f"{place} was paid {cost['calls']:,} calls, {cost['tokens']:,} tokens{_money(cost)}"
            )
        if questions:
            _show_answers(answers)


@app.command()
def promote(
    name: Name,
    yes: Annotated[
        bool, typer.Option("--yes", help="Also where golden questions fare worse than before.")
    ] = False,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Let a branch answer the questions to its workspace, once the golden questions were asked of
    it. `branch rollback` takes it back at once.
    """
    with errors(as_json):
        branch = on_bus(data, lambda log: read_named(log, workspace, name, with_ended=False))
        call_query_service(
            data, branch.workspace, lambda client: _refuse_incomplete(client, branch)
        )
        run_id = call_query_service(data, workspace, lambda client: _ask_golden(client, branch))

        async def decide(result: "GateResult") -> bool:
            if yes or as_json or not sys.stdin.isatty():
                return yes
            return typer.confirm(f"{result}. Promote it all the same?", err=True)

        async def act(log: Any) -> "GateResult | None":
            from operations.command_bus import SOURCE  # noqa: PLC0415
            from publishing.branch_promotion import promote  # noqa: PLC0415

            return await promote(log, branch, run_id, reason, SOURCE, decide)

        result = on_bus(data, act)
        if as_json:
            print_json({"promoted": name, "golden": str(result) if result else None})
            return
        if result:
            note(str(result))
        echo(f"branch {name} answers for {workspace} now; back with `lightstream branch rollback`")


@app.command()
def rollback(
    reason: Reason = "", data: Data = DATA, as_json: Json = False, workspace: Workspace = WORKSPACE
) -> None:
    """Let the workspace answer its questions itself again."""
    with errors(as_json):

        async def act(log: Any) -> str:
            from operations.command_bus import SOURCE  # noqa: PLC0415
            from publishing.branches import roll_back  # noqa: PLC0415

            return await roll_back(log, workspace, reason, SOURCE)

        name = on_bus(data, act)
        if as_json:
            print_json({"rolled_back": name})
        else:
            echo(f"{workspace} answers itself again, in place of branch {name}")


async def _refuse_incomplete(client: "AsyncLightstream", branch: "Branch") -> None:
    from publishing.branch_promotion import refuse_incomplete  # noqa: PLC0415

    refuse_incomplete(branch, await client.status_counts())


async def _ask_golden(client: "AsyncLightstream", branch: "Branch") -> str:
    """Ask the golden questions of the branch, and return the id of the run; empty without
    questions.
    """
    if not await client.golden_questions():
        return ""
    async with client.run_golden_questions(branch=branch.name, reason="before a promotion") as run:
        async for run_line in run:
            if run_line.run:
                return run_line.run.id
    return ""


async def _compare(target: "Target", branch: "Branch") -> "tuple[Difference, Difference]":
    from operations.open_stack import open_as_is  # noqa: PLC0415
    from runtime.branch_comparison import compare_graphs  # noqa: PLC0415
    from runtime.bus.nats.key_values import NatsLiveGenerations  # noqa: PLC0415

    async with open_as_is(target.settings) as stack:
        live = await (await NatsLiveGenerations.bind(stack.client.jetstream())).live()
        return await compare_graphs(stack.stores.graph, branch, live.graph)


async def _costs(target: "Target", branch: "Branch") -> dict[str, dict[str, Any]]:
    """Return what models were paid for the documents of both."""
    from cli.costs import read_costs  # noqa: PLC0415

    costs: dict[str, dict[str, Any]] = {}
    for place, workspace in (("origin", branch.origin), ("branch", branch.workspace)):
        report = await read_costs(target, workspace)
        groups = [group for group in report["groups"] if not group["name"].startswith("query-")]
        amounts = [group["money"] for group in groups if group["money"] is not None]
        costs[place] = {
            "calls": sum(group["calls"] for group in groups),
            "tokens": sum(group["prompt"] + group["completion"] for group in groups),
            "money": sum(amounts) if amounts else None,
            "currency": report["currency"],
        }
    return costs


async def _answers(client: "AsyncLightstream", branch: str) -> "list[ComparedAnswers]":
    """Return what origin and branch answer to each golden question, and from which files."""
    async with client.compare_answers(branch) as answers:
        return [answer async for answer in answers]


def _show_answers(answers: "list[ComparedAnswers]") -> None:
    if not answers:
        note("the workspace has no golden questions: `lightstream golden add` sets them")
    for comparison in answers:
        echo(line(f"? {comparison.question}"))
        for place, answer in (("origin", comparison.origin), ("branch", comparison.branch)):
            echo(line(f"  {place}: {answer.answer or '-'}"))
            echo(line(f"    from {', '.join(answer.sources) or 'nothing'}"))
            for why in answer.why:
                echo(line(f"    failed: {why}"))


def _show_difference(kind: str, difference: "Difference", limit: int) -> None:
    counts = difference.as_json(limit)
    echo(
        f"{kind}: {counts['appeared']} appeared, {counts['went']} went, {counts['changed']} "
        f"changed, {counts['same']} are the same"
    )
    for mark, part in (("+", "appeared"), ("-", "went"), ("~", "changed")):
        for thing_name in counts[f"{part}_names"]:
            echo(line(f"  {mark} {thing_name}"))


def _money(cost: dict[str, Any]) -> str:
    return "" if cost["money"] is None else f", {cost['money']:.4f} {cost['currency']}"
