"""Selects the chunks of entities and relations that are read: LightRAG's methods VECTOR and
WEIGHT.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain

from contracts.graph import Entity, Relation


def chunks_of(
    objects: Sequence[Entity | Relation], used_chunks: Iterable[str] = ()
) -> list[list[str]]:
    """Return the chunks of each object that has any, those of most objects first; no chunk twice,
    none of `used_chunks`.

    An object whose chunks all belong to others has an empty list: it counts where quotas are dealt
    out.
    """
    counts = Counter(chain.from_iterable(item.source_ids for item in objects))
    known_chunks = set(used_chunks)
    lists: list[list[str]] = []
    for item in objects:
        if item.source_ids:
            unused_chunks = [
                chunk for chunk in dict.fromkeys(item.source_ids) if chunk not in known_chunks
            ]
            known_chunks.update(unused_chunks)
            lists.append(sorted(unused_chunks, key=counts.__getitem__, reverse=True))
    return lists


def by_weight(lists: Sequence[Sequence[str]], max_chunks: int) -> list[str]:
    """Return chunks by weighted polling: quotas fall linearly from `max_chunks` for the first list
    to 1 for the last.

    Quota that a list cannot use goes to the first lists that have chunks left.
    """
    if not lists or max_chunks <= 0:
        return []
    if len(lists) == 1:
        return list(lists[0][:max_chunks])
    last_index = len(lists) - 1
    quotas = [
        round(max_chunks - index / last_index * (max_chunks - 1)) for index in range(len(lists))
    ]
    picked_lists = [list(chunks[:quota]) for chunks, quota in zip(lists, quotas, strict=True)]
    unused_count = sum(quotas) - sum(map(len, picked_lists))
    result = [chunk for chunks in picked_lists for chunk in chunks]
    remaining_chunks = [
        chunk
        for chunks, picked_chunks in zip(lists, picked_lists, strict=True)
        for chunk in chunks[len(picked_chunks) :]
    ]
    return result + remaining_chunks[:unused_count]


def select_chunks(
    lists: Sequence[Sequence[str]],
    comparable_chunks: Collection[str],
    scores: Mapping[str, float],
    max_chunks: int,
) -> list[str]:
    """Return the chunks of these lists to read: by similarity, or by polling if a compared one has
    no score.
    """
    candidates = [chunk for chunks in lists for chunk in chunks if chunk in comparable_chunks]
    if not candidates or any(chunk not in scores for chunk in candidates):
        return by_weight(lists, max_chunks)
    return by_similarity(
        {chunk: scores[chunk] for chunk in candidates}, quota(len(lists), max_chunks)
    )


def quota(objects: int, max_chunks: int) -> int:
    """Return how many chunks the method VECTOR takes for this number of objects: half of
    `max_chunks` for each.
    """
    return int(max_chunks * objects / 2)


def by_similarity(scores: Mapping[str, float], max_chunks: int) -> list[str]:
    """Return at most `max_chunks` chunks by descending similarity; ties keep their order."""
    return sorted(scores, key=lambda chunk: -scores[chunk])[:max_chunks]


def round_robin(lists: Sequence[Sequence[str]], max_chunks: int) -> list[str]:
    """Return at most `max_chunks` chunks: the first of each list, then the second of each, and so
    on.
    """
    picked_chunks: list[str] = []
    longer_lists, depth = [chunks for chunks in lists if chunks], 0
    while longer_lists and len(picked_chunks) < max_chunks:
        picked_chunks += [chunks[depth] for chunks in longer_lists]
        depth += 1
        longer_lists = [chunks for chunks in longer_lists if len(chunks) > depth]
    return picked_chunks[:max_chunks]
