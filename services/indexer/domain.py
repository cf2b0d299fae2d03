"""What is embedded of a chunk, an entity and a relation, in LightRAG's layout, as rows ready for their vectors."""

from contracts.graph import Entity, Relation, VectorRow
from contracts.ids import entity_vector_id, relation_vector_id, sha256
from contracts.values import Chunk, DocumentVersion

EMBEDDED = 1200
"""Characters of a description that are embedded, about what the offline model reads at once. The first fragments say
what a thing is; and a hub whose description grows behind them need not be embedded again."""


def chunk_row_id(document_id: str, order: int) -> str:
    """The vector id of a chunk. Ids of one document follow each other in the order of its chunks.

    The document is named by a hash, for its id may hold any character.
    """
    return f"{chunk_row_prefix(document_id)}{order:010d}"


def chunk_row_prefix(document_id: str) -> str:
    """How the vector ids of a document's chunks begin."""
    return f"chunk-{sha256(document_id)[:40]}-"


def chunk_row(document: DocumentVersion, chunk: Chunk) -> VectorRow:
    """A chunk is embedded as it is."""
    return VectorRow(
        id=chunk_row_id(document.id, chunk.order),
        text=chunk.content,
        text_hash=sha256(chunk.content),
        version=document.version,
        names=(chunk.id,),
        document_id=document.id,
        file_path=document.file_path,
        order=chunk.order,
    )


def entity_row(entity: Entity) -> VectorRow:
    """`name⏎description`."""
    text = f"{entity.name}\n{entity.description[:EMBEDDED]}"
    return VectorRow(
        id=entity_vector_id(entity.name),
        text=text,
        text_hash=sha256(text),
        version=entity.revision,
        names=(entity.name,),
    )


def relation_row(relation: Relation) -> VectorRow:
    """`keywords⇥source⏎target⏎description`, the names sorted."""
    text = f"{','.join(relation.keywords)}\t{relation.source}\n{relation.target}\n{relation.description[:EMBEDDED]}"
    return VectorRow(
        id=relation_vector_id(relation.source, relation.target),
        text=text,
        text_hash=sha256(text),
        version=relation.revision,
        names=relation.key,
    )
