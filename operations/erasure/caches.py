"""Empty the caches of a workspace that may hold what a document said; a rebuild fills them again
where the log can.

Which answer quotes a document, and which condensed text read it, is written nowhere. So whole
tables go: extractions, descriptions of figures and summaries come back from the log, answers and
keywords of questions are made anew when somebody asks again.
"""

from collections.abc import AsyncGenerator

from contracts import subjects
from contracts.graph import VECTOR_KINDS, Partition
from runtime.batching import batched
from runtime.projections.embedding_keys import embedding_key, older_embedding_key
from runtime.stores.documents.port import Rows, Table
from runtime.stores.vectors.port import Vectors

DROPPED = ("extractions", "figure_descriptions", "condensed", "keywords", "answers")
"""Tables of generation 0 that are emptied."""

ARCHIVE = "archive"
"""Table with a copy of each event, by the token of its document."""

PAGE = 1000


async def empty_caches(rows: Rows, workspace: str) -> dict[str, int]:
    """Empty them, and return how many rows went by table. Before a rebuild. Raises Unavailable."""
    counts: dict[str, int] = {}
    for name in DROPPED:
        table = Table(name, Partition(workspace, 0))
        counts[name] = len([key async for key in _keys(rows, table)])
        await rows.drop(table)
    return counts


async def remove_from_archive(rows: Rows, workspace: str, id: str) -> int:
    """Remove the copies of the document's events, and return how many there were: of a workspace
    that was moved, those of all partitions. Raises Unavailable.
    """
    token = subjects.token(workspace)
    chains = [partition.workspace for partition in await rows.partitions(ARCHIVE)]
    count = 0
    for chain in {token, *(chain for chain in chains if chain.startswith(f"{token}."))}:
        table = Table(ARCHIVE, Partition(chain, 0))
        records = await rows.find(table, {"document": subjects.token(id)})
        await rows.delete(table, [key for key, _ in records])
        count += len(records)
    return count


async def sweep_embeddings(rows: Rows, vectors: Vectors, workspace: str, generation: int) -> int:
    """Remove the cached vectors of texts that the live vectors do not have, and return how many.
    After a rebuild.

    A text that is embedded at this very moment may be embedded once more later. Raises Unavailable.
    """
    partition = Partition(workspace, generation)
    used_keys = set[str]()
    for kind in VECTOR_KINDS:
        after = ""
        while page := await vectors.scan(partition, kind, after, PAGE):
            for make in (embedding_key, older_embedding_key):
                used_keys |= {make(vectors.model, vectors.dimension, row.text) for row in page}
            after = page[-1].id
    table = Table("embeddings", Partition(workspace, 0))
    unused_keys = [key async for key in _keys(rows, table) if key not in used_keys]
    for batch in batched(unused_keys, PAGE):
        await rows.delete(table, batch)
    return len(unused_keys)


async def _keys(rows: Rows, table: Table) -> AsyncGenerator[str]:
    after = ""
    while page := await rows.scan(table, after, PAGE):
        for key, _ in page:
            yield key
        after = page[-1][0]
