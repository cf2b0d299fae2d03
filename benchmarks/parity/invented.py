"""A graph of invented names, for a comparison that can be recorded in the repository.

Few names stand in very many documents and most in few, as in real text. Vectors are sums of small
whole numbers, which every number format holds exactly, and every relation has a weight of its own,
so that hardly anything is tied.
"""

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import accumulate, pairwise
from random import Random

import numpy as np
from numpy.typing import NDArray

from benchmarks.parity.material import (
    COMPARED_CHUNKS,
    MOST_SOURCES,
    Material,
    Question,
    without_ties,
)
from benchmarks.yardstick.extraction import stable_hash
from contracts.graph import Entity, Relation
from contracts.ids import chunk_id, pair

DIMENSION = 24
NAMES_PER_DOCUMENT = 7
MOST_STATEMENTS = 12
"""Statements that a description joins: hubs have long ones, so that budgets cut."""

_SYLLABLES = (
    "ba",
    "dor",
    "ke",
    "lun",
    "mi",
    "nor",
    "pa",
    "quel",
    "ri",
    "sta",
    "to",
    "ven",
    "wy",
    "zan",
)
_THEMES = (
    "trade",
    "music",
    "war",
    "law",
    "medicine",
    "shipping",
    "weather",
    "harvest",
    "glass",
    "bridges",
    "mining",
)
_VERBS = (
    "founded",
    "sold",
    "painted",
    "crossed",
    "repaired",
    "measured",
    "defended",
    "described",
    "inherited",
)


def invented(count: int, asked: int) -> Material:
    """A graph of `count` documents of one chunk each, and `asked` distinct questions without
    ties.
    """
    dice = Random(count)
    names = _names(dice, 3 * count)
    likely = list(accumulate(1 / (rank + 1) ** 0.8 for rank in range(len(names))))
    said: defaultdict[str, dict[str, str]] = defaultdict(dict)
    tied: defaultdict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    chunks: dict[str, str] = {}
    for number in range(count):
        chunk = chunk_id(f"invented-{number:04d}", 0)
        chosen = list(dict.fromkeys(dice.choices(names, cum_weights=likely, k=NAMES_PER_DOCUMENT)))
        lines: list[str] = []
        for one, other in pairwise(chosen):
            lines.append(
                f"{one} {dice.choice(_VERBS)} {dice.choice(_THEMES)} of {other} in year "
                f"{dice.randrange(999)}."
            )
            tied[pair(one, other)].setdefault(chunk, lines[-1])
            for name in (one, other):
                said[name].setdefault(chunk, lines[-1])
        chunks[chunk] = " ".join(lines) or f"{chosen[0]} alone in year {number}."
    entities = [
        Entity(
            name,
            1,
            type="thing",
            description=_joined(by),
            source_ids=tuple(by)[:MOST_SOURCES],
            support=len(by),
        )
        for name, by in said.items()
    ]
    relations = [
        Relation(
            *ends,
            1,
            weight=len(by) + stable_hash(*ends) % 1_000_003 / 1_000_003,
            keywords=(_THEMES[stable_hash(*ends) % len(_THEMES)],),
            description=_joined(by),
            source_ids=tuple(by)[:MOST_SOURCES],
            support=len(by),
        )
        for ends, by in tied.items()
    ]
    material = Material(chunks, entities, relations, (), embed)
    return without_ties(material, _questions(dice, list(said)), asked, COMPARED_CHUNKS)


def embed(text: str) -> NDArray[np.float32]:
    """The sum of the vectors of its words."""
    return sum((_word(word) for word in text.lower().split()), np.ones(DIMENSION, np.float32))


@cache
def _word(word: str) -> NDArray[np.float32]:
    bits = stable_hash(word.strip(".,"))
    return np.array([(bits >> 2 * place & 3) - 1 for place in range(DIMENSION)], np.float32)


def _names(dice: Random, count: int) -> list[str]:
    names: dict[str, None] = {}
    while len(names) < count:
        words = (
            "".join(dice.choices(_SYLLABLES, k=dice.choice((2, 3)))).capitalize() for _ in range(2)
        )
        names[" ".join(words)] = None
    return list(names)


def _joined(by: dict[str, str]) -> str:
    return "<SEP>".join(list(dict.fromkeys(by.values()))[:MOST_STATEMENTS])


def _questions(dice: Random, names: list[str]) -> Iterator[Question]:
    """Questions about one or two names and a theme or two, each text once."""
    asked: set[str] = set()
    while True:
        low = tuple(dice.sample(names, dice.choice((1, 1, 2))))
        high = tuple(dice.sample(_THEMES, dice.choice((1, 2))))
        text = f"Which {' and '.join(high)} had to do with {' and '.join(low)}?"
        if text not in asked:
            asked.add(text)
            yield Question(text, high, low, low[0])
