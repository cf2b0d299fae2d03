"""The steps between what the stores found and what a context may hold. Pure functions over plain data.

The rules are LightRAG's (ranking by degree and weight, round robin, whole-item token budgets, weighted polling).
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import TypeVar

from contracts.graph import Entity, Relation

T = TypeVar("T")
Pair = tuple[str, str]


def interleave(*lists: Iterable[T], key: Callable[[T], Hashable]) -> list[T]:
    """First of each list, second of each, and so on; of equal keys the first stays."""
    seen: dict[Hashable, T] = {}
    for row in zip_longest(*lists):
        for item in row:
            if item is not None:
                seen.setdefault(key(item), item)
    return list(seen.values())


def ranked(relations: Iterable[Relation], degrees: Mapping[str, int]) -> list[Relation]:
    """By the degrees of both ends together, then by weight, highest first; names break ties."""

    def rank(relation: Relation) -> tuple[float, float, Pair]:
        degree = degrees.get(relation.source, 0) + degrees.get(relation.target, 0)
        return (-degree, -relation.weight, relation.key)

    return sorted(relations, key=rank)


def within(items: Sequence[T], budget: int, cost: Callable[[T], int]) -> list[T]:
    """The longest beginning of the list whose cost stays within the budget: items are whole or left out."""
    kept: list[T] = []
    for item in items:
        budget -= cost(item)
        if budget < 0:
            break
        kept.append(item)
    return kept


def sources(objects: Sequence[Entity | Relation], taken: Iterable[str] = ()) -> list[list[str]]:
    """For each object its chunks: those that many objects name first, each chunk only with the first object."""
    counts = Counter(chunk for item in objects for chunk in item.source_ids)
    used = set(taken)
    lists: list[list[str]] = []
    for item in objects:
        own = [chunk for chunk in item.source_ids if chunk not in used]
        used.update(own)
        lists.append(sorted(own, key=lambda chunk: -counts[chunk]))
    return [own for own in lists if own]


def polled(lists: Sequence[Sequence[str]], most: int) -> list[str]:
    """Chunks by linear gradient weighted polling: the first list may give `most`, the last one 1, in between a line.

    What a list cannot fill goes to the first lists that have chunks left.
    """
    if not lists or most <= 0:
        return []
    if len(lists) == 1:
        return list(lists[0][:most])
    last = len(lists) - 1
    quotas = [round(most - index / last * (most - 1)) for index in range(len(lists))]
    picked = [list(chunks[:quota]) for chunks, quota in zip(lists, quotas, strict=True)]
    unused = sum(quotas) - sum(map(len, picked))
    result = [chunk for chunks in picked for chunk in chunks]
    rest = [chunk for chunks, own in zip(lists, picked, strict=True) for chunk in chunks[len(own) :]]
    return result + rest[:unused]


def references(file_paths: Sequence[str]) -> dict[str, str]:
    """File path to reference id, "1" first: the file of most chunks first, then the one that came first."""
    counts = Counter(path for path in file_paths if path and path != "unknown_source")
    ordered = sorted(counts, key=lambda path: -counts[path])
    return {path: str(number) for number, path in enumerate(ordered, 1)}
