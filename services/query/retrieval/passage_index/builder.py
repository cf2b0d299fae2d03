"""Makes the index of passages out of their words and the names of the workspace."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import repeat
from types import MappingProxyType

import numpy as np

from offline.language.stems import stem
from services.query.retrieval.arrays import Integers
from services.query.retrieval.name_index import NameIndex
from services.query.retrieval.name_keys import KeyTable, word_keys
from services.query.retrieval.passage_index.edges import edges_between
from services.query.retrieval.passage_index.grouped import (
    Grouped,
    group_starts,
    grouped,
    joined_arrays,
)
from services.query.retrieval.passage_index.index import PassageIndex, Words
from services.query.retrieval.passage_index.mentions import mentions_of
from services.query.retrieval.passage_index.openings import Openings
from services.query.retrieval.passage_index.passage_words import PassageWords
from services.query.retrieval.passage_index.readings import (
    JoinedReadings,
    PassageReading,
    read_passages,
)
from services.query.retrieval.passage_index.vocabulary import NO_STEM

MAX_ACROSS = 10
"""Passages of an entity up to which there are edges across."""


class IndexBuilder:
    """Collects passages for `build`, as often as some are read."""

    def __init__(self, names: NameIndex, vocabulary: Collection[str] | None = None) -> None:
        """`vocabulary`: the stems that are looked for; None means all."""
        self._names = names
        self._vocabulary = set(vocabulary or ())
        self._has_all_stems = vocabulary is None
        self._readings: list[PassageReading] = []
        self._entities: list[Integers] = []
        """Their numbers among the names, as they are met."""
        self._ids: list[str] = []
        self._documents: list[int] = []
        self._document_numbers: dict[str, int] = {}
        self._openings = Openings()

    @property
    def entities(self) -> Sequence[str]:
        """The entities that the passages name so far, in the order in which they were met."""
        return self._names.names_of(self._entities_once().tolist())

    def _entities_once(self) -> Integers:
        entities = joined_arrays(self._entities)
        positions = np.arange(len(entities))
        first = np.zeros(int(entities.max(initial=-1)) + 1, np.int64)
        # Of several values for one item the last one stays.
        first[entities[::-1]] = positions[::-1]
        return entities[first[entities] == positions]

    def add(self, passages: Iterable[PassageWords]) -> "IndexBuilder":
        """Add passages, each once."""
        batch = list(passages)
        readings = read_passages(batch, self._names)
        self._readings += readings
        self._entities += [reading.titled_entities for reading in readings]
        self._entities += [reading.named_entities for reading in readings]
        numbers = self._document_numbers
        for passage in batch:
            self._ids.append(passage.id)
            self._documents.append(numbers.setdefault(passage.document_id, len(numbers)))
            self._openings.add(passage.lines)
            if self._has_all_stems:
                self._vocabulary.update(map(stem, passage.lines.split("\n")))
        return self

    def build(self, supports: Mapping[str, int] = MappingProxyType({})) -> PassageIndex:
        """Return the index of all passages that were added. `supports`: how many passages of the
        workspace name an entity, where these are not all.
        """
        numbers_of_names = self._entities_once()
        entities = self._names.names_of(numbers_of_names.tolist())
        readings = JoinedReadings.of(self._readings)
        mentions = mentions_of(
            readings.about.renumbered(numbers_of_names),
            readings.passage_of_sentence,
            len(self._ids),
            len(entities),
        )
        passage_counts = np.bincount(mentions.entity_of, minlength=len(entities))
        outside = np.fromiter(map(supports.get, entities, repeat(0)), np.int64, len(entities))
        all_supports = np.maximum(outside, passage_counts)
        numbers = np.arange(len(mentions.entity_of))
        sentences_of = mentions.sentences_of
        sentence_count = len(readings.passage_of_sentence)
        sentences, owners = sentences_of.spread(numbers, numbers)
        return PassageIndex(
            ids=self._ids,
            numbers=dict(zip(self._ids, range(len(self._ids)), strict=True)),
            documents=np.array(self._documents, np.int32),
            document_numbers=self._document_numbers,
            lengths=readings.lengths.astype(np.float64),
            words=self._words(readings),
            entities=dict(zip(entities, range(len(entities)), strict=True)),
            entity_of=mentions.entity_of,
            passage_of=mentions.passage_of,
            sentences_of=sentences_of,
            starting_passages=mentions.starting_passages(),
            passage_counts=passage_counts.astype(np.float64),
            supports=all_supports.astype(np.float64),
            edges=edges_between(mentions, all_supports <= MAX_ACROSS, len(self._ids)),
            sentence_count=sentence_count,
            mentions_in=grouped(mentions.passage_of, numbers, len(self._ids)),
            defines=mentions.defines,
            is_defined=np.diff(mentions.defining.starts) > 0,
            openings=self._openings,
            names=self._names,
            mentions_about=grouped(sentences, owners, sentence_count),
        )

    def _words(self, readings: JoinedReadings) -> Words:
        vocabulary = sorted(self._vocabulary - {NO_STEM})
        table = KeyTable.of_values(word_keys(vocabulary), np.arange(len(vocabulary)) + 1)
        values = table.values_of(readings.stem_keys)
        positions = np.flatnonzero(values)
        # Only stems that occur have a number.
        stem_places, stems = np.unique(values[positions] - 1, return_inverse=True)
        stem_of, passage_of, counts = _pairs(
            stems, readings.passage_of_word[positions], len(self._ids)
        )
        in_text = ~readings.is_in_name[positions]
        stem_of_pair, sentence_of, _ = _pairs(
            stems[in_text],
            readings.sentences[positions[in_text]],
            len(readings.passage_of_sentence),
        )
        return Words(
            numbers={vocabulary[place]: stem for stem, place in enumerate(stem_places.tolist())},
            passages=Grouped(group_starts(stem_of, len(stem_places)), passage_of),
            counts=counts.astype(np.float64),
            sentences=Grouped(group_starts(stem_of_pair, len(stem_places)), sentence_of),
        )


def _pairs(groups: Integers, values: Integers, count: int) -> tuple[Integers, Integers, Integers]:
    """Return each group with each of its values, in this order, and how often it has it. `count`:
    values are below it.
    """
    pairs, counts = np.unique(groups * max(1, count) + values, return_counts=True)
    group_of, value_of = np.divmod(pairs, max(1, count))
    return group_of, value_of, counts
