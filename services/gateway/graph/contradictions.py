"""What documents in force say differently of an entity or of a relation."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from offline.answers.disagreements import disagree
from offline.language.sentences import sentences
from services.gateway.graph.sources import Source

MAX_SOURCES = 100
"""Chunks whose descriptions are compared."""


@dataclass(frozen=True)
class Contradiction:
    """Two sentences of different documents that seem to contradict each other."""

    first: Source
    first_statement: str
    second: Source
    second_statement: str

    @property
    def statements(self) -> tuple[tuple[Source, str], tuple[Source, str]]:
        """Return both sentences, each with where it comes from."""
        return (self.first, self.first_statement), (self.second, self.second_statement)


def contradictions(sources: Sequence[Source]) -> list[Contradiction]:
    """Return the pairs of sentences, of the descriptions that different documents give, that seem
    to contradict each other; each pair of sentences once.
    """
    statements = [(source, text) for source in sources for text in _sentences(source)]
    pairs: dict[frozenset[str], Contradiction] = {}
    for (first, statement), (second, second_statement) in combinations(statements, 2):
        is_elsewhere = first.provenance.document_id != second.provenance.document_id
        if is_elsewhere and disagree(statement, second_statement):
            contradiction = Contradiction(first, statement, second, second_statement)
            pairs.setdefault(frozenset((statement, second_statement)), contradiction)
    return list(pairs.values())


def _sentences(source: Source) -> Iterator[str]:
    for sentence in sentences(source.provenance.description):
        yield sentence.text
