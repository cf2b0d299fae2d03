"""Selects the chunks of entities and relations that are read: LightRAG's methods VECTOR and
WEIGHT.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain

from contracts.graph import Entity, Relation


def chunks_of(objects: Sequence[Entity | Relation], taken: Iterable[str] = ()) -> list[list[str]]:
    """Return the chunks of each object that has any, those of most objects first; no chunk twice,
    none of `taken`.

    An object whose chunks all belong to others has an empty list: it counts where quotas are dealt
    out.
    """
    counts = Counter(chain.from_iterable(item.source_ids for item in objects))
    used = set(taken)
    lists: list[list[str]] = []
    for item in objects:
        if item.source_ids:
            unused = [chunk for chunk in dict.fromkeys(item.source_ids) if chunk not in used]
            used.update(unused)
            lists.append(sorted(unused, key=counts.__getitem__, reverse=True))
    return lists


def by_weight(lists: Sequence[Sequence[str]], most: int) -> list[str]:
    """Return chunks by weighted polling: quotas fall linearly from `most` for the first list to 1
    for the last.

    Quota that a list cannot use goes to the first lists that have chunks left.
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
    rest = [
        chunk for chunks, own in zip(lists, picked, strict=True) for chunk in chunks[len(own) :]
    ]
    return result + rest[:unused]


def select_chunks(
    lists: Sequence[Sequence[str]],
    compared: Collection[str],
    scores: Mapping[str, float],
    most: int,
) -> list[str]:
    """Return the chunks of these lists to read: by similarity, or by polling if a compared one has
    no score.
    """
    candidates = [chunk for chunks in lists for chunk in chunks if chunk in compared]
    if not candidates or any(chunk not in scores for chunk in candidates):
        return by_weight(lists, most)
    return by_similarity({chunk: scores[chunk] for chunk in candidates}, quota(len(lists), most))


def quota(objects: int, most: int) -> int:
    """Return how many chunks the method VECTOR takes for this number of objects: half of `most` for
    each.
    """
    return int(most * objects / 2)


def by_similarity(scores: Mapping[str, float], most: int) -> list[str]:
    """Return at most `most` chunks by descending similarity; ties keep their order."""
    return sorted(scores, key=lambda chunk: -scores[chunk])[:most]


def round_robin(lists: Sequence[Sequence[str]], most: int) -> list[str]:
    """Return at most `most` chunks: the first of each list, then the second of each, and so on."""
    picked: list[str] = []
    for depth in range(max(map(len, lists), default=0)):
        picked += [chunks[depth] for chunks in lists if depth < len(chunks)]
        if len(picked) >= most:
            break
    return picked[:most]
