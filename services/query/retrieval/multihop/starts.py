"""Where a walk starts: the passages of the entities that the question names, and those most like
the question.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np

from offline.language.normal_forms import normal_form, words
from offline.language.stems import stem
from services.query.retrieval.arrays import Floats
from services.query.retrieval.linking import Link
from services.query.retrieval.multihop.evidence import Evidence
from services.query.retrieval.multihop.naming import naming_share
from services.query.retrieval.multihop.path_search import Start
from services.query.retrieval.name_index import MAX_NAME_WORDS
from services.query.retrieval.passage_index.index import NO_MENTION, PassageIndex
from services.query.retrieval.passage_index.openings import Title

UNLINKED_WEIGHT = 0.2
"""Of the passage most like the question, where that of a rare name is 1."""
MAX_UNLINKED = 10
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
    allowed_passages: Floats,
) -> list[Start]:
    """Return the starts, one per passage.

    `sources`: by entity, ids of passages that the graph says it is from.
    `allowed_passages`: (passages,), 1 for a passage that may be used, else 0.
    """
    candidates = named_starts(index, evidence, links, sources, allowed_passages)
    for passage in np.argsort(-evidence.likeness, kind="stable")[:MAX_UNLINKED].tolist():
        likeness = float(evidence.likeness[passage])
        if likeness > 0:
            candidates.append(Start(passage, UNLINKED_WEIGHT * likeness))
    return _best_per_passage(candidates)


def named_starts(
    index: PassageIndex,
    evidence: Evidence,
    links: Sequence[Link],
    sources: Mapping[str, Sequence[str]],
    allowed_passages: Floats,
) -> list[Start]:
    """Return the starts at passages of linked entities, one per passage. See `starts`."""
    by_name: list[Start] = []
    by_title: list[Start] = []
    for link in links:
        for name in link.names:
            rarity = _rarity(index, name)
            for passage, mention in _passages(index, evidence, name, sources.get(name, ())):
                by_name.append(Start(passage, rarity, mention))
        for passage in link.passages:
            by_title.append(Start(passage, 1.0, defining_mention(index, passage)))
    candidates = [*by_name, *by_title]
    return _best_per_passage(start for start in candidates if allowed_passages[start.passage])


def defining_mention(index: PassageIndex, passage: int) -> int:
    """Return the first mention of a passage whose entity it defines; `NO_MENTION` without any."""
    mentions = index.mentions_in.of(passage)
    defining = mentions[index.defines[mentions]]
    return int(defining[0]) if len(defining) else NO_MENTION


def with_titles(index: PassageIndex, question: str, links: Sequence[Link]) -> list[Link]:
    """Return the links with those of titles in place of the names inside them; a title inside a
    name is none.
    """
    titles = [
        _title_link(question, title)
        for title in index.openings.titles(question)
        if not any(link.start <= title.start and title.end <= link.end for link in links)
    ]
    outside = [
        link
        for link in links
        if not any(title.start < link.end and link.start < title.end for title in titles)
    ]
    return sorted([*outside, *titles], key=lambda link: link.start)


def _title_link(question: str, title: Title) -> Link:
    text = question[title.start : title.end]
    return Link(text, title.start, title.end, (), "title", passages=title.passages)


def name_fragments(index: PassageIndex, links: Sequence[Link]) -> list[int]:
    """Return the entities whose name is only a part of a linked one, as "Crimson Journey" of
    "Crimson Journey to Rome".

    An extractor that tears titles makes such entities, and by them paths would lead to all titles
    that begin alike.
    """
    linked_names: set[str] = set()
    fragments: dict[str, None] = {}
    for link in links:
        linked_names.update(link.names)
        for form in _parts(link):
            fragments |= dict.fromkeys(index.names.by_name(form))
    return [
        index.entities[name]
        for name in fragments
        if name not in linked_names and name in index.entities
    ]


def _parts(link: Link) -> list[str]:
    """Return the forms of all spans of a link's words but the whole."""
    tokens = words(link.text)[:MAX_NAME_WORDS]
    return [
        normal_form(tokens[begin:end])
        for begin, end in combinations(range(len(tokens) + 1), 2)
        if end - begin < len(tokens)
    ]


def _best_per_passage(candidates: Iterable[Start]) -> list[Start]:
    """Return the start of most weight at each passage."""
    best: dict[int, Start] = {}
    for start in candidates:
        if start.passage not in best or start.weight > best[start.passage].weight:
            best[start.passage] = start
    return list(best.values())


def _passages(
    index: PassageIndex, evidence: Evidence, name: str, sources: Sequence[str]
) -> list[tuple[int, int]]:
    """Return passages of an entity with its mentions there, `NO_MENTION` where its name does not
    occur.
    """
    entity = index.entities.get(name, -1)
    passages: list[int] = []
    if entity >= 0:
        passages = index.starting_passages.of(entity).tolist()
    if not passages:
        passages = [index.numbers[id] for id in sources if id in index.numbers]
    explained_weights: Floats = evidence.weights @ evidence.passages
    best = sorted(passages, key=lambda passage: -float(explained_weights[passage]))[:MAX_PASSAGES]
    return [(passage, index.mention_of(entity, passage)) for passage in best]


