"""The part of the graph that a walk has read: entities, relations, and the sentences that are about them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from contracts.ids import chunk_id, chunk_place, ids_of_name
from runtime.models.port import Vector
from runtime.stores.graph.port import Neighbourhood, Node, RelationSummary
from services.query.passage import Passage
from services.query.retrieval.linking import normal_form, words
from services.query.retrieval.multihop.pagerank import pagerank
from services.query.retrieval.multihop.query_terms import QueryTerms
from services.query.retrieval.multihop.sentences import LEADING, MENTIONED, Sentence

RELEVANCE_BOOST = 12.0
"""How much the weight of an edge grows for a sentence that contains every term of the question."""

ALIAS_KEYWORDS = frozenset({"also called", "abbreviation"})
"""Keywords of a relation between two names of the same thing."""


@dataclass
class Subgraph:
    """What a walk has read so far; it grows with every hop."""

    nodes: dict[str, Node] = field(default_factory=dict[str, Node])
    relations: dict[tuple[str, str], RelationSummary] = field(default_factory=dict[tuple[str, str], RelationSummary])
    degrees: dict[str, int] = field(default_factory=dict[str, int])
    """How many relations each entity has whose relations were read."""
    word_vectors: dict[str, Vector] = field(default_factory=dict[str, Vector])
    """By word of a sentence; not every word has one."""
    query_vectors: Mapping[str, Vector] = field(default_factory=dict[str, Vector])
    """By stem of the question."""
    passages: dict[str, Passage] = field(default_factory=dict[str, Passage])
    sentences: list[Sentence] = field(default_factory=list[Sentence])
    _sentences_by_entity: dict[str, list[Sentence]] = field(default_factory=dict[str, list[Sentence]])
    _defining_chunks: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def add_neighbourhood(self, around: Neighbourhood) -> None:
        """Add what the graph store returned."""
        self.nodes |= around.nodes
        self.degrees |= around.degrees
        self.relations |= {(tie.source, tie.target): tie for tie in around.relation_summaries}

    def add_passages(self, passages: Mapping[str, Passage], said: Iterable[Sentence]) -> None:
        """Add passages and their sentences."""
        self.passages |= passages
        self._defining_chunks.clear()
        for sentence in said:
            self.sentences.append(sentence)
            for name in sentence.entity_weights:
                self._sentences_by_entity.setdefault(name, []).append(sentence)

    def aliases(self, names: Iterable[str]) -> set[str]:
        """Return other names of these entities, by relations with an alias keyword."""
        wanted = set(names)
        ends = [key for key, tie in self.relations.items() if ALIAS_KEYWORDS & set(tie.keywords) and wanted & set(key)]
        return {end for key in ends for end in key} - wanted

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
        tied = Counter(chunk for key, tie in self.relations.items() if name in key for chunk in tie.source_ids)
        wanted = dict.fromkeys([*node.source_ids, *tied, *(chunk_id(document, 0) for document in own)])
        ranked = sorted(wanted, key=lambda chunk: (_document_of(chunk) not in own, -tied[chunk]))
        return [chunk for chunk in ranked if chunk not in self.passages]

    def edges(self, terms: QueryTerms) -> list[tuple[str, str, float]]:
        """Return weighted edges for PageRank between entities (`e:`) and sentences (`c:chunk:number`).

        The weight from an entity to a sentence grows with how much the sentence is about it and with the terms of the
        question that it contains; the way back weighs 1. A chunk that was not read counts as one sentence.
        """
        weights = self.term_weights(terms)
        total = sum(weights.values()) or 1.0
        edges: list[tuple[str, str, float]] = []
        for sentence in self.sentences:
            said = 1.0 + RELEVANCE_BOOST * sum(weights[word] for word in sentence.query_stems) / total
            here = f"c:{sentence.chunk_id}:{sentence.number}"
            for name, about in sentence.entity_weights.items():
                edges.append((f"e:{name}", here, about * said))
                edges.append((here, f"e:{name}", 1.0))
        for name, node in self.nodes.items():
            for chunk in node.source_ids:
                if chunk not in self.passages:
                    edges += [(f"e:{name}", f"c:{chunk}:", MENTIONED), (f"c:{chunk}:", f"e:{name}", 1.0)]
        return edges

    def rank_by_pagerank(self, terms: QueryTerms, starts: Mapping[str, float]) -> tuple[list[str], list[str]]:
        """Return names of entities and ids of chunks, each the highest PageRank personalised to the starts first."""
        scores = pagerank(self.edges(terms), {f"e:{name}": weight for name, weight in starts.items()})
        chunks: dict[str, float] = {}
        for node, score in scores.items():
            if node.startswith("c:"):
                chunk = node[2:].rpartition(":")[0]
                chunks[chunk] = chunks.get(chunk, 0.0) + score
        entities = [node[2:] for node in sorted(scores, key=lambda node: -scores[node]) if node.startswith("e:")]
        return entities, sorted(chunks, key=lambda chunk: -chunks[chunk])

    def words_without_vector(self, most: int) -> list[str]:
        """Return up to `most` words without a vector from sentences about several entities, the most frequent first."""
        tying = (sentence.words for sentence in self.sentences if len(sentence.entity_weights) > 1)
        counts = Counter(word for some in tying for word in some if len(word) > 1 and word not in self.word_vectors)
        return [word for word, _ in counts.most_common(most)]

    def term_weights(self, terms: QueryTerms) -> Mapping[str, float]:
        """Return the inverse document frequency of each term, over the sentences that were read."""
        return terms.idf(sentence.query_stems for sentence in self.sentences)

    def describing_terms(self) -> dict[str, frozenset[str]]:
        """Return by entity the terms in sentences that are about it alone and led by it: they say what it is."""
        found: dict[str, frozenset[str]] = {}
        for sentence in self.sentences:
            if sentence.query_stems and len(sentence.entity_weights) == 1:
                for name, about in sentence.entity_weights.items():
                    if about >= LEADING:
                        found[name] = found.get(name, frozenset()) | sentence.query_stems
        return found

    def defining_chunks(self, name: str) -> list[str]:
        """Return ids of the chunks that an entity leads or titles, the strongest first; else the first mention."""
        if name not in self._defining_chunks:
            about: dict[str, float] = {}
            for sentence in self.sentences_about(name):
                about[sentence.chunk_id] = max(about.get(sentence.chunk_id, 0.0), sentence.entity_weights[name])
            leading = sorted((chunk for chunk in about if about[chunk] >= LEADING), key=lambda chunk: -about[chunk])
            node = self.nodes.get(name)
            self._defining_chunks[name] = leading or [*about, *(node.source_ids if node else ())][:1]
        return self._defining_chunks[name]

    def sentences_about(self, name: str) -> Sequence[Sentence]:
        """Return the sentences that are about an entity."""
        return self._sentences_by_entity.get(name, ())


def _document_of(chunk: str) -> str:
    place = chunk_place(chunk)
    return place[0] if place else ""
