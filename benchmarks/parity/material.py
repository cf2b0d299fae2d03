"""What both sides are given: chunks, entities, relations, a vector for every text, questions with
their keywords.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from benchmarks.yardstick import documents as yardstick
from benchmarks.yardstick.embedding import DIMENSION, embed
from benchmarks.yardstick.extraction import Extraction, extract, stable_hash
from benchmarks.yardstick.text import keywords
from contracts.graph import Entity, Relation
from contracts.ids import chunk_id, pair

Matrix = NDArray[np.float32]
Embed = Callable[[str], Matrix]

MOST_SOURCES = 200
"""Chunks that an entity or relation lists at most, on both sides."""
MOST_DESCRIPTION = 900
"""Characters."""
COMPARED = 60
"""Of each ranking so many are looked at for ties: more than any mode returns."""
COMPARED_CHUNKS = 250
"""The same for chunks of the invented graphs: those of relations begin where the quota of those of
entities ends.
"""
TIE = 1.1e-6
"""Scores are compared in steps of a millionth."""


@dataclass(frozen=True)
class Question:
    """A question with its keywords, and the title of the passage that answers it."""

    text: str
    high: tuple[str, ...]
    low: tuple[str, ...]
    title: str = ""

    def searches(self) -> tuple[str, str, str]:
        """Return the texts that chunks, entities and relations are searched by."""
        return self.text, ", ".join(self.low), ", ".join(self.high)


@dataclass(frozen=True)
class Material:
    """One graph with its questions."""

    chunks: Mapping[str, str]
    entities: Sequence[Entity]
    relations: Sequence[Relation]
    questions: Sequence[Question]
    embed: Embed = field(repr=False)


def entity_text(entity: Entity) -> str:
    """Return the text that stands for an entity in the vector store."""
    return f"{entity.name}\n{entity.description}"


def relation_text(relation: Relation) -> str:
    """Return the text that stands for a relation in the vector store."""
    return f"{', '.join(relation.keywords)}\t{relation.source}\n{relation.target}\n{relation.description}"  # noqa: E501


def of_documents(count: int, asked: int) -> Material:
    """The first documents of the yardstick, as its rules extract them, and questions about them
    without ties.
    """
    documents = yardstick.documents(count)
    chunks = {chunk_id(each.name, 0): each.text for each in documents}
    entities, relations = folded({id: extract(text) for id, text in chunks.items()})
    questions = (
        Question(each.text, *(tuple(words) for words in keywords(each.text)), each.title)
        for each in yardstick.questions(documents, 2 * asked)
    )
    return without_ties(Material(chunks, entities, relations, (), half_precise), questions, asked)


def folded(extractions: Mapping[str, Extraction]) -> tuple[list[Entity], list[Relation]]:
    """Entities and relations of what the chunks say, each with all chunks that say it."""
    nodes: defaultdict[str, dict[str, tuple[str, str]]] = defaultdict(dict)
    edges: defaultdict[tuple[str, str], dict[str, tuple[str, str]]] = defaultdict(dict)
    for chunk, said in extractions.items():
        for one in said.entities:
            nodes[one.name][chunk] = (one.type, one.description)
        for one in said.relations:
            edges[pair(one.source, one.target)][chunk] = (one.keywords, one.description)
            for name in (one.source, one.target):
                nodes[name].setdefault(chunk, ("Concept", f"{name}: {one.description}"))
    entities = [
        Entity(
            name,
            1,
            type=next(iter(by.values()))[0],
            description=_joined(text for _, text in by.values()),
            source_ids=tuple(by)[:MOST_SOURCES],
            support=len(by),
        )
        for name, by in nodes.items()
    ]
    relations = [
        Relation(
            *ends,
            1,
            # A fraction of its own, for relations of one weight are sorted by each side as it
            # likes.
            weight=len(by) + stable_hash(*ends) % 100_003 / 100_003,
            keywords=(next(iter(by.values()))[0],),
            description=_joined(text for _, text in by.values()),
            source_ids=tuple(by)[:MOST_SOURCES],
            support=len(by),
        )
        for ends, by in edges.items()
    ]
    return entities, relations


def without_ties(
    material: Material, questions: Iterable[Question], count: int, compared_chunks: int = COMPARED
) -> Material:
    """Return the material with the first questions for which no two of the best of any search are
    equally near.
    """
    of_each = (
        list(material.chunks.values()),
        list(map(entity_text, material.entities)),
        list(map(relation_text, material.relations)),
    )
    matrices = [_directions(material.embed, texts) for texts in of_each]

    def clear(question: Question) -> bool:
        most = (compared_chunks, COMPARED, COMPARED)
        for matrix, text, count in zip(matrices, question.searches(), most, strict=True):
            best = np.sort(matrix @ _direction(material.embed, text))[::-1][:count]
            if np.min(best[:-1] - best[1:]) < TIE:
                return False
        return True

    chosen = list(islice(filter(clear, questions), count))
    return Material(material.chunks, material.entities, material.relations, chosen, material.embed)


def half_precise(text: str) -> Matrix:
    """Return the yardstick's vector, rounded so that LightRAG's files, which keep 16 bits a number,
    hold it whole.
    """
    return embed(text, DIMENSION).astype(np.float16).astype(np.float32)


def _joined(texts: Iterator[str] | Iterable[str]) -> str:
    return "<SEP>".join(dict.fromkeys(texts))[:MOST_DESCRIPTION]


def _directions(embed: Embed, texts: Sequence[str]) -> NDArray[np.float64]:
    return np.array([_direction(embed, text) for text in texts])


def _direction(embed: Embed, text: str) -> NDArray[np.float64]:
    vector = embed(text).astype(np.float64)
    return vector / np.linalg.norm(vector)