def _rarity(index: PassageIndex, name: str) -> float:
    """Return 1 for a name in one passage, less for one in many."""
    entity = index.entities.get(name, -1)
    support = float(index.supports[entity]) if entity >= 0 else 1.0
    return math.log(1 + len(index) / support) / math.log(1 + max(1, len(index)))


def without_homonyms(
    index: PassageIndex, links: Sequence[Link], allowed_passages: Floats
) -> Floats:
    """Return `allowed_passages` without those passages of a name that its qualifier in the
    question tells apart from others.

    Of the documents that a name starts at, those stay in whose passages most words of the qualifier
    occur.
    """
    meant_passages: set[int] = set()
    other_passages: set[int] = set()
    for link in links:
        passages: set[int] = set()
        for name in link.names:
            if name in index.entities:
                passages.update(index.starting_passages.of(index.entities[name]).tolist())
        best = _with_most_words(index, passages, link.qualifier)
        meant_passages |= best
        other_passages |= passages - best
    allowed_passages = allowed_passages.copy()
    allowed_passages[list(other_passages - meant_passages)] = 0.0
    return allowed_passages


def _with_most_words(index: PassageIndex, passages: set[int], qualifier: str) -> set[int]:
    """Return those of the passages whose documents have one with most words of the qualifier."""
    occurrences = _passages_by_word(index, qualifier)
    words_in_document: dict[int, int] = {}
    for passage in passages:
        document = int(index.documents[passage])
        word_count = sum(passage in with_word for with_word in occurrences)
        words_in_document[document] = max(words_in_document.get(document, 0), word_count)
    longest = max(words_in_document.values(), default=0)
    return {
        passage
        for passage in passages
        if words_in_document[int(index.documents[passage])] == longest
    }


def _passages_by_word(index: PassageIndex, text: str) -> list[set[int]]:
    """Return the passages that each word of a text is in, without words that are in none."""
    stems = {stem(word.form) for word in words(text) if not word.is_stopword}
    numbers = [index.words.numbers[form] for form in stems if form in index.words.numbers]
    return [set(index.words.passages.of(number).tolist()) for number in numbers]


def sure_links(index: PassageIndex, links: Sequence[Link]) -> list[Link]:
    """Return the links without those that the words of the passages speak against.

    Single words in lower case are none if they are seldom names there: in a question without
    capitals `country` is linked if anything is called so. What occurs there is not misspelt:
    "Summer" is not Sumer. Names of several words that a question with capitals writes without any
    are links if a passage is about what is called so.
    """
    sure: list[Link] = []
    for link in links:
        if link.small and not _is_defined(index, link):
            continue
        if link.method == "spelling":
            link = replace(link, names=_misspelt_names(index, link))
        if (link.names or link.passages) and _naming_share(index, link) >= MIN_NAMING:
            sure.append(link)
    return sure


def _is_defined(index: PassageIndex, link: Link) -> bool:
    """Return whether a passage defines one of the entities of a link."""
    return any(
        name in index.entities and bool(index.is_defined[index.entities[name]])
        for name in link.names
    )


def _misspelt_names(index: PassageIndex, link: Link) -> tuple[str, ...]:
    """Return the names that a link may have misspelt: all if one of its words is in no passage,
    else the inflected.
    """
    stems = [stem(word.form) for word in words(link.text)]
    if any(form not in index.words.numbers for form in stems):
        return link.names
    return tuple(name for name in link.names if [stem(word.form) for word in words(name)] == stems)


def whole_names(question: str, links: Sequence[Link]) -> list[Link]:
    """Return the links without single words that are the beginning of a name which is in no index,
    if others are left.

    "Peter" is not who is meant by "Peter Rogers".
    """
    tokens = words(question)
    linked_starts = {
        word.start for word in tokens if any(link.start <= word.start < link.end for link in links)
    }
    beginnings: set[int] = set()
    for word, following in pairwise(tokens):
        is_name = question[following.start].isupper() and not following.is_stopword
        has_blank_between = question[word.end : following.start] == " "
        if has_blank_between and is_name and following.start not in linked_starts:
            beginnings.add(word.start)
    other_links = [
        link
        for link in links
        if link.method not in ("name", "surname") or not _is_only_word(link, beginnings)
    ]
    return other_links or list(links)


def _is_only_word(link: Link, starts: set[int]) -> bool:
    """Return whether a link is of one word, which begins at one of these offsets."""
    return link.start in starts and len(words(link.text)) == 1


def _naming_share(index: PassageIndex, link: Link) -> float:
    """Return for one word in lower case how often it is a name where it occurs; 1 for others."""
    tokens = words(link.text)
    if len(tokens) != 1 or tokens[0].is_capitalised:
        return 1.0
    return naming_share(index, link)
