"""Layout of a context: fenced JSON lines under four titles, in LightRAG's format."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

from contracts.graph import Entity, Relation
from services.query.passage import Passage

COUNTED_LINES = 50_000
"""Lines of entities and relations whose numbers of tokens are kept."""

COUNTED_PASSAGES = 5_000
"""The same for passages, which are longer."""


COUNTED_FRAMES = 1_000
"""The same for instructions and questions."""

_json_text = json.JSONEncoder(ensure_ascii=False).encode
"""Of texts alone it makes no encoder for each, which takes longer than a line."""


def _line(**fields: str) -> str:
    members = (f'"{name}": {_json_text(value)}' for name, value in fields.items())
    # JSON does not escape these two line separators.
    return f"{{{', '.join(members)}}}".replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def entity_line(entity: Entity) -> str:
    """Return the JSON line of an entity in the context."""
    return _line(entity=entity.name, type=entity.type, description=entity.description)


def relation_line(relation: Relation) -> str:
    """Return the JSON line of a relation in the context."""
    return _line(entity1=relation.source, entity2=relation.target, description=relation.description)


def count_context_tokens(
    entities: Sequence[Entity], relations: Sequence[Relation], count: Callable[[str], int]
) -> int:
    """Return the number of tokens in the lines of these entities and relations."""
    return sum(count_entity(count, entity) for entity in entities) + sum(
        count_relation(count, relation) for relation in relations
    )


def count_entity(count: Callable[[str], int], entity: Entity) -> int:
    """Return the number of tokens in the line of an entity with the line break behind it, often a
    part of one.
    """
    return _count(
        count, ("entity", "type", "description"), entity.name, entity.type, entity.description
    )


def count_relation(count: Callable[[str], int], relation: Relation) -> int:
    """Return the number of tokens in the line of a relation with the line break behind it."""
    return _count(
        count,
        ("entity1", "entity2", "description"),
        relation.source,
        relation.target,
        relation.description,
    )


@lru_cache(maxsize=COUNTED_LINES)
def _count(count: Callable[[str], int], names: tuple[str, ...], *values: str) -> int:
    """Count once: many questions find the same lines, and making one takes longer than finding its
    texts here.
    """
    return count(f"{_line(**dict(zip(names, values, strict=True)))}\n")


def count_passage(count: Callable[[str], int], passage: Passage) -> int:
    """Return the number of tokens in the line of a passage whose reference has one digit."""
    return _count_passage(count, passage.content, passage.headings)


@lru_cache(maxsize=COUNTED_PASSAGES)
def _count_passage(count: Callable[[str], int], content: str, headings: tuple[str, ...]) -> int:
    return count(_passage_line("1", content, headings))


@lru_cache(maxsize=COUNTED_FRAMES)
def count_frame(count: Callable[[str], int], text: str) -> int:
    """Return the number of tokens of a text that many questions share."""
    return count(text)


def passage_line(reference: str, passage: Passage) -> str:
    """Return the JSON line of a passage in the context."""
    return _passage_line(reference, passage.content, passage.headings)


def _passage_line(reference: str, content: str, headings: Sequence[str]) -> str:
    fields = {"content_headings": " → ".join(headings)} if headings else {}
    return _line(reference_id=reference, content=content, **fields)


def build_context(
    entities: Sequence[Entity],
    relations: Sequence[Relation],
    passages: Sequence[tuple[str, Passage]],
    references: Mapping[str, str],
    notes: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
) -> str:
    """Return the whole context, without the two graph blocks if there is no graph data.

    `notes`: by file path, what the list of references says of sources: see `source_notes`.
    """
    blocks: list[tuple[str, Sequence[str]]] = []
    if entities or relations:
        blocks += [
            ("Knowledge Graph Data (Entity):", [entity_line(entity) for entity in entities]),
            (
                "Knowledge Graph Data (Relationship):",
                [relation_line(relation) for relation in relations],
            ),
        ]
    blocks += [
        (
            "Document Chunks (each names by reference_id its file in the Reference Document List):",
            [passage_line(reference, passage) for reference, passage in passages],
        ),
        (
            "Reference Document List:",
            [
                _line(reference_id=id, file_path=path, **notes.get(path, {}))
                for path, id in references.items()
            ],
        ),
    ]
    return "\n\n".join("\n".join([title, "", "```json", *lines, "```"]) for title, lines in blocks)
