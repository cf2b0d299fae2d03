"""What a walk knows of the graph around a question so far: entities, and which passages say what of them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from contracts.ids import chunk_id, chunk_place, ids_of_name
from runtime.models.port import Vector
from runtime.stores.graph.port import Neighbourhood, Node, RelationSummary
from services.query.passage import Passage
from services.query.retrieval.linking import key_of, words
from services.query.retrieval.multihop.pagerank import pagerank
from services.query.retrieval.multihop.sentences import LED, NAMED, Asked, Sentence

HEARD = 12.0
"""How much likelier a walk goes to an entity of which the passage says what is asked than to one that it only names."""

SAME = frozenset({"also called", "abbreviation"})
"""Keywords of a relation between two names of one thing."""


@dataclass
class Map:
    """Grows hop by hop."""

    nodes: dict[str, Node] = field(default_factory=dict[str, Node])
    ties: dict[tuple[str, str], RelationSummary] = field(default_factory=dict[tuple[str, str], RelationSummary])
    degrees: dict[str, int] = field(default_factory=dict[str, int])
    """Of the entities whose ties were read."""
    like: dict[str, Vector] = field(default_factory=dict[str, Vector])
    """The vectors of words that sentences say, those that were asked for."""
    said: Mapping[str, Vector] = field(default_factory=dict[str, Vector])
    """The vectors of the asked words."""
    passages: dict[str, Passage] = field(default_factory=dict[str, Passage])
    sentences: list[Sentence] = field(default_factory=list[Sentence])
    _of_name: dict[str, list[Sentence]] = field(default_factory=dict[str, list[Sentence]])
    _defining: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def add(self, around: Neighbourhood) -> None:
        """What the graph store said."""
        self.nodes |= around.nodes
        self.degrees |= around.degrees
        self.ties |= {(tie.source, tie.target): tie for tie in around.relation_summaries}

    def read(self, passages: Mapping[str, Passage], said: Iterable[Sentence]) -> None:
        """What passages say."""
        self.passages |= passages
        self._defining.clear()
        for sentence in said:
            self.sentences.append(sentence)
            for name in sentence.about:
                self._of_name.setdefault(name, []).append(sentence)

    def same(self, names: Iterable[str]) -> set[str]:
        """Other names of these entities, as the ties say."""
        wanted = set(names)
        ends = [key for key, tie in self.ties.items() if SAME & set(tie.keywords) and wanted & set(key)]
        return {end for key in ends for end in key} - wanted

    def unread(self, name: str) -> list[str]:
        """The passages about an entity to read: those of a file of its name, then those of which most of its ties are,
        for what a passage is about it ties to much, then the first that name it.
        """
        node = self.nodes.get(name)
        if node is None:
            return []
        form = key_of(words(name))
        titled = [path for path in node.file_paths if key_of(words(path.rsplit(".", 1)[0])) == form]
        own = {id for path in titled for id in ids_of_name(path)}
        tied = Counter(chunk for key, tie in self.ties.items() if name in key for chunk in tie.source_ids)
        wanted = dict.fromkeys([*node.source_ids, *tied, *(chunk_id(document, 0) for document in own)])
        ranked = sorted(wanted, key=lambda chunk: (_document_of(chunk) not in own, -tied[chunk]))
        return [chunk for chunk in ranked if chunk not in self.passages]

    def edges(self, asked: Asked) -> list[tuple[str, str, float]]:
        """Between entities and sentences, for a walk: to a sentence by how much it is about the entity and how much of
        what is asked it says, from there to the others it is about. A passage that was not read is one sentence.
        """
        weights = self.weights(asked)
        total = sum(weights.values()) or 1.0
        edges: list[tuple[str, str, float]] = []
        for sentence in self.sentences:
            said = 1.0 + HEARD * sum(weights[word] for word in sentence.heard) / total
            here = f"c:{sentence.chunk}:{sentence.place}"
            for name, about in sentence.about.items():
                edges.append((f"e:{name}", here, about * said))
                edges.append((here, f"e:{name}", 1.0))
        for name, node in self.nodes.items():
            for chunk in node.source_ids:
                if chunk not in self.passages:
                    edges += [(f"e:{name}", f"c:{chunk}:", NAMED), (f"c:{chunk}:", f"e:{name}", 1.0)]
        return edges

    def walked(self, asked: Asked, starts: Mapping[str, float]) -> tuple[list[str], list[str]]:
        """The entities, and the passages, where a walk from the starts stands most often."""
        scores = pagerank(self.edges(asked), {f"e:{name}": weight for name, weight in starts.items()})
        chunks: dict[str, float] = {}
        for node, score in scores.items():
            if node.startswith("c:"):
                chunk = node[2:].rpartition(":")[0]
                chunks[chunk] = chunks.get(chunk, 0.0) + score
        entities = [node[2:] for node in sorted(scores, key=lambda node: -scores[node]) if node.startswith("e:")]
        return entities, sorted(chunks, key=lambda chunk: -chunks[chunk])

    def unknown_words(self, most: int) -> list[str]:
        """What sentences say of several entities and has no vector yet, the most frequent words first."""
        tying = (sentence.words for sentence in self.sentences if len(sentence.about) > 1)
        counts = Counter(word for some in tying for word in some if len(word) > 1 and word not in self.like)
        return [word for word, _ in counts.most_common(most)]

    def weights(self, asked: Asked) -> Mapping[str, float]:
        """What each asked word counts."""
        return asked.weights(sentence.heard for sentence in self.sentences)

    def kinds(self) -> dict[str, frozenset[str]]:
        """The asked words that say what an entity is: those in the first sentence of a paragraph it leads."""
        found: dict[str, frozenset[str]] = {}
        for sentence in self.sentences:
            if sentence.heard and len(sentence.about) == 1:
                for name, about in sentence.about.items():
                    if about >= LED:
                        found[name] = found.get(name, frozenset()) | sentence.heard
        return found

    def defining(self, name: str) -> list[str]:
        """The passages that are about an entity, the most so first; where none is, the first that names it."""
        if name not in self._defining:
            about: dict[str, float] = {}
            for sentence in self.naming(name):
                about[sentence.chunk] = max(about.get(sentence.chunk, 0.0), sentence.about[name])
            led = sorted((chunk for chunk in about if about[chunk] >= LED), key=lambda chunk: -about[chunk])
            node = self.nodes.get(name)
            self._defining[name] = led or [*about, *(node.source_ids if node else ())][:1]
        return self._defining[name]

    def naming(self, name: str) -> Sequence[Sentence]:
        """The sentences that are about an entity."""
        return self._of_name.get(name, ())


def _document_of(chunk: str) -> str:
    place = chunk_place(chunk)
    return place[0] if place else ""
