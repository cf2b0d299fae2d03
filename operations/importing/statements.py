"""Tells which chunk of LightRAG said what of an entity or a relation.

The graph has one description of each, joined of what its chunks said, condensed by a model, or
written by a person. The cache of answers has what a model said of one chunk. The graph decides what
there is, the answers which chunk said which text; what they do not explain stands with the chunks
that have no answer, or is an edit.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from contracts.ids import pair
from contracts.names import clean_name
from operations.importing.lightrag_files import GraphObject
from services.extractor.wiring import Extraction, answered_description

Key = tuple[str, ...]

CONDENSED_FROM = 8
"""Descriptions of one entity from which LightRAG has a model condense them, by default."""

CONDENSED_LENGTH = 3_000
"""Characters of them from which it does at the latest, however few tokens they are."""


@dataclass(frozen=True)
class Statement:
    """What one chunk says of an entity or a relation. A description may be empty."""

    chunk: str
    key: Key
    description: str
    type: str = ""
    keywords: tuple[str, ...] = ()
    weight: float = 1.0


@dataclass(frozen=True)
class Attribution:
    """What the chunks say of an entity or relation, and what else its description has."""

    statements: tuple[Statement, ...] = ()
    edited_text: str = ""
    """A description that no chunk explains: somebody wrote it."""
    is_condensed: bool = False
    """A model condensed its description, which is made anew of what the chunks say."""
    is_mixed: bool = False
    """Several documents may have said what stands with one of them."""


def clean_key(key: Key) -> Key:
    """Return the names as they are stored here; empty where one is no name, or both are one."""
    names = tuple(clean_name(name) for name in key)
    if not all(names) or len(set(names)) < len(names):
        return ()
    return names if len(names) == 1 else pair(*names)


@dataclass
class ChunkRows:
    """What a model answered about one chunk: rows of entities and relations by key."""

    rows: dict[Key, Statement] = field(default_factory=dict[Key, Statement])

    @classmethod
    def of(cls, chunk: str, extraction: Extraction) -> "ChunkRows":
        """Return the rows of the answers about a chunk; a pair named in both directions is one."""
        by_key: dict[Key, Statement] = {}
        for entity in extraction.entities:
            key = (entity.name,)
            by_key[key] = Statement(chunk, key, entity.description, type=entity.type)
        for relation in extraction.relations:
            key = pair(relation.source, relation.target)
            row = Statement(chunk, key, relation.description, keywords=relation.keywords)
            by_key[key] = joined([by_key[key], row]) if key in by_key else row
        return cls(by_key)

    @property
    def ends(self) -> set[str]:
        """Return the names of the ends of relations."""
        return {name for key in self.rows if len(key) == 2 for name in key}


def joined(statements: Sequence[Statement]) -> Statement:
    """Return what one chunk says in several rows about the same names as one statement."""
    first = statements[0]
    descriptions = dict.fromkeys(row.description for row in statements if row.description)
    keywords = dict.fromkeys(word for row in statements for word in row.keywords)
    return replace(first, description=" ".join(descriptions), keywords=tuple(keywords))


@dataclass
class Attributions:
    """Attributes the descriptions of a graph to chunks.

    `documents` has the document of each chunk that is imported, `answers` the rows of those whose
    answers are in the cache, `condensed_texts` what a model condensed, `keys_by_chunk` what the
    graph has of each chunk.
    """

    documents: Mapping[str, str]
    answers: Mapping[str, ChunkRows]
    condensed_texts: frozenset[str]
    keys_by_chunk: Mapping[str, set[Key]]
    used_keys: dict[str, set[Key]] = field(default_factory=lambda: defaultdict(set))
    """The rows of each chunk's answers that stand for something in the graph."""

    def of(self, graph_object: GraphObject) -> Attribution:
        """Return which chunk said what of an entity or a relation."""
        key = clean_key(graph_object.key)
        chunks = [chunk for chunk in graph_object.chunks if chunk in self.documents]
        texts = {answered_description(text) for text in graph_object.fragments}
        statements: list[Statement] = []
        row_texts: set[str] = set()
        unanswered_chunks: list[str] = []
        for chunk in chunks:
            rows = self._rows(chunk, key, texts)
            row_texts.update(row.description for row in rows)
            if rows:
                statements.append(replace(joined(rows), key=key))
            elif not self._is_end(chunk, key):
                unanswered_chunks.append(chunk)
        remainder = [
            text for text in graph_object.fragments if answered_description(text) not in row_texts
        ]
        weight = max(graph_object.weight / len(chunks), 0.001)
        if unanswered_chunks:
            documents = {self.documents[chunk] for chunk in unanswered_chunks}
            return Attribution(
                _weighted(
                    [*statements, *self._of_graph(graph_object, key, unanswered_chunks, remainder)],
                    weight,
                ),
                is_mixed=bool(remainder) and len(documents) > 1,
            )
        is_condensed = bool(remainder) and self._is_condensed(remainder, row_texts)
        edited_text = "" if is_condensed else "\n".join(remainder)
        return Attribution(_weighted(statements, weight), edited_text, is_condensed)

    def _rows(self, chunk: str, key: Key, texts: set[str]) -> list[Statement]:
        """Return the rows of a chunk's answers about these names: by name, or by text where the
        name is in the graph no more.
        """
        chunk_rows = self.answers.get(chunk)
        if chunk_rows is None:
            return []
        rows = [chunk_rows.rows[key]] if key in chunk_rows.rows else []
        remaining_texts = texts - {row.description for row in rows}
        rows += [
            row
            for other_key, row in chunk_rows.rows.items()
            if len(other_key) == len(key)
            and row.description in remaining_texts
            and other_key not in self.keys_by_chunk[chunk]
        ]
        self.used_keys[chunk].update(row.key for row in rows)
        return rows

    def _is_end(self, chunk: str, key: Key) -> bool:
        """Return whether the chunk only names the entity as the end of a relation."""
        chunk_rows = self.answers.get(chunk)
        return chunk_rows is not None and len(key) == 1 and key[0] in chunk_rows.ends

    def _of_graph(
        self, graph_object: GraphObject, key: Key, chunks: Sequence[str], texts: Sequence[str]
    ) -> list[Statement]:
        """Return statements of chunks without answers: texts stand with the first document, for
        nobody can tell what the others said.
        """
        first_document = self.documents[chunks[0]]
        of_first = [chunk for chunk in chunks if self.documents[chunk] == first_document]
        shares: dict[str, list[str]] = {chunk: [] for chunk in chunks}
        for number, text in enumerate(texts):
            shares[of_first[min(number, len(of_first) - 1)]].append(text)
        return [
            Statement(
                chunk,
                key,
                " ".join(share or (texts[:1] if chunk in of_first else [])),
                graph_object.type,
                graph_object.keywords,
            )
            for chunk, share in shares.items()
        ]

    def _is_condensed(self, remainder: Iterable[str], row_texts: set[str]) -> bool:
        """Return whether a model condensed what the chunks say to this rest of a description.

        Where the cache has no condensed text at all it may have been emptied: then their number
        and length decide.
        """
        if self.condensed_texts:
            return all(answered_description(text) in self.condensed_texts for text in remainder)
        length = sum(map(len, row_texts))
        return len(row_texts) >= CONDENSED_FROM or length >= CONDENSED_LENGTH


def _weighted(statements: Iterable[Statement], weight: float) -> tuple[Statement, ...]:
    return tuple(replace(statement, weight=weight) for statement in statements)
