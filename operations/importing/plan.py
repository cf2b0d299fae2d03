"""What LightRAG's folder becomes in the log: documents of ready knowledge, and edits of the graph.

Reading the same folder again gives the same plan, so importing it again adds nothing.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from contracts.events import GraphEdited
from contracts.graph_edits import EditedValues, GraphOperation
from contracts.ids import UNKNOWN_SOURCE
from contracts.names import clean_text
from contracts.values import (
    CustomChunk,
    CustomEntity,
    CustomKnowledge,
    CustomRelation,
    Scalar,
)
from operations.importing.lightrag_files import GraphObject, LightRagFolder, Row
from operations.importing.statements import (
    Attribution,
    Attributions,
    ChunkRows,
    Key,
    Statement,
    clean_key,
)
from services.extractor.wiring import answered_description, read_answers

EDITOR = "import of LightRAG"
"""`editor` of the edits that were made in LightRAG."""

NO_CHUNK = frozenset(["", "manual_creation", "UNKNOWN", "unknown_source"])
"""What stands where something has no chunk: somebody made it by hand."""

MAX_CHUNK = 100_000
MAX_DESCRIPTION = 20_000
"""Characters of a chunk, and of a description, that an event takes."""

UNFINISHED = "LightRAG has not finished them: add their files by `lightstream add`"
DUPLICATES = "duplicates, which LightRAG had refused"
NO_CHUNKS = "have no chunks: add their files by `lightstream add`"


@dataclass(frozen=True)
class PlannedDocument:
    """A document as it is to be added."""

    id: str
    name: str
    knowledge: CustomKnowledge
    metadata: Mapping[str, Scalar]


@dataclass
class ImportPlan:
    """What is to be published, and what is not."""

    documents: list[PlannedDocument] = field(default_factory=list[PlannedDocument])
    edits: list[GraphEdited] = field(default_factory=list[GraphEdited])
    counts: dict[str, int] = field(default_factory=dict[str, int])
    left_out: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Names of documents by the reason why they are left out."""
    notes: Counter[str] = field(default_factory=Counter[str])
    """How many items of the graph a sentence is about."""


def plan_import(folder: LightRagFolder) -> ImportPlan:
    """Return what the folder becomes."""
    plan = ImportPlan()
    chunks = _chunks_by_document(folder, plan)
    answers = _answers_by_chunk(folder)
    keys_by_chunk: dict[str, set[Key]] = defaultdict(set)
    for graph_object in (*folder.entities, *folder.relations):
        for chunk in graph_object.chunks:
            keys_by_chunk[chunk].add(clean_key(graph_object.key))
    attributions = Attributions(
        {chunk: document for document, ids in chunks.items() for chunk in ids},
        answers,
        _condensed_texts(folder),
        keys_by_chunk,
    )
    statements: dict[str, list[Statement]] = defaultdict(list)
    for graph_object in (*folder.entities, *folder.relations):
        for statement in _statements(graph_object, attributions, plan):
            statements[attributions.documents[statement.chunk]].append(statement)
    for id, chunk_ids in chunks.items():
        plan.documents.append(_document(folder, id, chunk_ids, statements[id]))
    _count(plan, folder, attributions)
    return plan


def _chunks_by_document(folder: LightRagFolder, plan: ImportPlan) -> dict[str, list[str]]:
    """Return the ids of the chunks of each document that is imported, the oldest document first."""
    ids: dict[str, list[str]] = {}
    for chunk, row in folder.chunks.items():
        if str(row.get("content") or "").strip():
            ids.setdefault(str(row.get("full_doc_id") or chunk), []).append(chunk)
    for id in dict.fromkeys((*folder.statuses, *folder.documents, *ids)):
        status = folder.statuses.get(id, {})
        reason = _why_left_out(id, status, has_chunks=id in ids)
        if reason:
            plan.left_out[reason].append(_name(folder, id, ids.get(id, ())))
            ids.pop(id, None)

    def age(id: str) -> tuple[str, str]:
        return str(folder.statuses.get(id, {}).get("created_at") or "~"), id

    def place(chunk: str) -> tuple[int, str]:
        order = folder.chunks[chunk].get("chunk_order_index")
        return (order if isinstance(order, int) else 0), chunk

    return {id: sorted(ids[id], key=place) for id in sorted(ids, key=age)}


