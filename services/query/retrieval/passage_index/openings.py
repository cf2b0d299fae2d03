"""What passages open with, to find one by its title though the extractor tore that name in two or
did not see it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from offline.language.normal_forms import Word, words

MAX_WORDS = 8
"""Words of a passage's opening that are compared."""
MIN_CONTENT_WORDS = 2
"""Words of a title at least that are no stopwords."""
MAX_PASSAGES = 5
"""Passages at most that may open with a title: one that more open with distinguishes too few."""
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

    def add(self, lines: str) -> None:
        """Add the next passage, of which these are the words, a line each."""
        first = lines.split("\n", MAX_WORDS + 1)[: MAX_WORDS + 1] if lines else []
        has_article = bool(first) and first[0] in _ARTICLES
        opening = tuple(first[1:] if has_article else first[:MAX_WORDS])
        if opening:
            self.by_first.setdefault(opening[0], []).append(len(self.words_of))
        self.words_of.append(opening)

    def titles(self, question: str) -> list[Title]:
        """Return the titles in a question, of overlapping ones the first."""
        tokens = words(question)
        # A question that writes names with capitals begins no title with a small letter.
        is_cased = any(
            question[word.start].isupper() and not word.is_stopword for word in tokens[1:]
        )
        titles: list[Title] = []
        position = 0
        while position < len(tokens):
            first = tokens[position]
            title = None
            if not first.is_stopword and (first.is_capitalised or not is_cased):
                title = self._longest_title(tokens[position : position + MAX_WORDS])
            if title is None:
                position += 1
                continue
            length, passages = title
            titles.append(Title(first.start, tokens[position + length - 1].end, passages))
            position += length
        return titles

    def _longest_title(self, tokens: Sequence[Word]) -> tuple[int, tuple[int, ...]] | None:
        """Return how many of these words passages open with, and which passages; None if that is no
        title.
        """
        lengths: dict[int, int] = {}
        for passage in self.by_first.get(tokens[0].form, [])[:MAX_COMPARED]:
            lengths[passage] = _common_length(tokens, self.words_of[passage])
        length = max(lengths.values(), default=0)
        passages = tuple(passage for passage in lengths if lengths[passage] == length)
        content_words = sum(not word.is_stopword for word in tokens[:length])
        if content_words < MIN_CONTENT_WORDS or len(passages) > MAX_PASSAGES:
            return None
        return length, passages


def _common_length(tokens: Sequence[Word], opening: Sequence[str]) -> int:
    """Return how many first words are the same, without stopwords at their end."""
    length = 0
    for word, form in zip(tokens, opening, strict=False):
        if word.form != form:
            break
        length += 1
    while length and tokens[length - 1].is_stopword:
        length -= 1
    return length
