"""The part of the graph that a walk has read: entities, relations, and the sentences that are about them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from contracts.ids import chunk_id, chunk_place, ids_of_name
from runtime.stores.graph.port import Neighbourhood, Node, RelationSummary
from services.query.passage import Passage
from services.query.retrieval.linking import normal_form, words
from services.query.retrieval.multihop.analysis import PassageAnalysis
from services.query.retrieval.multihop.mentions import MentionTable
from services.query.retrieval.multihop.pagerank import pagerank
from services.query.retrieval.multihop.query_terms import QueryTerms, term_weights
from services.query.retrieval.multihop.sentences import LEADING, MENTIONED, Sentence
from services.query.retrieval.multihop.similar_words import SimilarWords

RELEVANCE_BOOST = 12.0
"""How much the weight of an edge grows for a sentence that contains every term of the question."""

Array = Any

ALIAS_KEYWORDS = frozenset({"also called", "abbreviation"})
"""Keywords of a relation between two names of the same thing."""


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
    chunk_ids: list[str] = field(default_factory=list[str])
    """Of the sentences that are about entities, the id of each one's chunk."""
    mentions: MentionTable = field(default_factory=MentionTable)
    stems: Sequence[str] = field(init=False)
    """The stems of the terms in alphabetical order: the columns of `coverage`."""
    coverage: Array = field(init=False)
    """How much each sentence covers each stem of the question: 1 where it contains it, less for a similar word."""
    _relations_of: dict[str, list[RelationSummary]] = field(default_factory=dict[str, list[RelationSummary]])
    _defining_chunks: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def __post_init__(self) -> None:
        self.stems = sorted(self.terms.stems)
        self.coverage = np.zeros((0, len(self.stems)))

    def add_neighbourhood(self, around: Neighbourhood) -> None:
        """Add what the graph store returned."""
        self.nodes |= around.nodes
        self.degrees |= around.degrees
        for tie in around.relation_summaries:
            if tie.key not in self.relations:
                self.relations[tie.key] = tie
                for name in {*tie.key}:
                    self._relations_of.setdefault(name, []).append(tie)

    def add_passages(
        self, passages: Mapping[str, Passage], analyses: Sequence[PassageAnalysis], similar: SimilarWords
    ) -> None:
        """Add passages with their analyses. `similar` are words of sentences that are similar to terms."""
        self.passages |= passages
        self._defining_chunks.clear()
        for analysis in analyses:
            self.mentions.add(analysis.names, analysis.names_per_sentence, analysis.weights)
            self.chunk_ids += [sentence.chunk_id for sentence in analysis.sentences]
        said = [sentence for analysis in analyses for sentence in analysis.sentences]
        self.coverage = np.concatenate([self.coverage, _coverage(said, self.stems, similar)])

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
        numbers, known = self.mentions.numbers, self.mentions.arrays
        entities, pieces, unread = self._unread_mentions()
        chunks = {chunk: number for number, chunk in enumerate(dict.fromkeys([*self.chunk_ids, *unread]))}
        chunk_of = np.array([chunks[chunk] for chunk in (*self.chunk_ids, *unread)], np.int64)
        begins = [numbers[name] for name in starts]
        count = len(numbers)
        seeds = np.zeros(count + len(chunk_of))
        seeds[begins] = list(starts.values())
        relevant = known.weights * self._relevance()[known.sentences]
        from_entities = np.concatenate([known.entities, entities])
        to_pieces = count + np.concatenate([known.sentences, pieces])
        scores = pagerank(
            np.concatenate([from_entities, to_pieces]),
            np.concatenate([to_pieces, from_entities]),
            np.concatenate([relevant, np.full(len(entities), MENTIONED), np.ones(len(from_entities))]),
            seeds,
        )
        by_chunk = np.bincount(chunk_of, scores[count:], len(chunks))
        return _ranked(numbers, scores[:count]), _ranked(chunks, by_chunk)

    def _unread_mentions(self) -> tuple[Array, Array, list[str]]:
        """Return mentions in chunks that were not read: entities, and pieces numbered on behind the sentences.

        The chunks are returned in the order of these numbers.
        """
        chunks: dict[str, int] = {}
        mentions: list[tuple[int, int]] = []
        for name, node in self.nodes.items():
            for chunk in node.source_ids:
                if chunk not in self.passages:
                    piece = chunks.setdefault(chunk, len(self.chunk_ids) + len(chunks))
                    mentions.append((self.mentions.numbers[name], piece))
        pairs = np.array(mentions, np.int64).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1], list(chunks)

    def _relevance(self) -> Array:
        """Return for each sentence how much the weight of its mentions grows by the terms that it contains."""
        contained = self.coverage == 1.0
        weights = term_weights(contained.sum(axis=0), int(contained.any(axis=1).sum()))
        return 1.0 + RELEVANCE_BOOST * (contained @ weights) / (weights.sum() or 1.0)

    def describing_terms(self) -> dict[int, Array]:
        """Return by number of an entity which stems are in sentences about it alone, led by it: they say what it is."""
        known, contained = self.mentions.arrays, self.coverage == 1.0
        alone: Array = np.flatnonzero((known.counts == 1) & contained.any(axis=1))
        found: dict[int, Array] = {}
        for sentence in alone[known.weights[known.starts[alone]] >= LEADING].tolist():
            entity = int(known.entities[known.starts[sentence]])
            found[entity] = found.get(entity, False) | contained[sentence]
        return found

    def defining_chunks(self, name: str) -> list[str]:
        """Return ids of the chunks that an entity leads or titles, the strongest first; else the first mention."""
        if name not in self._defining_chunks:
            about: dict[str, float] = {}
            known = self.mentions.arrays
            mentions = known.of(self.mentions.numbers[name])
            sentences: list[int] = known.sentences[mentions].tolist()
            weights: list[float] = known.weights[mentions].tolist()
            for sentence, weight in zip(sentences, weights, strict=True):
                chunk = self.chunk_ids[sentence]
                about[chunk] = max(about.get(chunk, 0.0), weight)
            leading = sorted((chunk for chunk in about if about[chunk] >= LEADING), key=lambda chunk: -about[chunk])
            node = self.nodes.get(name)
            self._defining_chunks[name] = leading or [*about, *(node.source_ids if node else ())][:1]
        return self._defining_chunks[name]


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
    words: list[int] = []
    begins: list[int] = []
    having: list[int] = []
    for number, sentence in enumerate(said):
        some = [similar.rows[word] for word in sentence.words if word in similar.rows]
        if some:
            having.append(number)
            begins.append(len(words))
            words += some
        for stem in sentence.stems & columns.keys():
            rows[number, columns[stem]] = 1.0
    if words:
        rows[having] = np.maximum(rows[having], np.maximum.reduceat(similar.weights[words], begins))
    return rows
