"""What a walk reads out of passages. It depends on their words and the names of the workspace
alone, so it is remembered: many questions read the same passages.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from cachetools import LRUCache

from services.query.retrieval.arrays import Booleans, Integers
from services.query.retrieval.name_index import NameIndex
from services.query.retrieval.name_keys import Keys
from services.query.retrieval.passage_index.grouped import concatenated, joined_arrays, order_of
from services.query.retrieval.passage_index.joined_words import (
    MAX_REMEMBERED,
    PASSAGE_OVERHEAD,
    JoinedWords,
    forget_words,
    joined_words,
    numbered_words,
    vocabulary,
)
from services.query.retrieval.passage_index.named_spans import NamedSpans, named_spans
from services.query.retrieval.passage_index.passage_words import PassageWords
from services.query.retrieval.passage_index.sentences import (
    AboutEntities,
    sentences_about,
    words_in_names,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageReading:
    """What is read out of one passage; its sentences are counted from 0."""

    stem_keys: Keys
    """(words,)"""
    sentences: Integers
    """(words,)"""
    sentence_count: int
    is_in_name: Booleans
    """(words,): whether each is part of a whole name."""
    titled_entities: Integers
    """Those that its heading or file names."""
    named_entities: Integers
    """Those that its words name, each once, in the order in which they are met."""
    about: AboutEntities


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedReadings:
    """What is read out of several passages; sentences are counted from 0 over all."""

    stem_keys: Keys
    """(words,)"""
    sentences: Integers
    """(words,)"""
    is_in_name: Booleans
    """(words,)"""
    passage_of_word: Integers
    """(words,)"""
    passage_of_sentence: Integers
    """(sentences,)"""
    lengths: Integers
    """(passages,): words of each"""
    about: AboutEntities

    @classmethod
    def of(cls, readings: Sequence[PassageReading]) -> "JoinedReadings":
        """Return the readings one after the other."""
        passages = np.arange(len(readings))
        lengths = _sizes(reading.stem_keys for reading in readings)
        counts = np.array([reading.sentence_count for reading in readings], np.int64)
        first_sentences = np.cumsum(counts) - counts
        about = [reading.about for reading in readings]
        return cls(
            stem_keys=np.concatenate(
                [np.empty(0, np.uint64), *(reading.stem_keys for reading in readings)]
            ),
            sentences=_shifted([reading.sentences for reading in readings], first_sentences),
            is_in_name=np.concatenate(
                [np.empty(0, np.bool_), *(reading.is_in_name for reading in readings)]
            ),
            passage_of_word=np.repeat(passages, lengths),
            passage_of_sentence=np.repeat(passages, counts),
            lengths=lengths,
            about=AboutEntities(
                entities=joined_arrays([part.entities for part in about]),
                sentences=_shifted([part.sentences for part in about], first_sentences),
                weights=joined_arrays([part.weights for part in about]),
                whole_entities=joined_arrays([part.whole_entities for part in about]),
                whole_passages=_shifted([part.whole_passages for part in about], passages),
            ),
        )


def _sizes(arrays: Iterable[Keys | Integers]) -> Integers:
    return np.array([len(array) for array in arrays], np.int64)


def _shifted(arrays: Sequence[Integers], offsets: Integers) -> Integers:
    """Return the arrays one after the other, each with its offset added."""
    return joined_arrays(arrays) + np.repeat(offsets, _sizes(arrays))


_Key = tuple[int, int, str, str, tuple[str, ...]]
"""The names, how often they had changed, and the words, traits and titles of a passage."""

_readings: LRUCache[_Key, PassageReading] = LRUCache(
    MAX_REMEMBERED, getsizeof=lambda reading: PASSAGE_OVERHEAD + len(reading.stem_keys)
)
"""One takes about 12 bytes a word. All walks are in one thread."""


def read_passages(passages: Sequence[PassageWords], names: NameIndex) -> list[PassageReading]:
    """Return what is read out of each of these passages."""
    keys: list[_Key] = [
        (names.number, names.changes, passage.lines, passage.traits, tuple(passage.titles))
        for passage in passages
    ]
    readings = [_readings.get(key) for key in keys]
    places = [place for place, reading in enumerate(readings) if reading is None]
    new_readings = _read([passages[place] for place in places], names) if places else []
    for place, reading in zip(places, new_readings, strict=True):
        readings[place] = reading
        if PASSAGE_OVERHEAD + len(reading.stem_keys) <= MAX_REMEMBERED:
            _readings[keys[place]] = reading
    return [reading for reading in readings if reading is not None]


def _read(passages: Sequence[PassageWords], names: NameIndex) -> list[PassageReading]:
    """Read all of them at once, by operations on arrays."""
    forget_words()
    by_name = names.numbers_by_name
    titles = concatenated(
        [[entity for title in passage.titles for entity in by_name(title)] for passage in passages]
    )
    words = joined_words(passages)
    spans = named_spans(words, names)
    about = sentences_about(words, spans, titles)
    sentence_starts = np.searchsorted(words.passage_of_sentence, np.arange(len(passages) + 1))
    passages_of_pairs = words.passage_of_sentence[about.sentences]
    pairs = _by_passage(passages_of_pairs, len(passages))
    whole_places = _by_passage(about.whole_passages, len(passages))
    names_met = _named_entities(words, spans)
    ends = np.cumsum([passage.word_count for passage in passages])
    in_names = words_in_names(words, spans)
    readings: list[PassageReading] = []
    for number, passage in enumerate(passages):
        of_words = slice(int(ends[number]) - passage.word_count, int(ends[number]))
        first = int(sentence_starts[number])
        count = int(sentence_starts[number + 1]) - first
        readings.append(
            PassageReading(
                stem_keys=vocabulary.stem_keys_of(numbered_words(passage.lines)),
                sentences=_small(words.sentences[of_words] - first, count),
                sentence_count=count,
                is_in_name=in_names[of_words].copy(),
                titled_entities=_small(titles.of(number)),
                named_entities=_small(names_met[number]),
                about=AboutEntities(
                    entities=_small(about.entities[pairs[number]]),
                    sentences=_small(about.sentences[pairs[number]] - first, count),
                    weights=about.weights[pairs[number]].astype(np.int8),
                    whole_entities=_small(about.whole_entities[whole_places[number]]),
                    whole_passages=np.zeros(len(whole_places[number]), np.int32),
                ),
            )
        )
    return readings


def _small(values: Integers, count: int = 1 << 16) -> Integers:
    """Return a copy of values below `count` in few bytes, without the array that it may be a part
    of.
    """
    return values.astype(np.int16 if count < 1 << 15 else np.int32)


def _by_passage(passages: Integers, count: int) -> list[Integers]:
    """Return of each passage the places that it has among these."""
    order = order_of(passages, count)
    return np.split(order, np.searchsorted(passages[order], np.arange(1, count)))


def _named_entities(words: JoinedWords, spans: NamedSpans) -> list[Integers]:
    """Return the entities of each passage, each once, in the order in which they are met."""
    numbers = np.arange(len(spans.positions))
    mentions, mentioning_spans = spans.mentioned_entities.spread(spans.meanings, numbers)
    leaders, led_spans = spans.leading_entities.spread(spans.meanings, numbers)
    spans_of = joined_arrays([mentioning_spans, led_spans])
    order = order_of(spans_of, len(numbers))
    entities = joined_arrays([mentions, leaders])[order]
    span_of = spans_of[order]
    passages = words.passages(spans.positions)[span_of]
    pairs = passages * (int(entities.max(initial=0)) + 1) + entities
    once = np.sort(np.unique(pairs, return_index=True)[1])
    begins = np.searchsorted(passages[once], np.arange(1, words.passage_count))
    return np.split(entities[once], begins)
