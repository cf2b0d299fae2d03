"""Which sentences of passages seem to contradict those of other documents."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from offline.answers.quotable_sentences import Quotable, quotable
from offline.answers.row_disagreements import parts_disagree
from services.query.passage import Passage

MAX_PASSAGES = 20
"""Passages, the best first, in which a contradiction is looked for."""

BEGINNING = 5
"""Letters by which two forms of a word are taken for the same before sentences are compared."""

SHARED_WORDS = 2


@dataclass(frozen=True)
class PassageSentence:
    """A sentence of a passage, without markup."""

    passage: Passage
    part: Quotable

    @property
    def text(self) -> str:
        """Return its words."""
        return self.part.plain

    def contradicts(self, other: "PassageSentence") -> bool:
        """Return whether another document seems to say otherwise in the other sentence."""
        return (
            self.passage.document_id != other.passage.document_id
            and _may_speak_of_the_same(self.text, other.text)
            and parts_disagree(
                self.part, other.part, self.passage.file_path, other.passage.file_path
            )
        )


def passage_sentences(passages: Iterable[Passage]) -> Sequence[PassageSentence]:
    """Return the sentences of passages, in their order."""
    return [
        PassageSentence(passage, part)
        for passage in passages
        for part in quotable(passage.content, passage.headings, begins_inside=passage.order > 0)
    ]


def _may_speak_of_the_same(text: str, other_text: str) -> bool:
    """Return whether the sentences share words: a comparison of their stems costs a hundred times
    as much.
    """
    beginnings = _beginnings(text)
    if not beginnings:
        return True
    least = min(SHARED_WORDS, len(beginnings))
    return sum(word in other_text for word in beginnings) >= least


@lru_cache(maxsize=1 << 12)
def _beginnings(text: str) -> frozenset[str]:
    return frozenset(word[:BEGINNING] for word in text.split() if len(word) >= BEGINNING)
