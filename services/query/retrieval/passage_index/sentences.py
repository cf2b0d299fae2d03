"""Which entities the sentences of passages are about.

A sentence is about those it mentions, the one that leads its paragraph, and those that its heading
or file names.
"""

from dataclasses import dataclass, replace

import numpy as np

from services.query.retrieval.arrays import Booleans, Integers
from services.query.retrieval.passage_index.grouped import Grouped, positions_of_groups
from services.query.retrieval.passage_index.joined_words import JoinedWords
from services.query.retrieval.passage_index.named_spans import NamedSpans
from services.query.retrieval.passage_index.passage_words import SUBJECT

MENTIONED = 1
"""How much a sentence is about an entity that it mentions."""
LEADING = 3
"""How much it is about the entity that leads its paragraph."""
IN_TITLE = 4
"""How much it is about an entity that its heading or file names."""

NONE = -1
"""Stands for no span."""


@dataclass(frozen=True, slots=True)
class AboutEntities:
    """Which sentences are about which entities: parallel arrays, an item per pair; a pair may occur
    several times, with several weights.
    """

    entities: Integers
    sentences: Integers
    weights: Integers
    """`MENTIONED`, `LEADING` or `IN_TITLE`"""
    whole_entities: Integers
    """Entities that a passage has by more than their surname, each beside the passage."""
    whole_passages: Integers

    def renumbered(self, entities: Integers) -> "AboutEntities":
        """Return the same with the entities by their places in `entities`."""
        places = np.zeros(int(entities.max(initial=-1)) + 1, np.int64)
        places[entities] = np.arange(len(entities))
        return replace(
            self,
            entities=places[self.entities],
            whole_entities=places[self.whole_entities],
        )


def sentences_about(words: JoinedWords, spans: NamedSpans, titles: Grouped) -> AboutEntities:
    """Return which sentences are about which entities. `titles`: of each passage the entities that
    its heading or file names.
    """
    leads = _leads(words, spans)
    mentioned_entities, in_sentences = _mentioned(words, spans)
    leading, led_sentences = _leading(words, spans, leads)
    titled_entities, titled_passages = titles.spread(
        np.arange(words.passage_count), np.arange(words.passage_count)
    )
    title_order = np.argsort(words.passage_of_sentence, kind="stable")
    counts = np.bincount(words.passage_of_sentence, minlength=words.passage_count)
    starts = np.concatenate([[0], np.cumsum(counts)])
    titled_sentences = title_order[positions_of_groups(starts, titled_passages)]
    titled_in_sentences = np.repeat(titled_entities, counts[titled_passages])
    sizes = (len(mentioned_entities), len(leading), len(titled_in_sentences))
    whole_entities, whole_passages = _by_whole_name(words, spans, leads)
    return AboutEntities(
        entities=np.concatenate([mentioned_entities, leading, titled_in_sentences]),
        sentences=np.concatenate([in_sentences, led_sentences, titled_sentences]),
        weights=np.repeat([MENTIONED, LEADING, IN_TITLE], sizes),
        whole_entities=np.concatenate([whole_entities, titled_entities]),
        whole_passages=np.concatenate([whole_passages, titled_passages]),
    )


def words_in_names(words: JoinedWords, spans: NamedSpans) -> Booleans:
    """Return (words,): whether each is part of a whole name. A surname may be a common word too."""
    positions = spans.positions[spans.is_whole]
    depth = np.zeros(len(words) + 1, np.int64)
    np.add.at(depth, positions, 1)
    np.add.at(depth, positions + spans.lengths[spans.is_whole], -1)
    return np.cumsum(depth[:-1]) > 0


def _mentioned(words: JoinedWords, spans: NamedSpans) -> tuple[Integers, Integers]:
    """Return the entities that spans and their parts name, and the sentence of each."""
    sentences = words.sentences[spans.positions]
    return spans.mentioned_entities.spread(spans.meanings, sentences)


@dataclass(frozen=True, slots=True)
class _Leads:
    """Which spans lead their sentences: those that begin them, else the first that is followed as
    the subject of a definition is.
    """

    is_lead: Booleans
    """(spans,)"""
    of_sentence: Integers
    """(sentences,): the span that leads it, or `NONE`"""


def _leads(words: JoinedWords, spans: NamedSpans) -> _Leads:
    sentences = words.sentences[spans.positions]
    sentence_count = len(words.passage_of_sentence)
    content = np.flatnonzero(words.is_content)
    first_words = _first(words.sentences[content], content, sentence_count)
    is_first = first_words[sentences] == spans.positions
    is_subject = words.traits[spans.positions + spans.lengths - 1] & SUBJECT > 0
    subjects = np.flatnonzero(is_subject)
    of_sentence = _first(sentences[subjects], subjects, sentence_count)
    firsts = np.flatnonzero(is_first)
    of_sentence[sentences[firsts]] = firsts
    leads = np.zeros(len(sentences), np.bool_)
    leads[of_sentence[of_sentence != NONE]] = True
    return _Leads(leads, of_sentence)


def _first(groups: Integers, values: Integers, count: int) -> Integers:
    """Return (count,): the first of the values beside each group, `NONE` without any."""
    first = np.full(count, NONE, np.int64)
    # Of several values for one item the last one stays.
    first[groups[::-1]] = values[::-1]
    return first


def _leading(words: JoinedWords, spans: NamedSpans, leads: _Leads) -> tuple[Integers, Integers]:
    """Return the entities that lead a paragraph, and each sentence from the first one with a name
    on.
    """
    sentence_count = len(words.passage_of_sentence)
    paragraphs = words.paragraph_of_sentence
    numbers = np.arange(len(spans.positions))
    first_spans = _first(words.sentences[spans.positions], numbers, sentence_count)
    with_names = np.flatnonzero(first_spans != NONE)
    first_sentences = _first(paragraphs[with_names], with_names, words.paragraph_count)
    begin = first_sentences[paragraphs]
    led = np.flatnonzero((begin != NONE) & (begin <= np.arange(sentence_count)))
    leaders = leads.of_sentence[begin[led]]
    has_leader = leaders != NONE
    by_lead, lead_sentences = spans.leading_entities.spread(
        spans.meanings[leaders[has_leader]], led[has_leader]
    )
    leaderless = led[~has_leader]
    first_names = first_spans[begin[leaderless]]
    by_name, name_sentences = spans.named_entities.spread(spans.meanings[first_names], leaderless)
    return np.concatenate([by_lead, by_name]), np.concatenate([lead_sentences, name_sentences])


def _by_whole_name(
    words: JoinedWords, spans: NamedSpans, leads: _Leads
) -> tuple[Integers, Integers]:
    """Return the entities of which more than the surname is in a passage, and the passage."""
    passages = words.passages(spans.positions)
    whole_names = np.flatnonzero(spans.is_whole)
    leading = np.flatnonzero(spans.is_whole & leads.is_lead)
    mentions = spans.mentioned_entities.spread(spans.meanings[whole_names], passages[whole_names])
    led = spans.leading_entities.spread(spans.meanings[leading], passages[leading])
    return np.concatenate([mentions[0], led[0]]), np.concatenate([mentions[1], led[1]])