def _why_left_out(id: str, status: Row, *, has_chunks: bool) -> str:
    metadata = status.get("metadata")
    is_marked = isinstance(metadata, dict) and "is_duplicate" in metadata
    if id.startswith("dup-") or is_marked:
        return DUPLICATES
    state = str(status.get("status") or "processed").rpartition(".")[2].lower()
    if state != "processed":
        return UNFINISHED
    return "" if has_chunks else NO_CHUNKS


def _answers_by_chunk(folder: LightRagFolder) -> dict[str, ChunkRows]:
    """Return what a model said of each chunk, in the order of its rounds."""
    keys: dict[str, list[str]] = defaultdict(list)
    for key, row in folder.answers.items():
        if row.get("cache_type") == "extract" and row.get("chunk_id"):
            keys[str(row["chunk_id"])].append(key)
    for chunk, row in folder.chunks.items():
        cache_list = row.get("llm_cache_list")
        if isinstance(cache_list, list):
            listed_keys = [key for key in cast("list[Any]", cache_list) if key in folder.answers]
            keys[chunk] = (
                list(dict.fromkeys([*listed_keys, *keys[chunk]])) if listed_keys else keys[chunk]
            )
    return {
        chunk: ChunkRows.of(chunk, read_answers([_answer(folder, key) for key in of_chunk]))
        for chunk, of_chunk in keys.items()
        if of_chunk
    }


def _answer(folder: LightRagFolder, key: str) -> str:
    return str(folder.answers[key].get("return") or "")


def _condensed_texts(folder: LightRagFolder) -> frozenset[str]:
    """Return the descriptions that a model condensed."""
    return frozenset(
        answered_description(str(row.get("return") or ""))
        for row in folder.answers.values()
        if row.get("cache_type") == "summary"
    )


def _statements(
    graph_object: GraphObject, attributions: Attributions, plan: ImportPlan
) -> Sequence[Statement]:
    """Return what chunks say of an entity or a relation; what people say goes to the edits."""
    key = clean_key(graph_object.key)
    if not key:
        plan.notes["names that cannot be names here, or relations of an entity with itself"] += 1
        return ()
    if not any(chunk in attributions.documents for chunk in graph_object.chunks):
        if NO_CHUNK.issuperset(graph_object.chunks):
            plan.edits.append(_creation(graph_object, key))
        else:
            plan.notes[
                "entities and relations of documents that are not imported, or are gone"
            ] += 1
        return ()
    attribution = attributions.of(graph_object)
    plan.notes["descriptions that a model condensed: here of what the chunks say, anew"] += (
        attribution.is_condensed
    )
    plan.notes["descriptions of several documents that stand with the first: no answer tells"] += (
        attribution.is_mixed
    )
    if edit := _edit(graph_object, key, attribution):
        plan.edits.append(edit)
    return attribution.statements


def _creation(graph_object: GraphObject, key: Key) -> GraphEdited:
    """Return the edit for what somebody made in LightRAG by hand."""
    description = graph_object.description[:MAX_DESCRIPTION]
    if len(key) == 1:
        values = EditedValues(type=_type(graph_object.type), description=description)
        return _edited("create_entity", key, values)
    values = EditedValues(
        description=description, keywords=graph_object.keywords[:200], weight=graph_object.weight
    )
    return _edited("create_relation", key, values)


def _edit(graph_object: GraphObject, key: Key, attribution: Attribution) -> GraphEdited | None:
    """Return the edit for what somebody changed in LightRAG; None where chunks explain it."""
    values: dict[str, Any] = {}
    if attribution.edited_text:
        values["description"] = attribution.edited_text[:MAX_DESCRIPTION]
    types = {statement.type for statement in attribution.statements if statement.type}
    type = _type(graph_object.type)
    if len(key) == 1 and types and type and type.lower() not in {*types, "unknown"}:
        values["type"] = type
    words = {word for statement in attribution.statements for word in statement.keywords}
    if (
        len(key) == 2
        and words
        and graph_object.keywords
        and set(map(clean_text, graph_object.keywords)) != words
    ):
        values["keywords"] = graph_object.keywords[:200]
    if not values:
        return None
    operation = "edit_entity" if len(key) == 1 else "edit_relation"
    return _edited(operation, key, EditedValues(**values))


