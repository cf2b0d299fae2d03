"""Bring rows of the vector store up to date: find those that are not, embed their texts, write
them.
"""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar, cast

from contracts.graph import Partition, VectorKind, VectorRow
from runtime.stores.vectors.port import RowVersion, Vectors
from services.indexer.port import Embeddings

T = TypeVar("T")


class Outdated(NamedTuple):
    """The rows of one kind to write, and the ids of those whose text has changed."""

    kind: VectorKind
    rows: list[VectorRow]
    changed: set[str]


async def find_outdated(
    partition: Partition, kind: VectorKind, rows: Mapping[str, VectorRow], vectors: Vectors
) -> Outdated:
    """Compare rows with the stored ones.

    Entities and relations of revision 1 count as new without being looked for: they are not there,
    or of a graph that was rebuilt and starts counting again, or of a delivery that was interrupted,
    and then the same is written again.
    """
    known = [row.id for row in rows.values() if kind == "chunks" or row.version > 1]
    stored = await vectors.versions(partition, kind, known)
    outdated = [
        row
        for row in rows.values()
        if row.id not in stored or _is_outdated(kind, stored[row.id], row)
    ]
    changed = {
        row.id
        for row in outdated
        if row.id not in stored or stored[row.id].text_hash != row.text_hash
    }
    return Outdated(kind, outdated, changed)


async def embed_and_put(
    partition: Partition, all_outdated: Sequence[Outdated], vectors: Vectors, embeddings: Embeddings
) -> None:
    """Embed the texts of all kinds in one call, and write the rows."""
    texts = [row.text for outdated in all_outdated for row in outdated.rows]
    new_vectors = iter(await embeddings.embed(partition.workspace, texts))
    with_vectors: list[tuple[VectorKind, list[VectorRow]]] = [
        (outdated.kind, [replace(row, vector=next(new_vectors)) for row in outdated.rows])
        for outdated in all_outdated
    ]
    await together(*(vectors.put(partition, kind, rows) for kind, rows in with_vectors if rows))


async def together(*calls: Coroutine[Any, Any, T]) -> list[T]:
    """Make these calls at the same time, and return their results. Raises the error of the first
    that failed.
    """
    results = await asyncio.gather(*calls, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return cast(list[T], results)


def _is_outdated(kind: VectorKind, stored: RowVersion, row: VectorRow) -> bool:
    # A chunk never replaces one of a newer version, so a newer one is written even with the same
    # text (its vector is cached). Revisions of the graph are not compared: a rebuilt graph counts
    # them from the beginning.
    if kind == "chunks" and stored.version != row.version:
        return stored.version < row.version
    return stored.text_hash != row.text_hash
