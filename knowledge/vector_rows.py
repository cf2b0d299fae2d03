"""Makes the rows of the vector store, yet without vectors. The texts to embed have the layout of
LightRAG.
"""

from dataclasses import replace

from contracts.graph import Entity, Relation, VectorRow
from contracts.ids import (
    chunk_vector_id,
    entity_vector_id,
    relation_vector_id,
    sha256,
    window_vector_id,
)
from contracts.values import Chunk, DocumentVersion
from offline.language.windows import windows_of

MAX_EMBEDDED = 1200
"""Characters of a description that are embedded, about as many as the offline model reads.

A description that only grows behind them is not embedded again.
"""


def chunk_row(document: DocumentVersion, chunk: Chunk) -> VectorRow:
    """Return the row of a chunk; its whole content is embedded."""
    return VectorRow(
        id=chunk_vector_id(document.id, chunk.order),
        text=chunk.content,
        text_hash=sha256(chunk.content),
        version=document.version,
        names=(chunk.id,),
        document_id=document.id,
        file_path=document.file_path,
        order=chunk.order,
    )


def passage_rows(document: DocumentVersion, chunk: Chunk, model: str) -> list[VectorRow]:
    """Return the row of a chunk, and behind it one for each of its windows, where `model` embeds
    windows.
    """
    whole = chunk_row(document, chunk)
    return [whole, *window_rows(whole, model)]


def window_rows(whole: VectorRow, model: str) -> list[VectorRow]:
    """Return the rows of the windows of a chunk, whose row is given. All name the chunk."""
    return [
        replace(whole, id=window_vector_id(whole.id, number), text=window, text_hash=sha256(window))
        for number, window in enumerate(windows_of(model, whole.text), 1)
    ]


def entity_row(entity: Entity) -> VectorRow:
    """Return the row of an entity; `name⏎description` is embedded."""
    text = f"{entity.name}\n{entity.description[:MAX_EMBEDDED]}"
    return VectorRow(
        id=entity_vector_id(entity.name),
        text=text,
        text_hash=sha256(text),
        version=entity.revision,
        names=(entity.name,),
    )


def relation_row(relation: Relation) -> VectorRow:
    """Return the row of a relation; `keywords⇥source⏎target⏎description` is embedded, the names
    sorted.
    """
    text = f"{','.join(relation.keywords)}\t{relation.source}\n{relation.target}\n{relation.description[:MAX_EMBEDDED]}"  # noqa: E501
    return VectorRow(
        id=relation_vector_id(relation.source, relation.target),
        text=text,
        text_hash=sha256(text),
        version=relation.revision,
        names=relation.key,
    )
