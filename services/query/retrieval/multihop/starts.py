"""Where a walk starts: the passages of the entities that the question names, and those most like
the question.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from services.query.retrieval.linking import Link
from services.query.retrieval.multihop.evidence import Evidence
from services.query.retrieval.multihop.path_search import Start
from services.query.retrieval.name_index import MAX_NAME_WORDS
from services.query.retrieval.passage_index.index import PassageIndex
from services.query.retrieval.passage_index.stemming import stem
from services.query.retrieval.words import normal_form, words

Array = Any

UNLINKED_WEIGHT = 0.2
"""Of the passage most like the question, where that of a rare name is 1."""
UNLINKED = 10
"""Passages like the question that paths start at."""
MAX_PASSAGES = 5
"""Passages of one entity that paths start at, those that account for most words of the question."""

MIN_NAMING = 0.5
"""Share of a word's occurrences that are names, from which on it counts as a name in a question
without capitals.
"""


def starts(
    index: PassageIndex,
    evidence: Evidence,
    links: Sequence[Link],
    sources: Mapping[str, Sequence[str]],
    allowed: Array,
) -> list[Start]:
    """Return the starts, one per passage. `sources`: by entity, ids of passages that the graph says
    it is from.
    """
    some = named_starts(index, evidence, links, sources, allowed)
    for passage in np.argsort(-evidence.likeness, kind="stable")[:UNLINKED].tolist():
        if (like := float(evidence.likeness[passage])) > 0:
            some.append(Start(passage, UNLINKED_WEIGHT * like))
    return _best(some)


def named_starts(
    index: PassageIndex,
    evidence: Evidence,
    links: Sequence[Link],
    sources: Mapping[str, Sequence[str]],
    allowed: Array,
) -> list[Start]:
    """Return the starts at passages of linked entities, one per passage."""
    pairs = [
        (name, _passages(index, evidence, name, sources.get(name, ())))
        for link in links
        for name in link.names
    ]
    by_name = [
        Start(passage, _rarity(index, name), place)
        for name, some in pairs
        for passage, place in some
    ]
    by_title = [
        Start(passage, 1.0, defined_in(index, passage))
        for link in links
        for passage in link.passages
    ]
    return _best(start for start in [*by_name, *by_title] if allowed[start.passage])


def defined_in(index: PassageIndex, passage: int) -> int:
    """Return the first place of a passage that defines its entity, -1 without any."""
    places = index.places_in.of(passage)
    defining = places[index.defines[places]]
    return int(defining[0]) if len(defining) else -1


def with_titles(index: PassageIndex, question: str, links: Sequence[Link]) -> list[Link]:
    """Return the links with those of titles in place of the names inside them; a title inside a
    name is none.
    """
    titles = [
        Link(
            question[title.start : title.end],
            title.start,
            title.end,
            (),
            "title",
            passages=title.passages,
        )
        for title in index.openings.titles(question)
        if not any(link.start <= title.start and title.end <= link.end for link in links)
    ]
    outside = [
        link for link in links if not any(t.start < link.end and link.start < t.end for t in titles)
    ]
    return sorted([*outside, *titles], key=lambda link: link.start)


def name_fragments(index: PassageIndex, links: Sequence[Link]) -> list[int]:
    """Return the entities whose name is only a part of a linked one, as "Crimson Journey" of
    "Crimson Journey to Rome".

    An extractor that tears titles makes such entities, and by them paths would lead to all titles
    that begin alike.
    """
    parts = dict.fromkeys(
        name for link in links for form in _parts(link) for name in index.names.by_name(form)
    )
    linked = {name for link in links for name in link.names}
    return [index.entities[name] for name in parts if name not in linked and name in index.entities]


def _parts(link: Link) -> list[str]:
    """Return the forms of all spans of a link's words but the whole."""
    some = words(link.text)[:MAX_NAME_WORDS]
    spans = [(begin, end) for begin in range(len(some)) for end in range(begin + 1, len(some) + 1)]
    return [normal_form(some[begin:end]) for begin, end in spans if end - begin < len(some)]


def _best(some: Iterable[Start]) -> list[Start]:
    """Return the start of most weight at each passage."""
    best: dict[int, Start] = {}
    for start in some:
        if start.passage not in best or start.weight > best[start.passage].weight:
            best[start.passage] = start
    return list(best.values())


