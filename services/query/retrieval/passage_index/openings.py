"""What passages open with, to find one by its title though the extractor tore that name in two or
did not see it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from services.query.retrieval.words import Word, words

MAX_WORDS = 8
"""Words of a passage's opening that are compared."""
MIN_TELLING = 2
"""Words of a title at least that are no stopwords."""
MAX_PASSAGES = 5
"""A title that more passages open with tells too little."""
MAX_COMPARED = 500
"""Passages that are compared for one word of a question, the first ones."""

_ARTICLES = {"the", "a", "an"}


@dataclass(frozen=True, slots=True)
class Title:
    """A span of a question, in characters, with the numbers of the passages that open with it."""

    start: int
    end: int
    passages: tuple[int, ...]


@dataclass(slots=True)
class Openings:
    """The first words of passages, without an article."""

    words_of: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    """By number of the passage."""
    by_first: dict[str, list[int]] = field(default_factory=dict[str, list[int]])

    def add(self, tokens: Sequence[Word]) -> None:
        """Add the next passage, of which these are the words."""
        forms = [word.form for word in tokens[: MAX_WORDS + 1]]
        opening = tuple(forms[1:] if forms[:1] and forms[0] in _ARTICLES else forms[:MAX_WORDS])
        if opening:
            self.by_first.setdefault(opening[0], []).append(len(self.words_of))
        self.words_of.append(opening)

    def titles(self, question: str) -> list[Title]:
        """Return the titles in a question, of overlapping ones the first."""
        tokens, titles, place = words(question), list[Title](), 0
        # A question that writes names with capitals begins no title with a small letter.
        cased = any(question[word.start].isupper() and not word.is_stopword for word in tokens[1:])
        while place < len(tokens):
            length, passages = 0, ()
            if not tokens[place].is_stopword and (tokens[place].is_capitalised or not cased):
                length, passages = self._longest(tokens[place : place + MAX_WORDS])
            if passages:
                titles.append(Title(tokens[place].start, tokens[place + length - 1].end, passages))
            place += max(1, length if passages else 0)
        return titles

    def _longest(self, tokens: Sequence[Word]) -> tuple[int, tuple[int, ...]]:
        """Return how many of these words passages open with, and which; none if that is no
        title.
        """
        lengths = {
            p: _common(tokens, self.words_of[p])
            for p in self.by_first.get(tokens[0].form, [])[:MAX_COMPARED]
        }
        length = max(lengths.values(), default=0)
        passages = tuple(passage for passage, some in lengths.items() if some == length)
        if (
            sum(not word.is_stopword for word in tokens[:length]) < MIN_TELLING
            or len(passages) > MAX_PASSAGES
        ):
            return 0, ()
        return length, passages


def _common(tokens: Sequence[Word], opening: Sequence[str]) -> int:
    """Return how many first words are the same, without stopwords at their end."""
    length = 0
    for word, form in zip(tokens, opening, strict=False):
        if word.form != form:
            break
        length += 1
    while length and tokens[length - 1].is_stopword:
        length -= 1
    return length
