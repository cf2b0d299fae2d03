"""Which sentences mention which entities, in arrays: a walk looks at thousands of mentions for each question."""

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = Any


class _Numbers(dict[str, int]):
    """Numbers of names in the order in which they are first asked for."""

    def __missing__(self, name: str) -> int:
        number = self[name] = len(self)
        return number


class MentionTable:
    """The mentions of entities, sentence by sentence; entities and sentences are numbered as they are added."""

    def __init__(self) -> None:
        self.numbers = _Numbers()
        """The number of each entity; one that is asked for and unknown gets the next."""
        self._entities: list[Array] = []
        self._counts: list[Array] = []
        self._weights: list[Array] = []
        self._arrays: _Arrays | None = None

    def add(self, names: Sequence[str], counts: Array, weights: Array) -> None:
        """Add sentences: `counts` has their numbers of mentions, `names` and `weights` those of each mention."""
        numbers = self.numbers
        self._entities.append(np.array([numbers[name] for name in names], np.int64))
        self._counts.append(counts)
        self._weights.append(weights)
        self._arrays = None

    @property
    def arrays(self) -> "_Arrays":
        """All mentions so far."""
        if self._arrays is None:
            nothing = [np.zeros(0, np.int64)]
            self._entities = [np.concatenate(self._entities or nothing)]
            self._counts = [np.concatenate(self._counts or nothing)]
            self._weights = [np.concatenate(self._weights or [np.zeros(0)])]
            self._arrays = _Arrays(self._entities[0], self._counts[0], self._weights[0])
        return self._arrays


class _Arrays:
    """`entities`, `sentences` and `weights` have an item for each mention, `counts` and `starts` for each sentence."""

    def __init__(self, entities: Array, counts: Array, weights: Array) -> None:
        self.entities, self.counts, self.weights = entities, counts, weights
        self.starts: Array = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)[: len(counts)]
        """The number of each sentence's first mention."""
        self.sentences: Array = np.repeat(np.arange(len(counts)), counts)
        self._by_entity: Array = np.argsort(entities, kind="stable")
        self._sorted: Array = entities[self._by_entity]

    def of(self, entity: int) -> Array:
        """Return the numbers of the mentions of an entity, in order."""
        low, high = np.searchsorted(self._sorted, [entity, entity + 1])
        return self._by_entity[low:high]

    def beside(self, mentions: Array) -> tuple[Array, Array]:
        """Return mentions in the sentences of these ones, sentence by sentence, and which of these each is beside."""
        sentences = self.sentences[mentions]
        counts = self.counts[sentences]
        which: Array = np.repeat(np.arange(len(mentions)), counts)
        offsets = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
        return self.starts[sentences][which] + offsets, which
