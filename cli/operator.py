"""`operator`: takes orders for rebuilds, audits, backups and branches given over HTTP."""

import asyncio

import typer

from cli.common import DATA, Data, echo, errors, quiet_logs

# `--help` answers at once: the bus is loaded by the command that needs it.


def operator(data: Data = DATA) -> None:
    """Take orders for rebuilds, audits, backups and branches given over HTTP, until it is stopped.

    For a deployment, with the operator's credentials of bus and stores in the environment: the
    query service has no right to switch generations. A stack of `lightstream up` takes orders by
    itself.
    """
    with errors(as_json=False):
        quiet_logs()
        asyncio.run(_serve(data))


async def _serve(data: Data) -> None:
    from embedded.operator_process import take_orders_at  # noqa: PLC0415
    from embedded.supervisor import on_stop_signal  # noqa: PLC0415
    from operations.target import select_target  # noqa: PLC0415

    target = select_target(data)
    stop = asyncio.Event()
    options = ["--data", str(target.folder.path)] if target.folder else []
    with on_stop_signal(stop.set):
        async with take_orders_at(target.settings.nats_url, options, lambda line: echo(line)):
            echo(f"takes orders for {target.name}")
            await stop.wait()
    raise typer.Exit(0)
