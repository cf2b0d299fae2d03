"""Every store made anew from the log that an erasure leaves, and the files rewritten."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from contracts.graph import PROJECTIONS
from embedded.stores import GRAPH
from operations import projections
from operations.empty_stores import empty_stores
from operations.erasure.caches import empty_caches, remove_from_archive, sweep_embeddings
from operations.erasure.files import clean_files
from operations.erasure.removal import total
from operations.open_stack import open_prepared
from operations.projections import RebuildRequest
from operations.target import Target
from runtime.bus.nats.key_values import NatsLiveGenerations

Report = Callable[[str], None]


async def make_stores_anew(
    target: Target, documents: Sequence[tuple[str, str]], report: Report
) -> dict[str, int]:
    """Rebuild everything from the log as it is now, and return what went from caches and files.
    `documents`: workspace and id of each that was erased. Repeats change nothing.
    """
    workspaces = list(dict.fromkeys(workspace for workspace, _ in documents))
    with target.rebuild_lock():
        async with open_prepared(target.settings) as stack:
            rows = stack.stores.rows
            counts = total([await empty_caches(rows, workspace) for workspace in workspaces])
            copies = [await remove_from_archive(rows, *document) for document in documents]
            counts["archive"] = sum(copies)
        folder = target.folder_of_stores
        if folder and GRAPH.has_server(folder.path):
            await asyncio.to_thread(empty_stores, folder, GRAPH.name, report)
        request = RebuildRequest(PROJECTIONS, emptied_before=True)
        await projections.rebuild(target, request, _steps(report), workspaces[0])
        async with open_prepared(target.settings) as stack:
            live = await (await NatsLiveGenerations.bind(stack.client.jetstream())).live()
            counts["embeddings"] = 0
            for workspace in workspaces:
                generation = live.of_workspace(workspace).vectors
                async with stack.stores_of_generation(generation) as stores:
                    counts["embeddings"] += await sweep_embeddings(
                        stores.rows, stores.vectors, workspace, generation
                    )
        if target.folder:
            report("rewriting the files")
            counts |= await asyncio.to_thread(clean_files, target.folder.path)
    return counts


def _steps(report: Report) -> Callable[[dict[str, Any]], None]:
    return lambda step: report(", ".join(f"{name} {value}" for name, value in step.items()))