def _passages(
    index: PassageIndex, evidence: Evidence, name: str, sources: Sequence[str]
) -> list[tuple[int, int]]:
    """Return passages of an entity with its places there, -1 where its name is not found."""
    entity = index.entities.get(name, -1)
    own: list[int] = index.passages_of.of(entity).tolist() if entity >= 0 else []
    known = own or [index.numbers[id] for id in sources if id in index.numbers]
    pairs = [(passage, index.places.get((entity, passage), -1)) for passage in known]
    accounted = evidence.weights @ evidence.passages
    return sorted(pairs, key=lambda pair: -accounted[pair[0]])[:MAX_PASSAGES]


def _rarity(index: PassageIndex, name: str) -> float:
    """Return 1 for a name in one passage, less for one in many."""
    entity = index.entities.get(name, -1)
    having = float(index.counts[entity]) if entity >= 0 else 1.0
    return math.log(1 + len(index) / having) / math.log(1 + max(1, len(index)))


def without_homonyms(index: PassageIndex, links: Sequence[Link], allowed: Array) -> Array:
    """Return `allowed` without those passages of a name that its qualifier in the question tells
    apart from others.

    Of the documents that a name starts at, those stay in whose passages most words of the qualifier
    occur.
    """
    kept, left_out = set[int](), set[int]()
    for link in links:
        own = {
            p
            for n in link.names
            if n in index.entities
            for p in index.passages_of.of(index.entities[n]).tolist()
        }
        having: dict[int, int] = {}
        said = _having(index, link.qualifier)
        for passage in own:
            document = int(index.documents[passage])
            having[document] = max(having.get(document, 0), sum(passage in some for some in said))
        most = max(having.values(), default=0)
        best = {passage for passage in own if having[int(index.documents[passage])] == most}
        kept |= best
        left_out |= own - best
    allowed = allowed.copy()
    allowed[list(left_out - kept)] = 0.0
    return allowed


def _having(index: PassageIndex, text: str) -> list[set[int]]:
    """Return the passages that each word of a text is in."""
    stems = {stem(word.form) for word in words(text) if not word.is_stopword}
    numbers = [index.words.numbers[some] for some in stems if some in index.words.numbers]
    return [set(index.words.passages.of(number).tolist()) for number in numbers]


def sure_links(index: PassageIndex, links: Sequence[Link]) -> list[Link]:
    """Return the links without those that the words of the passages speak against.

    Single words in lower case are none if they are seldom names there: in a question without
    capitals `country` is linked if anything is called so. What occurs there is not misspelt:
    "Summer" is not Sumer. Names of several words that a question with capitals writes without any
    are links if a passage is about what is called so.
    """
    links = [link for link in links if not link.small or _is_defined(index, link)]
    known = [
        replace(link, names=_likely(index, link)) if link.method == "spelling" else link
        for link in links
    ]
    return [
        link
        for link in known
        if (link.names or link.passages) and _naming(index, link) >= MIN_NAMING
    ]


def _is_defined(index: PassageIndex, link: Link) -> bool:
    """Return whether a passage defines one of the entities of a link."""
    return any(
        name in index.entities and bool(index.is_defined[index.entities[name]])
        for name in link.names
    )


def _likely(index: PassageIndex, link: Link) -> tuple[str, ...]:
    """Return the names that a link may have misspelt: all if one of its words is in no passage,
    else the inflected.
    """
    stems = [stem(word.form) for word in words(link.text)]
    if any(some not in index.words.numbers for some in stems):
        return link.names
    return tuple(name for name in link.names if [stem(word.form) for word in words(name)] == stems)


def whole_names(question: str, links: Sequence[Link]) -> list[Link]:
    """Return the links without single words that are the beginning of a name which is not known, if
    others are left.

    "Peter" is not who is meant by "Peter Rogers".
    """
    some = words(question)
    linked = {
        word.start for word in some if any(link.start <= word.start < link.end for link in links)
    }
    cut = {
        word.start
        for word, following in pairwise(some)
        if question[word.end : following.start] == " "
        and question[following.start].isupper()
        and not following.is_stopword
        and following.start not in linked
    }
    whole = [
        link for link in links if link.method not in ("name", "surname") or _single(link) not in cut
    ]
    return whole or list(links)


def _single(link: Link) -> int:
    """Return where the only word of a link starts, -1 if it has several."""
    return link.start if len(words(link.text)) == 1 else -1


def _naming(index: PassageIndex, link: Link) -> float:
    """Return for one word in lower case how often it is a name where it occurs; 1 for others."""
    some = words(link.text)
    if len(some) != 1 or some[0].is_capitalised:
        return 1.0
    number = index.words.numbers.get(stem(some[0].form))
    having = len(index.words.passages.of(number)) if number is not None else 0
    named = sum(
        float(index.counts[index.entities[name]]) for name in link.names if name in index.entities
    )
    return min(1.0, named / having) if having else 1.0
