"""The words of a question that are no entity names, and where they stand around the names."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from services.query.retrieval.linking import Link, Word, words

UNSEEN_TERM_WEIGHT = 0.7
"""What a word counts that was not read anywhere, beside the usual one: it may be said in others."""


_ENDINGS = (
    "ations", "ation", "ments", "ment", "ings", "ing", "ions", "ion", "ers", "er", "ors", "or", "ied", "ies", "ed",
    "es", "en", "e", "s", "y",
)  # fmt: skip


_SHORTEST_STEM = 3


@dataclass(frozen=True)
class QueryTerms:
    """The words of a question that are no names, by stem."""

    words: Mapping[str, str]
    """Each stem with a word it is of."""
    context_terms: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = field(
        default_factory=dict[str, tuple[tuple[str, ...], tuple[str, ...]]]
    )
    """By linked entity, the stems before it and those behind it, the nearest first, as far as the next link: what is
    said first of an entity stands next to it.
    """

    phrase_count: int = 0
    """Runs of words that stand together, as `home port` does."""

    @property
    def stems(self) -> frozenset[str]:
        """Of all words."""
        return frozenset(self.words)

    @classmethod
    def of(cls, question: str, links: Sequence[Link]) -> "QueryTerms":
        """What the question says beside the links."""
        said: list[Word] = []
        phrases, together = 0, False
        for word in words(question):
            asks = not word.is_stopword and not any(link.start <= word.start < link.end for link in links)
            phrases += asks and not together
            together = asks
            if asks:
                said.append(word)
        forms: dict[str, str] = {}
        for word in said:
            forms.setdefault(stem(word.form), word.form)
        return cls(forms, {name: _context_terms(link, links, said) for link in links for name in link.names}, phrases)

    def idf(self, said: Iterable[frozenset[str]]) -> Mapping[str, float]:
        """What each word counts: the rarer in what was read the more; UNREAD of a usual one where it was not read."""
        heard = [some for some in said if some]
        counts = Counter(word for some in heard for word in some)
        raw = {word: math.log(1 + (1 + len(heard)) / (1 + count)) for word, count in counts.items()}
        middle = sum(raw.values()) / len(raw) if raw else 1.0
        return {word: raw.get(word, UNSEEN_TERM_WEIGHT * middle) for word in self.words}


def _context_terms(link: Link, links: Sequence[Link], said: Sequence[Word]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The stems on either side of a link as far as the next one, the nearest first."""
    low = max((other.end for other in links if other.end <= link.start), default=0)
    high = min((other.start for other in links if other.start >= link.end), default=1 << 30)
    before = [stem(word.form) for word in said if low <= word.start and word.end <= link.start]
    behind = [stem(word.form) for word in said if link.end <= word.start and word.end <= high]
    return tuple(reversed(before)), tuple(behind)


@lru_cache(maxsize=1 << 14)
def stem(form: str) -> str:
    """A word without its ending, roughly: `founder`, `founded` and `founding` are one."""
    if not form.isascii():
        return form
    for ending in _ENDINGS:
        if form.endswith(ending) and len(form) - len(ending) >= _SHORTEST_STEM:
            form = form[: -len(ending)]
            break
    return form[:-1] if len(form) > _SHORTEST_STEM + 1 and form[-1] == form[-2] else form
