"""`cost` and `budget`: what models were paid for a workspace's documents, and what they may be
paid.
"""

import json
from dataclasses import asdict
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

if TYPE_CHECKING:
    from lightstream_rag.flows import Flow
    from operations.adding import AddOptions
    from operations.documents import DocumentSelection
    from operations.estimate import CostEstimate, EstimateSettings
    from operations.target import Target

# `--help` answers at once: the client is loaded by the command that needs it.

app = typer.Typer(help="What a workspace may spend on extraction.", no_args_is_help=True)


def cost(
    by: Annotated[
        Literal["day", "document", "stage", "model"] | None,
        typer.Option("--by", help="Sum up by this, too."),
    ] = None,
    document: Annotated[
        str, typer.Option("--document", metavar="ID", help="Only what this document cost.")
    ] = "",
    data: Data = DATA,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=1000, help="Documents, the newest, with --by.")
    ] = 100,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Show what models were paid for documents and questions, by the log: calls, tokens, seconds,
    money (MODEL_PRICES).

    Models without a price are shown with their tokens. `--by stage` tells documents from questions
    (`query-…`).
    """
    with errors(as_json):
        query = {name: value for name, value in (("by", by), ("document", document)) if value}
        if by == "document":
            query["limit"] = str(limit)
        report = _call("GET", "/operations/cost", data, workspace, params=query)
        if as_json:
            print_json(report)
            return
        currency = report["currency"]
        echo(f"workspace {workspace}: {_told(report['total'], currency)}")
        if saved_count := report["total"]["saved_results"]:
            money = _money(report["total"]["saved_money"], currency)
            echo(
                f"cached results saved {saved_count} extractions, "
                f"{report['total']['saved_tokens']:,} tokens{money}"
            )
        has_others = (report.get("documents") or 0) > limit
        unnamed = "(others, and no single document)" if has_others else "(no single document)"
        for group in report["groups"]:
            echo(line(f"  {group['name'] or unnamed}: {_told(group, currency)}"))
        if report["budget"]["period"]:
            _show_budget(report["budget"])
        for events in _call("GET", "/operations/parked", data, workspace)["parked"]:
            if events["reason"] == "awaiting-batch":
                echo(line(events["summary"]))


@app.command("set")
def set_(
    money: Annotated[
        float | None, typer.Option("--money", min=0, help="Limit in the currency of MODEL_PRICES.")
    ] = None,
    tokens: Annotated[
        int | None, typer.Option("--tokens", min=0, help="Limit of tokens, read and written.")
    ] = None,
    per: Annotated[
        Literal["total", "month", "day"],
        typer.Option("--per", help="What it is for: for ever, or each anew, in UTC."),
    ] = "total",
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Limit what is spent on documents. At the limit extraction waits, and goes on by itself once
    it is raised.
    """
    if money is None and tokens is None:
        raise typer.BadParameter("give --money or --tokens; `budget clear` takes a limit back")
    with errors(as_json):
        body = {"money": money, "tokens": tokens, "period": per, "reason": reason}
        _shown(_call("PUT", "/operations/budget", data, workspace, json=body), as_json)


@app.command()
def show(data: Data = DATA, as_json: Json = False, workspace: Workspace = WORKSPACE) -> None:
    """Show the limit, and what was spent of it."""
    with errors(as_json):
        _shown(_call("GET", "/operations/budget", data, workspace), as_json)


