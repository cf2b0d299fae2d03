"""Which passages behind entities and relations are read. LightRAG's two methods, over plain data."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from contracts.graph import Entity, Relation


def chunks_of(objects: Sequence[Entity | Relation], taken: Iterable[str] = ()) -> list[list[str]]:
    """For each object its chunks: those that many objects name first, each chunk only with the first object."""
    counts = Counter(chain.from_iterable(item.source_ids for item in objects))
    used = set(taken)
    lists: list[list[str]] = []
    for item in objects:
        own = [chunk for chunk in item.source_ids if chunk not in used]
        used.update(own)
        lists.append(sorted(own, key=counts.__getitem__, reverse=True))
    return [own for own in lists if own]


def by_weight(lists: Sequence[Sequence[str]], most: int) -> list[str]:
    """Linear gradient weighted polling: the first list may give `most` chunks, the last one 1, in between a line.

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


def select_chunks(lists: Sequence[Sequence[str]], scores: Mapping[str, float], most: int) -> list[str]:
    """The chunks of these lists to read: by likeness where there are scores, else by weight."""
    ours = {chunk: scores[chunk] for chunks in lists for chunk in chunks if chunk in scores}
    return by_similarity(ours, quota(len(lists), most)) if ours else by_weight(lists, most)


def quota(objects: int, most: int) -> int:
    """How many chunks the method VECTOR takes of so many objects."""
    return int(most * objects / 2)


def by_similarity(scores: Mapping[str, float], most: int) -> list[str]:
    """The chunks most like the question, best first, equal ones as they come."""
    return sorted(scores, key=lambda chunk: -scores[chunk])[:most]


def round_robin(lists: Sequence[Sequence[str]], most: int) -> list[str]:
    """At most `most` chunks, the first of each list, the second of each, and so on: no hub crowds out the others."""
    picked: list[str] = []
    for depth in range(max(map(len, lists), default=0)):
        picked += [chunks[depth] for chunks in lists if depth < len(chunks)]
        if len(picked) >= most:
            break
    return picked[:most]
