"""Makes the index of passages out of their words and the names of the workspace."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from offline.language.stems import stem
from services.query.retrieval.arrays import Booleans, Integers
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
from services.query.retrieval.passage_index.joined_words import JoinedWords, joined_words
from services.query.retrieval.passage_index.mentions import mentions_of
from services.query.retrieval.passage_index.named_spans import named_spans
from services.query.retrieval.passage_index.openings import Openings
from services.query.retrieval.passage_index.passage_words import SAY_LITTLE, PassageWords
from services.query.retrieval.passage_index.sentences import (
    AboutEntities,
    sentences_about,
    words_in_names,
)

MAX_ACROSS = 10
"""Passages of an entity up to which there are edges across."""
_SHORTEST_STEM = 3
"""Letters that are left of a word at least when its ending is taken off."""


class IndexBuilder:
    """Collects passages for `build`, as often as some are read."""

    def __init__(self, names: NameIndex, vocabulary: Collection[str] | None = None) -> None:
        """`vocabulary`: the stems that are looked for; None means all."""
        self._names = names
        self._vocabulary = vocabulary
        self._beginnings = {form[:_SHORTEST_STEM] for form in vocabulary or ()}
        self._entities: list[Integers] = []
        """Their numbers among the names, as they are met."""
        self._ids: list[str] = []
        self._documents: list[int] = []
        self._document_numbers: dict[str, int] = {}
        self._lengths: list[int] = []
        self._stems: dict[str, int] = {}
        self._stem_passages: list[Integers] = []
        """Of each word that is looked for: (2, words), its stem and its passage."""
        self._stem_sentences: list[Integers] = []
        """(2, words): its stem and its sentence, without words of names"""
        self._about: list[AboutEntities] = []
        self._passages_of_sentences: list[Integers] = []
        self._sentence_count = 0
        self._openings = Openings()

    @property
    def entities(self) -> Sequence[str]:
        """The entities that the passages name so far, in the order in which they were met."""
        return self._names.names_of(self._entities_once().tolist())

    def _entities_once(self) -> Integers:
        entities = joined_arrays(self._entities)
        first = np.unique(entities, return_index=True)[1]
        return entities[np.sort(first)]

    def add(self, passages: Iterable[PassageWords]) -> "IndexBuilder":
        """Add passages, each once."""
        batch = list(passages)
        words = joined_words(batch)
        titles = {number: self._titled(passage) for number, passage in enumerate(batch)}
        spans = named_spans(words, self._names)
        of_titles = [entity for entities in titles.values() for entity in entities]
        self._entities += [np.array(of_titles, np.int64), spans.entities()]
        first_passage = len(self._ids)
        about = sentences_about(words, spans, titles)
        self._about.append(about.shifted(first_passage, self._sentence_count))
        self._add_stems(words, words_in_names(words, spans))
        self._passages_of_sentences.append(words.passage_of_sentence + first_passage)
        self._sentence_count += len(words.passage_of_sentence)
        numbers = self._document_numbers
        for passage in batch:
            self._ids.append(passage.id)
            self._documents.append(numbers.setdefault(passage.document_id, len(numbers)))
            self._lengths.append(passage.word_count)
            self._openings.add(passage.lines)
        return self

    def _titled(self, passage: PassageWords) -> list[int]:
        by_name = self._names.numbers_by_name
        return [entity for title in passage.titles for entity in by_name(title)]

    def _add_stems(self, words: JoinedWords, is_in_name: Booleans) -> None:
        numbers = self._stem_numbers(dict.fromkeys(words.forms))
        table = KeyTable.of_values(word_keys(list(numbers)), np.array(list(numbers.values())) + 1)
        stems = table.values_of(words.keys) - 1
        positions = np.flatnonzero(stems >= 0)
        passages = words.passages(positions) + len(self._ids)
        self._stem_passages.append(np.array([stems[positions], passages]))
        positions = positions[~is_in_name[positions]]
        sentences = words.sentences[positions] + self._sentence_count
        self._stem_sentences.append(np.array([stems[positions], sentences]))

    def _stem_numbers(self, forms: Iterable[str]) -> dict[str, int]:
        """Return the number of the stem of each word that is looked for."""
        vocabulary = self._vocabulary
        if vocabulary is not None:
            # No stem is shorter, and most words need not be stemmed to see that they have another.
            beginnings = self._beginnings
            forms = [form for form in forms if form[:_SHORTEST_STEM] in beginnings]
        numbers: dict[str, int] = {}
        for form in forms:
            if form not in SAY_LITTLE and (vocabulary is None or stem(form) in vocabulary):
                numbers[form] = self._stems.setdefault(stem(form), len(self._stems))
        return numbers

    def build(self, supports: Mapping[str, int] = MappingProxyType({})) -> PassageIndex:
        """Return the index of all passages that were added. `supports`: how many passages of the
        workspace name an entity, where these are not all.
        """
        numbers_of_names = self._entities_once()
        entities = self._names.names_of(numbers_of_names.tolist())
        mentions = mentions_of(
            AboutEntities.joined(self._about).renumbered(numbers_of_names),
            joined_arrays(self._passages_of_sentences),
            len(self._ids),
            len(entities),
        )
        passage_counts = np.bincount(mentions.entity_of, minlength=len(entities))
        outside = np.array([supports.get(name, 0) for name in entities], np.int64)
        all_supports = np.maximum(outside, passage_counts)
        numbers = np.arange(len(mentions.entity_of))
        sentences_of = mentions.sentences_of
        sentences, owners = sentences_of.spread(numbers, numbers)
        return PassageIndex(
            ids=self._ids,
            numbers={id: number for number, id in enumerate(self._ids)},
            documents=np.array(self._documents, np.int32),
            document_numbers=self._document_numbers,
            lengths=np.array(self._lengths, np.float64),
            words=self._words(),
            entities={name: number for number, name in enumerate(entities)},
            entity_of=mentions.entity_of,
            passage_of=mentions.passage_of,
            sentences_of=sentences_of,
            starting_passages=mentions.starting_passages(),
            passage_counts=passage_counts.astype(np.float64),
            supports=all_supports.astype(np.float64),
            edges=edges_between(mentions, all_supports <= MAX_ACROSS, len(self._ids)),
            sentence_count=self._sentence_count,
            mentions_in=grouped(mentions.passage_of, numbers, len(self._ids)),
            defines=mentions.defines,
            is_defined=np.diff(mentions.defining.starts) > 0,
            openings=self._openings,
            names=self._names,
            mentions_about=grouped(sentences, owners, self._sentence_count),
        )

    def _words(self) -> Words:
        stems, passages = _side_by_side(self._stem_passages)
        in_passages, counts = np.unique(
            stems * max(1, len(self._ids)) + passages, return_counts=True
        )
        stem_of, passage_of = np.divmod(in_passages, max(1, len(self._ids)))
        stems, sentences = _side_by_side(self._stem_sentences)
        in_sentences = np.unique(stems * max(1, self._sentence_count) + sentences)
        stem_of_pair, sentence_of = np.divmod(in_sentences, max(1, self._sentence_count))
        return Words(
            numbers=self._stems,
            passages=Grouped(group_starts(stem_of, len(self._stems)), passage_of),
            counts=counts.astype(np.float64),
            sentences=Grouped(group_starts(stem_of_pair, len(self._stems)), sentence_of),
        )


def _side_by_side(parts: Sequence[Integers]) -> Integers:
    """Return (2, items): the columns of all parts."""
    return np.concatenate([np.empty((2, 0), np.int64), *parts], axis=1)
