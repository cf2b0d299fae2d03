"""Runs one call of a command against the query service of the stack."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from cli.common import tell_retries

if TYPE_CHECKING:
    from lightstream_rag.client import AsyncLightstream

T = TypeVar("T")


def call_query_service(
    data: Path | None, workspace: str, act: "Callable[[AsyncLightstream], Awaitable[T]]"
) -> T:
    """Return what the call gives. Raises errors of `lightstream_rag.errors`, and NoStack."""
    # `--help` answers at once: the client is loaded by the command that needs it.
    from operations.query_service import query_address, query_client  # noqa: PLC0415

    async def run() -> T:
        async with query_client(query_address(data), workspace) as client:
            return await act(client)

    tell_retries()
    return asyncio.run(run())
