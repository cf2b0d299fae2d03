"""Ready knowledge to chunks: each carries the entities and relations that were said with its source id.

Of several chunks with one source id the first carries them. What names no chunk that is there (or none with a text) is
written down, a line each, in chunks of its own behind the others: it can be found and cited like any passage.
"""

from collections.abc import Iterable, Iterator, Sequence

from contracts.ids import chunk_id
from contracts.text import sanitize
from contracts.values import (
    Chunk,
    CustomEntity,
    CustomExtraction,
    CustomKnowledge,
    CustomRelation,
    ExtractedEntity,
    ExtractedRelation,
)
from runtime.errors import Poison
from services.chunker.domain.passages import TokenCodec

Row = CustomEntity | CustomRelation


def chunks(document_id: str, knowledge: CustomKnowledge, tokens: TokenCodec, size: int) -> Iterator[Chunk]:
    """The chunks as they were given, then what belongs to none of them, in chunks of about `size` tokens.

    Raises Poison when nothing of it can be printed.
    """
    rows: tuple[Row, ...] = (*knowledge.entities, *knowledge.relations)
    left: dict[str, list[Row]] = {}
    for row in rows:
        left.setdefault(row.source_id, []).append(row)
    order = 0
    for known in knowledge.chunks:
        if content := sanitize(known.content):
            yield _chunk(document_id, order, content, left.pop(known.source_id, []), tokens)
            order += 1
    others = (row for of_source in left.values() for row in of_source)
    for content, written in _pages(others, tokens, size):
        yield _chunk(document_id, order, content, written, tokens)
        order += 1
    if not order:
        raise Poison("the knowledge is empty once control characters and blanks are gone")


def _chunk(document_id: str, order: int, content: str, rows: Sequence[Row], tokens: TokenCodec) -> Chunk:
    return Chunk(
        id=chunk_id(document_id, order),
        order=order,
        tokens=len(tokens.encode(content)),
        content=content,
        given=CustomExtraction(
            entities=tuple(
                ExtractedEntity(name=row.name, type=row.type, description=row.description)
                for row in rows
                if isinstance(row, CustomEntity)
            ),
            relations=tuple(
                ExtractedRelation(
                    source=row.source,
                    target=row.target,
                    keywords=row.keywords,
                    description=row.description,
                    weight=row.weight,
                )
                for row in rows
                if isinstance(row, CustomRelation)
            ),
        ),
    )


def _pages(rows: Iterable[Row], tokens: TokenCodec, size: int) -> Iterator[tuple[str, list[Row]]]:
    """Rows and what is written of them, as many as fit `size` tokens, at least one."""
    lines: list[str] = []
    written: list[Row] = []
    room = size
    for row in rows:
        line = sanitize(_line(row))
        if not line:
            continue
        cost = len(tokens.encode(line)) + 1
        if written and cost > room:
            yield "\n".join(lines), written
            lines, written, room = [], [], size
        lines.append(line)
        written.append(row)
        room -= cost
    if written:
        yield "\n".join(lines), written


def _line(row: Row) -> str:
    if isinstance(row, CustomEntity):
        said = f"{row.name} ({row.type})" if row.type else row.name
    else:
        said = f"{row.source}, {row.target}"
        said += f" ({', '.join(row.keywords)})" if row.keywords else ""
    return " ".join(f"{said}: {row.description}".split()) if row.description else said
