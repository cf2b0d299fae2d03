"""What a walk knows of the graph around a question so far: entities, and which passages say what of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from contracts.ids import chunk_id, chunk_place, document_id
from runtime.stores.graph.port import Neighbourhood, Node, Tie
from services.query.domain.linking import form_of
from services.query.domain.passage import Passage
from services.query.domain.reading import MENTION, Asked, Mention

HEARD = 12.0
"""How much likelier a walk goes to an entity of which the passage says what is asked than to one that it only names."""

SAME = frozenset({"also called", "abbreviation"})
"""Keywords of a relation between two names of one thing."""


@dataclass
class Map:
    """Grows hop by hop."""

    nodes: dict[str, Node] = field(default_factory=dict[str, Node])
    ties: dict[tuple[str, str], Tie] = field(default_factory=dict[tuple[str, str], Tie])
    degrees: dict[str, int] = field(default_factory=dict[str, int])
    """Of the entities whose ties were read."""
    passages: dict[str, Passage] = field(default_factory=dict[str, Passage])
    mentions: dict[tuple[str, str], Mention] = field(default_factory=dict[tuple[str, str], Mention])
    """By passage and entity."""

    def add(self, around: Neighbourhood) -> None:
        """What the graph store said."""
        self.nodes |= around.nodes
        self.degrees |= around.degrees
        self.ties |= {(tie.source, tie.target): tie for tie in around.ties}

    def read(self, passages: Mapping[str, Passage], said: Iterable[Mention]) -> None:
        """What passages say."""
        self.passages |= passages
        self.mentions |= {(mention.chunk, mention.name): mention for mention in said}

    def same(self, names: Iterable[str]) -> set[str]:
        """Other names of these entities, as the ties say."""
        wanted = set(names)
        ends = [key for key, tie in self.ties.items() if SAME & set(tie.keywords) and wanted & set(key)]
        return {end for key in ends for end in key} - wanted

    def unread(self, name: str, most: int) -> list[str]:
        """The passages to read about an entity: those of a file of its name, then the first that name it."""
        node = self.nodes.get(name)
        if node is None:
            return []
        form = form_of(name)
        own = [document_id("", path) for path in node.file_paths if form_of(path.rsplit(".", 1)[0]) == form]
        first = [chunk for chunk in node.source_ids if (place := chunk_place(chunk)) and place[0] in own]
        named = [chunk_id(document, 0) for document in own] if own and not first else []
        tied = [chunk for key, tie in self.ties.items() if name in key for chunk in tie.source_ids]
        wanted = dict.fromkeys([*named, *first, *node.source_ids[:most], *tied[:most]])
        return [chunk for chunk in wanted if chunk not in self.passages][:most]

    def edges(self, asked: Asked) -> list[tuple[str, str, float]]:
        """Between entities and passages, for a walk: to passages by how much they are about the entity, to entities by
        how much of what is asked their passage says with them.
        """
        weights = asked.weights(mention.heard for mention in self.mentions.values())
        edges: list[tuple[str, str, float]] = []
        for (chunk, name), mention in self.mentions.items():
            heard = sum(weights[word] for word in mention.heard)
            edges.append((f"e:{name}", f"c:{chunk}", mention.about))
            edges.append((f"c:{chunk}", f"e:{name}", 1.0 + HEARD * heard))
        for name, node in self.nodes.items():
            for chunk in node.source_ids:
                if (chunk, name) not in self.mentions:
                    edges += [(f"e:{name}", f"c:{chunk}", MENTION), (f"c:{chunk}", f"e:{name}", 1.0)]
        return edges

    def chunks_of(self, name: str) -> list[str]:
        """The passages that name an entity, those that are most about it first."""
        said = {chunk: mention.about for (chunk, known), mention in self.mentions.items() if known == name}
        node = self.nodes.get(name)
        said |= {chunk: MENTION for chunk in (node.source_ids if node else ()) if chunk not in said}
        return sorted(said, key=lambda chunk: -said[chunk])


@dataclass(frozen=True)
class Path:
    """A way from a linked entity: the entities, the passages between them, and how much of the question they say."""

    names: tuple[str, ...]
    chunks: tuple[str, ...]
    heard: frozenset[str]
    value: float


STEP = 0.04
"""What a step costs that hears nothing new; all asked words together are worth 1."""
KEPT = 60
DEPTH = 5


def paths(known: Map, asked: Asked, starts: Sequence[str]) -> list[Path]:
    """Beam search for the ways that say most of what is asked in the fewest steps, the best first."""
    weights = asked.weights(mention.heard for mention in known.mentions.values())
    of_name: dict[str, list[Mention]] = {}
    of_chunk: dict[str, list[Mention]] = {}
    for mention in known.mentions.values():
        of_name.setdefault(mention.name, []).append(mention)
        of_chunk.setdefault(mention.chunk, []).append(mention)
    beam = [Path((name,), (), frozenset(), 0.0) for name in starts]
    found: list[Path] = []
    for _ in range(DEPTH):
        longer = [
            step
            for path in beam
            for here in of_name.get(path.names[-1], ())
            for there in of_chunk[here.chunk]
            if there.name not in path.names and (step := _further(path, here, there, weights)) is not None
        ]
        best: dict[tuple[str, ...], Path] = {}
        for path in sorted(longer, key=lambda path: -path.value):
            best.setdefault((path.names[-1], *path.chunks), path)
        beam = list(best.values())[:KEPT]
        found += beam
    return sorted(found, key=lambda path: -path.value)


def _further(path: Path, here: Mention, there: Mention, weights: Mapping[str, float]) -> Path:
    heard = path.heard | there.heard
    gain = sum(weights[word] for word in there.heard - path.heard)
    cost = STEP * (1.0 if here.about > MENTION else 2.0)
    chunks = path.chunks if path.chunks[-1:] == (here.chunk,) else (*path.chunks, here.chunk)
    return Path((*path.names, there.name), chunks, heard, path.value + gain - cost)
