"""Bring rows of the vector store up to date: find those that are not, embed their texts, write
them.
"""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple, TypeVar, cast

from contracts.graph import Partition, VectorKind, VectorRow
from knowledge.passage_vectors import mean_vector, texts_to_embed
from runtime.errors import ModelRefused
from runtime.stores.vectors.port import RowVersion, Vectors
from services.indexer.port import Embeddings

T = TypeVar("T")

Refusals = dict[str, ModelRefused]
"""Why the model gives no vector for a text, by the id of its row."""


class Outdated(NamedTuple):
    """The rows of one kind to write, and the ids of those whose text has changed."""

    kind: VectorKind
    rows: list[VectorRow]
    changed_ids: set[str]
    replaced_ids: frozenset[str] = frozenset()
    """Those of them that the store has, of an older version or text."""


async def find_outdated(
    partition: Partition, kind: VectorKind, rows: Mapping[str, VectorRow], vectors: Vectors
) -> Outdated:
    """Compare rows with the stored ones.

    Entities and relations of revision 1 count as new without being looked for: they are not there,
    or of a graph that was rebuilt and starts counting again, or of a delivery that was interrupted,
    and then the same is written again.
    """
    ids = [row.id for row in rows.values() if kind == "chunks" or row.version > 1]
    stored_versions = await vectors.versions(partition, kind, ids)
    outdated_rows = [
        row
        for row in rows.values()
        if row.id not in stored_versions or _is_outdated(kind, stored_versions[row.id], row)
    ]
    changed_ids = {
        row.id
        for row in outdated_rows
        if row.id not in stored_versions or stored_versions[row.id].text_hash != row.text_hash
    }
    replaced_ids = frozenset(row.id for row in outdated_rows if row.id in stored_versions)
    return Outdated(kind, outdated_rows, changed_ids, replaced_ids)


async def embed_and_put(
    partition: Partition, all_outdated: Sequence[Outdated], vectors: Vectors, embeddings: Embeddings
) -> Refusals:
    """Embed the texts of all kinds, and write the rows. Returns why the model refused some, by the
    ids of their rows.

    The row of a refused text is removed, for it would stand for an older text. All others are
    written before an error of any other text is raised.
    """
    texts_of = {
        row.id: texts_to_embed(row, embeddings.model) if table.kind == "chunks" else [row.text]
        for table in all_outdated
        for row in table.rows
    }
    texts = list(dict.fromkeys(chain.from_iterable(texts_of.values())))
    results = await _embed(partition.workspace, texts, embeddings)
    refusals: Refusals = {}
    writes: list[Coroutine[Any, Any, None]] = []
    for kind, rows, *_ in all_outdated:
        embedded_rows: list[VectorRow] = []
        for row in rows:
            result = _joined([results[text] for text in texts_of[row.id]])
            if isinstance(result, ModelRefused):
                refusals[row.id] = result
                before = row.version if kind == "chunks" else None
                writes.append(vectors.delete(partition, kind, [row.id], before=before))
            elif not isinstance(result, BaseException):
                embedded_rows.append(replace(row, vector=result))
        if embedded_rows:
            writes.append(vectors.put(partition, kind, embedded_rows))
    await together(*writes)
    for result in results.values():
        if isinstance(result, BaseException) and not isinstance(result, ModelRefused):
            raise result
    return refusals


def _joined(
    results: Sequence[Sequence[float] | BaseException],
) -> Sequence[float] | BaseException:
    """Return the vector of a row from those of its texts, or the first error of them."""
    vectors: list[Sequence[float]] = []
    for result in results:
        if isinstance(result, BaseException):
            return result
        vectors.append(result)
    return mean_vector(vectors)


async def _embed(
    workspace: str, texts: Sequence[str], embeddings: Embeddings
) -> dict[str, Sequence[float] | BaseException]:
    """Return the vector of each text, or its error: in one call, and text by text where the model
    refuses any.
    """
    try:
        return dict(zip(texts, await embeddings.embed(workspace, texts), strict=True))
    except ModelRefused as refusal:
        if len(texts) == 1:
            return {texts[0]: refusal}
    calls = (embeddings.embed(workspace, [text]) for text in texts)
    results = await asyncio.gather(*calls, return_exceptions=True)
    return {
        text: result if isinstance(result, BaseException) else result[0]
        for text, result in zip(texts, results, strict=True)
    }


async def together(*calls: Coroutine[Any, Any, T]) -> list[T]:
    """Make these calls at the same time, and return their results. Raises the error of the first
    that failed.
    """
    results = await asyncio.gather(*calls, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return cast(list[T], results)


def _is_outdated(kind: VectorKind, stored_version: RowVersion, row: VectorRow) -> bool:
    # A chunk never replaces one of a newer version, so a newer one is written even with the same
    # text (its vector is cached). Revisions of the graph are not compared: a rebuilt graph counts
    # them from the beginning.
    if kind == "chunks" and stored_version.version != row.version:
        return stored_version.version < row.version
    return stored_version.text_hash != row.text_hash
