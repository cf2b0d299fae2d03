"""The part of the graph that a walk has read: entities, relations, and the sentences that are about them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from contracts.ids import chunk_id, chunk_place, ids_of_name
from runtime.stores.graph.port import Neighbourhood, Node, RelationSummary
from services.query.passage import Passage
from services.query.retrieval.linking import normal_form, words
from services.query.retrieval.multihop.pagerank import pagerank
from services.query.retrieval.multihop.query_terms import QueryTerms
from services.query.retrieval.multihop.sentences import LEADING, MENTIONED, Sentence
from services.query.retrieval.multihop.similar_words import SimilarWords

RELEVANCE_BOOST = 12.0
"""How much the weight of an edge grows for a sentence that contains every term of the question."""

Array = Any

ALIAS_KEYWORDS = frozenset({"also called", "abbreviation"})
"""Keywords of a relation between two names of the same thing."""


class QuerySentence(NamedTuple):
    """A sentence, and the stems of the question's terms that it contains; `number`: its row in `Subgraph.coverage`."""

    number: int
    sentence: Sentence
    query_stems: frozenset[str]


@dataclass
class Subgraph:
    """What a walk for these terms has read so far; it grows with every hop.

    For PageRank, entities, sentences and chunks are numbered in the order in which they are read.
    """

    terms: QueryTerms
    nodes: dict[str, Node] = field(default_factory=dict[str, Node])
    relations: dict[tuple[str, str], RelationSummary] = field(default_factory=dict[tuple[str, str], RelationSummary])
    degrees: dict[str, int] = field(default_factory=dict[str, int])
    """How many relations each entity has whose relations were read."""
    passages: dict[str, Passage] = field(default_factory=dict[str, Passage])
    sentences: list[QuerySentence] = field(default_factory=list[QuerySentence])
    stems: Sequence[str] = field(init=False)
    """The stems of the terms in alphabetical order: the columns of `coverage`."""
    _coverage: list[Array] = field(default_factory=list[Array])
    _relations_of: dict[str, list[RelationSummary]] = field(default_factory=dict[str, list[RelationSummary]])
    _sentences_by_entity: dict[str, list[QuerySentence]] = field(default_factory=dict[str, list[QuerySentence]])
    _defining_chunks: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    _entities: dict[str, int] = field(default_factory=dict[str, int])
    _mentions: list[tuple[int, int, float]] = field(default_factory=list[tuple[int, int, float]])
    """Number of the entity, number of the sentence, and how much the sentence is about the entity."""

    def __post_init__(self) -> None:
        self.stems = sorted(self.terms.stems)

    def add_neighbourhood(self, around: Neighbourhood) -> None:
        """Add what the graph store returned."""
        self.nodes |= around.nodes
        self.degrees |= around.degrees
        for tie in around.relation_summaries:
            if tie.key not in self.relations:
                self.relations[tie.key] = tie
                for name in {*tie.key}:
                    self._relations_of.setdefault(name, []).append(tie)

    def add_passages(self, passages: Mapping[str, Passage], said: Sequence[Sentence], similar: SimilarWords) -> None:
        """Add passages and their sentences. `similar` are words of sentences that are similar to terms."""
        self.passages |= passages
        self._defining_chunks.clear()
        self._coverage.append(_coverage(said, self.stems, similar))
        for number, sentence in enumerate(said, len(self.sentences)):
            one = QuerySentence(number, sentence, sentence.stems & self.terms.stems)
            self.sentences.append(one)
            for name, about in sentence.entity_weights.items():
                self._sentences_by_entity.setdefault(name, []).append(one)
                self._mentions.append((self._entities.setdefault(name, len(self._entities)), number, about))

    @property
    def coverage(self) -> Array:
        """How much each sentence covers each stem of the question: 1 where it contains it, less for a similar word."""
        self._coverage = [np.concatenate(self._coverage)] if self._coverage else [np.zeros((0, len(self.stems)))]
        return self._coverage[0]

    def aliases(self, names: Iterable[str]) -> set[str]:
        """Return other names of these entities, by relations with an alias keyword."""
        wanted = set(names)
        ties = [tie for name in wanted for tie in self._relations_of.get(name, ()) if ALIAS_KEYWORDS & {*tie.keywords}]
        return {end for tie in ties for end in tie.key} - wanted

    def unread_chunks(self, name: str) -> list[str]:
        """Return ids of chunks about an entity that were not read, the most useful first.

        First those of a file of its name; then those that most of its relations come from, for a chunk relates what it
        is about to much else; then the others that mention it.
        """
        node = self.nodes.get(name)
        if node is None:
            return []
        form = normal_form(words(name))
        titled = [path for path in node.file_paths if normal_form(words(path.rsplit(".", 1)[0])) == form]
        own = {id for path in titled for id in ids_of_name(path)}
        tied = Counter(chunk for tie in self._relations_of.get(name, ()) for chunk in tie.source_ids)
        wanted = dict.fromkeys([*node.source_ids, *tied, *(chunk_id(document, 0) for document in own)])
        ranked = sorted(wanted, key=lambda chunk: (_document_of(chunk) not in own, -tied[chunk]))
        return [chunk for chunk in ranked if chunk not in self.passages]

    def rank_by_pagerank(self, starts: Mapping[str, float]) -> tuple[list[str], list[str]]:
        """Return names of entities and ids of chunks, each the highest PageRank personalised to the starts first.

        The graph joins entities and sentences. The weight from an entity to a sentence grows with how much the
        sentence is about it and with the terms of the question that it contains; the way back weighs 1. A chunk that
        was not read counts as one sentence.
        """
        for name in starts:
            self._entities.setdefault(name, len(self._entities))
        chunks: dict[str, int] = {}
        chunk_of = [chunks.setdefault(one.sentence.chunk_id, len(chunks)) for one in self.sentences]
        unread, unread_chunks = self._unread_mentions()
        chunk_of += [chunks.setdefault(chunk, len(chunks)) for chunk in unread_chunks]
        numbers = np.array(self._mentions + unread, np.float64).reshape(-1, 3)
        ends, pieces, weights = numbers[:, 0].astype(np.int64), numbers[:, 1].astype(np.int64), numbers[:, 2]
        relevance = np.concatenate([self._relevance(), np.ones(len(unread_chunks))])
        seeds, count = np.zeros(len(self._entities) + len(chunk_of)), len(self._entities)
        for name, weight in starts.items():
            seeds[self._entities[name]] = weight
        scores = pagerank(
            np.concatenate([ends, pieces + count]),
            np.concatenate([pieces + count, ends]),
            np.concatenate([weights * relevance[pieces], np.ones(len(ends))]),
            seeds,
        )
        by_chunk = np.bincount(np.array(chunk_of, np.int64), scores[count:], len(chunks))
        return _ranked(self._entities, scores[:count]), _ranked(chunks, by_chunk)

    def _unread_mentions(self) -> tuple[list[tuple[int, int, float]], list[str]]:
        """Return mentions in chunks that were not read, and these chunks, numbered on behind the sentences."""
        chunks: dict[str, int] = {}
        mentions: list[tuple[int, int, float]] = []
        for name, node in self.nodes.items():
            for chunk in node.source_ids:
                if chunk not in self.passages:
                    piece = chunks.setdefault(chunk, len(self.sentences) + len(chunks))
                    mentions.append((self._entities.setdefault(name, len(self._entities)), piece, MENTIONED))
        return mentions, list(chunks)

    def _relevance(self) -> Array:
        """Return for each sentence how much the weight of its mentions grows by the terms that it contains."""
        weights = self.term_weights()
        total = sum(weights.values()) or 1.0
        return 1.0 + RELEVANCE_BOOST / total * np.array(
            [sum(weights[word] for word in one.query_stems) if one.query_stems else 0.0 for one in self.sentences]
        )

    def term_weights(self) -> Mapping[str, float]:
        """Return the inverse document frequency of each term, over the sentences that were read."""
        return self.terms.idf(one.query_stems for one in self.sentences)

    def describing_terms(self) -> dict[str, frozenset[str]]:
        """Return by entity the terms in sentences that are about it alone and led by it: they say what it is."""
        found: dict[str, frozenset[str]] = {}
        for _, sentence, query_stems in self.sentences:
            if query_stems and len(sentence.entity_weights) == 1:
                for name, about in sentence.entity_weights.items():
                    if about >= LEADING:
                        found[name] = found.get(name, frozenset()) | query_stems
        return found

    def defining_chunks(self, name: str) -> list[str]:
        """Return ids of the chunks that an entity leads or titles, the strongest first; else the first mention."""
        if name not in self._defining_chunks:
            about: dict[str, float] = {}
            for _, sentence, _ in self.sentences_about(name):
                about[sentence.chunk_id] = max(about.get(sentence.chunk_id, 0.0), sentence.entity_weights[name])
            leading = sorted((chunk for chunk in about if about[chunk] >= LEADING), key=lambda chunk: -about[chunk])
            node = self.nodes.get(name)
            self._defining_chunks[name] = leading or [*about, *(node.source_ids if node else ())][:1]
        return self._defining_chunks[name]

    def sentences_about(self, name: str) -> Sequence[QuerySentence]:
        """Return the sentences that are about an entity."""
        return self._sentences_by_entity.get(name, ())


def _document_of(chunk: str) -> str:
    place = chunk_place(chunk)
    return place[0] if place else ""


def _ranked(names: Mapping[str, int], scores: Array) -> list[str]:
    """Return the names, which stand in the order of their numbers, the highest score first."""
    ordered = list(names)
    return [ordered[number] for number in np.argsort(-scores, kind="stable").tolist()]


def _coverage(said: Sequence[Sentence], stems: Sequence[str], similar: SimilarWords) -> Array:
    """Return a row for each sentence and a column for each stem: the most that any of its words covers."""
    rows = np.zeros((len(said), len(stems)))
    columns = {stem: number for number, stem in enumerate(stems)}
    for number, sentence in enumerate(said):
        words = [row for word in sentence.words if (row := similar.rows.get(word)) is not None]
        if words:
            rows[number] = similar.weights[words].max(axis=0)
        for stem in sentence.stems & columns.keys():
            rows[number, columns[stem]] = 1.0
    return rows
