"""How many bytes the entries of the cache of projections take."""

from sys import getsizeof

import numpy as np
from numpy.typing import NDArray

from contracts.graph import Entity, Relation
from runtime.stores.graph.port import Node, RelationSummary
from services.query.retrieval.caches.changed_names import ChangedNames
from services.query.retrieval.caches.graph_arrays import GraphArrays, Star
from services.query.retrieval.caches.vector_matrix import VectorMatrix

ENTRY_OVERHEAD = 450
"""Bytes that an entry takes beside its texts, about."""
ROW_OVERHEAD = 300
"""Bytes that an entity or relation takes beside that and its description, about."""
RELATION_SUMMARY_SIZE = 250
SHARED_TEXT = 16
"""Bytes that naming a chunk or a file takes, about: its text is shared with all others that name
it.
"""


def entry_size(
    entry: Entity
    | Relation
    | Node
    | Star
    | VectorMatrix
    | GraphArrays
    | ChangedNames
    | list[RelationSummary]
    | NDArray[np.float32]
    | int
    | None,
) -> int:
    """Return the bytes that an entry takes, about."""
    if entry is None or isinstance(entry, int | ChangedNames):
        return ENTRY_OVERHEAD
    if isinstance(entry, VectorMatrix | GraphArrays):
        return ENTRY_OVERHEAD + entry.size
    if isinstance(entry, np.ndarray):
        return ENTRY_OVERHEAD + entry.nbytes
    if isinstance(entry, list):
        return ENTRY_OVERHEAD + RELATION_SUMMARY_SIZE * len(entry)
    if isinstance(entry, Star):
        sources = sum(len(relation.source_ids) for relation in entry.relations)
        summaries = RELATION_SUMMARY_SIZE * len(entry.relations)
        return ENTRY_OVERHEAD + summaries + SHARED_TEXT * sources
    shared_texts = SHARED_TEXT * len(entry.source_ids)
    if isinstance(entry, Node):
        return ENTRY_OVERHEAD + ROW_OVERHEAD + shared_texts
    shared_texts += SHARED_TEXT * len(entry.file_paths)
    return ENTRY_OVERHEAD + ROW_OVERHEAD + shared_texts + getsizeof(entry.description)
