"""`erase`: documents out of the log, out of every store and out of the files, for good."""

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

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
    show,
    silent,
)
from runtime.errors import InvalidInput

if TYPE_CHECKING:
    from operations.erasure.erase import Erasure
    from operations.erasure.receipts import Receipt
    from operations.target import Target

# `--help` answers at once: the bus is loaded by the command that needs it.

Documents = Annotated[
    list[str] | None,
    typer.Argument(metavar="[DOCUMENT…]", help="Ids or file names, as `status` has them."),
]
Requested = Annotated[
    bool, typer.Option("--requested", help="The documents that clients of the API asked to erase.")
]
ReceiptFile = Annotated[
    Path | None,
    typer.Option(
        "--receipt", metavar="FILE", help="Write the receipt there, as JSON.", dir_okay=False
    ),
]


def erase(
    documents: Documents = None,
    requested: Requested = False,
    yes: Yes = False,
    reason: Reason = "",
    receipt: ReceiptFile = None,
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Erase documents for good: from the log, the stores, the caches and the files. There is no way
    back.

    Stores are made anew from what is left of the log, so it takes as long as `rebuild all`, and of
    an embedded stack the graph is empty meanwhile. A killed erasure is started again by the same
    command. `delete` is the quick way that can be undone by hand: it takes a document out of
    answers and leaves its events.
    """
    with errors(as_json):
        if bool(documents) == requested:
            raise typer.BadParameter("name documents, or give --requested")
        quiet_logs()
        from operations.erasure.erase import Erasure  # noqa: PLC0415
        from operations.target import select_target  # noqa: PLC0415

        target = select_target(data)
        erasure = Erasure(workspace, documents or _requested(target, workspace), reason)
        if not erasure.documents:
            raise InvalidInput(f"nobody asked for an erasure in workspace {workspace}")
        if not yes:
            _show_plan(target, erasure, as_json)
            return
        _show_receipts(_erase(target, erasure, as_json), receipt, as_json)


def _requested(target: "Target", workspace: str) -> list[str]:
    from operations.erasure.erase import requested  # noqa: PLC0415

    return asyncio.run(requested(target, workspace))


def _show_plan(target: "Target", erasure: "Erasure", as_json: bool) -> None:
    from operations.erasure.erase import not_reached, plan  # noqa: PLC0415

    plans = asyncio.run(plan(target, erasure))
    remarks = asyncio.run(not_reached(target))
    counts = [
        {
            "document": counts_of_plan.history.id,
            "workspace": counts_of_plan.history.workspace,
            **counts_of_plan.counts(),
            "shared_blobs": len(counts_of_plan.shared_blobs),
            "types": dict(counts_of_plan.history.counts),
        }
        for counts_of_plan in plans
    ]
    if as_json:
        print_json({"would_erase": counts, "remarks": remarks})
        return
    for erasure_plan in counts:
        show(erasure_plan)
    for remark in remarks:
        note(remark)
    note("nothing is erased without --yes")


def _erase(target: "Target", erasure: "Erasure", as_json: bool) -> "list[Receipt]":
    from operations.erasure.erase import erase  # noqa: PLC0415

    return asyncio.run(
        erase(target, erasure, silent if as_json else lambda step: note(f"  {step}"))
    )


def _show_receipts(receipts: "list[Receipt]", file: Path | None, as_json: bool) -> None:
    contents = [receipt.as_json() for receipt in receipts]
    if file:
        file.write_text(json.dumps(contents, indent=2, ensure_ascii=False) + "\n", "utf-8")
    if as_json:
        print_json({"erased": contents})
        return
    for receipt in receipts:
        echo(f"erased {receipt.document}: {len(receipt.events)} events, receipt {receipt.sha256}")
        show(dict(receipt.counts), "  ")
        for remark in receipt.remarks:
            note(f"  {remark}")
