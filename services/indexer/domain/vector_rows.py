"""What is embedded of a chunk, an entity and a relation, in LightRAG's layout, as rows ready for their vectors."""

from contracts.graph import Entity, Relation, VectorRow
from contracts.ids import chunk_vector_id, entity_vector_id, relation_vector_id, sha256
from contracts.values import Chunk, DocumentVersion

MAX_EMBEDDED = 1200
"""Characters of a description that are embedded, about what the offline model reads at once. The first fragments say
what a thing is; and a hub whose description grows behind them need not be embedded again."""


def chunk_row(document: DocumentVersion, chunk: Chunk) -> VectorRow:
    """A chunk is embedded as it is."""
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


def entity_row(entity: Entity) -> VectorRow:
    """`name⏎description`."""
    text = f"{entity.name}\n{entity.description[:MAX_EMBEDDED]}"
    return VectorRow(
        id=entity_vector_id(entity.name),
        text=text,
        text_hash=sha256(text),
        version=entity.revision,
        names=(entity.name,),
    )


def relation_row(relation: Relation) -> VectorRow:
    """`keywords⇥source⏎target⏎description`, the names sorted."""
    text = f"{','.join(relation.keywords)}\t{relation.source}\n{relation.target}\n{relation.description[:MAX_EMBEDDED]}"
    return VectorRow(
        id=relation_vector_id(relation.source, relation.target),
        text=text,
        text_hash=sha256(text),
        version=relation.revision,
        names=relation.key,
    )