def _edited(operation: GraphOperation, key: Key, values: EditedValues) -> GraphEdited:
    return GraphEdited(operation=operation, names=key, values=values, editor=EDITOR)


def _type(text: str) -> str | None:
    return "".join(clean_text(text).split()).lower()[:64] or None


def _document(
    folder: LightRagFolder, id: str, chunks: Sequence[str], statements: Iterable[Statement]
) -> PlannedDocument:
    entities: list[CustomEntity] = []
    relations: list[CustomRelation] = []
    for statement in statements:
        description = statement.description[:MAX_DESCRIPTION]
        if len(statement.key) == 1:
            entities.append(
                CustomEntity(
                    name=statement.key[0],
                    type=statement.type[:256],
                    description=description,
                    source_id=statement.chunk,
                )
            )
        else:
            source, target = statement.key
            relations.append(
                CustomRelation(
                    source=source,
                    target=target,
                    description=description,
                    keywords=tuple(word[:256] for word in statement.keywords[:64]),
                    weight=statement.weight,
                    source_id=statement.chunk,
                )
            )
    created_at = folder.statuses.get(id, {}).get("created_at")
    metadata: dict[str, Scalar] = {"imported_from": "LightRAG"}
    if isinstance(created_at, str):
        metadata["lightrag_created_at"] = created_at
    return PlannedDocument(
        id=id,
        name=_name(folder, id, chunks),
        knowledge=CustomKnowledge(
            chunks=tuple(
                piece for chunk in chunks for piece in _pieces(chunk, folder.chunks[chunk])
            ),
            entities=tuple(entities),
            relations=tuple(relations),
        ),
        metadata=metadata,
    )


def _pieces(chunk: str, row: Row) -> Iterator[CustomChunk]:
    """Yield the chunk, in pieces where it is longer than an event takes."""
    content = str(row["content"])
    heading = row.get("heading")
    headings: tuple[str, ...] = ()
    if isinstance(heading, dict):
        fields = cast("Row", heading)
        path = [*(fields.get("parent_headings") or ()), fields.get("heading")]
        headings = tuple(str(part)[:256] for part in path if part)[:16]
    for start in range(0, len(content), MAX_CHUNK):
        yield CustomChunk(
            content=content[start : start + MAX_CHUNK], source_id=chunk[:512], headings=headings
        )


def _name(folder: LightRagFolder, id: str, chunks: Iterable[str]) -> str:
    """Return the name of the document's file, else its id."""
    rows = (
        folder.statuses.get(id, {}),
        folder.documents.get(id, {}),
        *(folder.chunks[chunk] for chunk in chunks),
    )
    paths = (str(row.get("file_path") or "") for row in rows)
    return next((path for path in paths if path not in (*NO_CHUNK, UNKNOWN_SOURCE)), id)


def _count(plan: ImportPlan, folder: LightRagFolder, attributions: Attributions) -> None:
    """Count what comes, and the rows of answers that the graph does not have."""
    chunks = attributions.documents
    answered_chunks = [chunk for chunk in chunks if chunk in attributions.answers]
    entities = {
        row.name for plan_document in plan.documents for row in plan_document.knowledge.entities
    }
    relations = {
        (row.source, row.target)
        for plan_document in plan.documents
        for row in plan_document.knowledge.relations
    }
    plan.notes["rows of answers that the graph does not have: deleted, or refused there"] += sum(
        len(attributions.answers[chunk].rows.keys() - attributions.used_keys[chunk])
        for chunk in answered_chunks
    )
    plan.counts = {
        "documents": len(plan.documents),
        "chunks": len(chunks),
        "chunks_with_answers": len(answered_chunks),
        "entities": len(entities),
        "relations": len(relations),
        "edits": len(plan.edits),
    }