@app.command()
def clear(
    yes: Yes = False,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Take the limit back: what waits for it is paid then."""
    with errors(as_json):
        if yes:
            _shown(
                _call("DELETE", "/operations/budget", data, workspace, params={"reason": reason}),
                as_json,
            )
            return
        budget = _call("GET", "/operations/budget", data, workspace)
        if as_json:
            print_json({"would_clear": budget if budget["period"] else None})
            return
        _show_budget(budget)
        note("nothing is cleared without --yes")


def _shown(state: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(state)
    else:
        _show_budget(state)


def _show_budget(state: dict[str, Any]) -> None:
    if not state["period"]:
        echo("no budget is set")
        return
    money = state["money"]
    tokens = state["tokens"]
    currency = state["currency"]
    limits = [f"{money:g} {currency}"] if money is not None else []
    limits += [f"{tokens:,} tokens"] if tokens is not None else []
    period = "" if state["period"] == "total" else f" a {state['period']}"
    spent_line = f"{state['spent_tokens']:,} tokens{_money(state['spent_money'], currency)}"
    echo(f"budget {' and '.join(limits)}{period}; spent {spent_line}")
    if state["exceeded"]:
        echo(f"extraction waits: {state['exceeded']}; raise it with `lightstream budget set`")


def _told(costs: dict[str, Any], currency: str) -> str:
    """Return one sum as a person reads it."""
    cached_part = f" ({costs['cached']:,} cached by the provider)" if costs["cached"] else ""
    unpriced_part = f", {costs['unpriced']:,} tokens without a price" if costs["unpriced"] else ""
    tokens = f"{costs['prompt']:,} tokens read{cached_part}, {costs['completion']:,} written"
    batch_part = f" ({costs['batch_calls']:,} in batches)" if costs.get("batch_calls") else ""
    return (
        f"{costs['calls']:,} calls{batch_part}, {tokens}, {costs['seconds']:g} "
        f"s{_money(costs['money'], currency)}{unpriced_part}"
    )


def _money(amount: float | None, currency: str) -> str:
    return "" if amount is None else f", {amount:.4f} {currency}"


async def estimate_added(
    target: "Target",
    documents: "DocumentSelection",
    options: "AddOptions",
    as_json: bool,
    workspace: str,
) -> bool:
    """Print what adding these documents may cost; return whether any was refused."""
    from operations.estimate import estimate_cost  # noqa: PLC0415

    cost_estimate = await estimate_cost(
        documents.sources,
        await estimate_settings(target, workspace),
        encoding=options.encoding,
        chunking=options.chunking,
    )
    cost_estimate.refused[:0] = documents.refused
    show_estimate(cost_estimate, "nothing was added", as_json)
    return bool(cost_estimate.refused)


async def read_costs(target: "Target", workspace: str) -> dict[str, Any]:
    """Return what was paid for the workspace, by stage."""
    from operations.query_service import query_client  # noqa: PLC0415

    async with query_client(target.api, workspace) as client:
        return await client.run(_request("GET", "/operations/cost", params={"by": "stage"}))


async def estimate_settings(target: "Target", workspace: str) -> "EstimateSettings":
    """Return by what an estimate is made: the settings, and what calls took so far."""
    from operations.estimate import EstimateSettings, PastCalls  # noqa: PLC0415
    from runtime.costs.report import CostSum  # noqa: PLC0415
    from services.chunker.settings import ChunkerSettings  # noqa: PLC0415
    from services.extractor.settings import ExtractorSettings  # noqa: PLC0415

    names = ("calls", "prompt", "completion")
    groups = {
        group["name"]: CostSum(**{name: group[name] for name in names})
        for group in (await read_costs(target, workspace))["groups"]
    }
    return EstimateSettings(
        target.settings_of(ChunkerSettings),
        target.settings_of(ExtractorSettings),
        past=PastCalls.of(groups),
        workspace=workspace,
    )


def show_estimate(cost_estimate: "CostEstimate", what_was_done: str, as_json: bool) -> None:
    """Print an estimate, and that nothing came of it yet."""
    if as_json:
        print_json({**asdict(cost_estimate), "money": cost_estimate.money})
        return
    money = _money(cost_estimate.money, cost_estimate.currency)
    count = cost_estimate.figures
    figures = f", {counted(count, 'described figure')} among them" if count else ""
    echo(
        f"an estimate, {what_was_done}: {counted(cost_estimate.documents, 'document')}, "
        f"{counted(cost_estimate.chunks, 'chunk')}{figures}{money}"
    )
    for model in cost_estimate.models:
        tokens = (
            f"{model.calls:,} calls, {model.prompt:,} tokens read, {model.completion:,} written"
        )
        echo(
            line(
                f"  {model.model}: "
                f"{tokens}"
                f"{_money(model.money, cost_estimate.currency) or ', no price in MODEL_PRICES'}"
            )
        )
    if not cost_estimate.models:
        echo("  no model is paid: extraction and embeddings run on this machine")
    echo(f"how: {cost_estimate.basis}")
    for document in cost_estimate.refused:
        note(line(f"  refused {document.name}: {document.reason}"))


def _call(method: str, path: str, data: Data, workspace: str, **arguments: Any) -> dict[str, Any]:
    return call_query_service(
        data, workspace, lambda client: client.run(_request(method, path, **arguments))
    )


def _request(method: str, path: str, **arguments: Any) -> "Flow[dict[str, Any]]":
    from lightstream_rag.flows import Call, request  # noqa: PLC0415

    return request(Call(method, path, json.loads, idempotent=True, **arguments))
