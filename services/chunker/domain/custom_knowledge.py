"""Turns custom knowledge into chunks, each with the entities and relations that have its source id.

Of several chunks with one source id the first carries them. Entities and relations whose source id
belongs to no chunk with text are written, one a line, into further chunks behind the others, so
they can be found and cited like a passage.
"""

from collections.abc import Iterable, Iterator, Sequence

from contracts.ids import chunk_id
from contracts.spelling import readable
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
from services.chunker.domain.spans import TokenCodec

Row = CustomEntity | CustomRelation


def chunks(
    document_id: str, knowledge: CustomKnowledge, tokens: TokenCodec, size: int
) -> Iterator[Chunk]:
    """Yield the chunks of the custom knowledge, then all other rows in chunks of about `size`
    tokens.

    Raises Poison if no chunk is left after control characters and blanks are removed.
    """
    rows: tuple[Row, ...] = (*knowledge.entities, *knowledge.relations)
    rows_by_source: dict[str, list[Row]] = {}
    for row in rows:
        rows_by_source.setdefault(row.source_id, []).append(row)
    order = 0
    for chunk in knowledge.chunks:
        if content := readable(sanitize(chunk.content)):
            rows_of_chunk = rows_by_source.pop(chunk.source_id, [])
            ready = _chunk(document_id, order, content, rows_of_chunk, tokens)
            yield ready.model_copy(update={"headings": chunk.headings})
            order += 1
    remaining_rows = (row for source_rows in rows_by_source.values() for row in source_rows)
    for content, page_rows in _pages(remaining_rows, tokens, size):
        yield _chunk(document_id, order, content, page_rows, tokens)
        order += 1
    if not order:
        raise Poison("the knowledge is empty once control characters and blanks are gone")


def _chunk(
    document_id: str, order: int, content: str, rows: Sequence[Row], tokens: TokenCodec
) -> Chunk:
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
    """Yield texts of at most `size` tokens, or of one row, with one line per row; and the rows of
    each text.
    """
    lines: list[str] = []
    page_rows: list[Row] = []
    tokens_left = size
    for row in rows:
        line = readable(sanitize(_line(row)))
        if not line:
            continue
        cost = len(tokens.encode(line)) + 1
        if page_rows and cost > tokens_left:
            yield "\n".join(lines), page_rows
            lines = []
            page_rows = []
            tokens_left = size
        lines.append(line)
        page_rows.append(row)
        tokens_left -= cost
    if page_rows:
        yield "\n".join(lines), page_rows


def _line(row: Row) -> str:
    if isinstance(row, CustomEntity):
        text = f"{row.name} ({row.type})" if row.type else row.name
    else:
        text = f"{row.source}, {row.target}"
        text += f" ({', '.join(row.keywords)})" if row.keywords else ""
    return " ".join(f"{text}: {row.description}".split()) if row.description else text
