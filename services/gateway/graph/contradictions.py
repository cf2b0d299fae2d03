"""What documents in force say differently of an entity or of a relation."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from offline.answers.quotable_sentences import Quotable, quotable
from offline.answers.row_disagreements import parts_disagree
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
    statements = [(source, part) for source in sources for part in _parts(source)]
    pairs: dict[frozenset[str], Contradiction] = {}
    for (first, part), (second, second_part) in combinations(statements, 2):
        place, second_place = first.provenance, second.provenance
        is_elsewhere = place.document_id != second_place.document_id
        if is_elsewhere and parts_disagree(
            part, second_part, place.file_path, second_place.file_path
        ):
            contradiction = Contradiction(first, part.text, second, second_part.text)
            pairs.setdefault(frozenset((part.text, second_part.text)), contradiction)
    return list(pairs.values())


def _parts(source: Source) -> Iterator[Quotable]:
    """Yield the rows of the passage that its description repeats, and the other sentences of it."""
    description = source.provenance.description
    passage = source.passage
    headings = passage.headings if passage else ()
    for part in quotable(passage.content, headings) if passage else ():
        words = " ".join(cell for _, cell in part.cells)
        if words and words in description:
            description = description.replace(words, "\n\n")
            yield part
    for sentence in sentences(description):
        yield Quotable(sentence.text, path=headings)
