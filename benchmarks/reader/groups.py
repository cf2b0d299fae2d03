"""What the reader learns from: questions, each with excerpts that answer it and excerpts that do
not.
"""

import json
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from offline.answers.quotable_sentences import quotable
from offline.answers.quotation import candidates
from offline.answers.relevance import terms
from offline.language.languages import language_of
from offline.language.sentences import sentences
from offline.reading.excerpt import Excerpt
from runtime.parsing.files import parse

EXCERPTS = 6
"""Most excerpts of a group."""
ANSWERS = 2
"""Most of them that answer."""
WITHOUT_ANSWER = 0.1
"""Share of groups whose answers are taken out, so that nothing answers."""
NEAREST = 10
"""Excerpts with most words of the question, out of which some are taken."""
NEAR = 3
"""How many are."""
WITH_NEXT = 0.4
"""Share of excerpts that are read with the sentence after them, where one follows."""


@dataclass(frozen=True)
class Group:
    """A question with excerpts, and which of them answer it."""

    question: str
    excerpts: Sequence[Excerpt]
    answers: Sequence[bool]


@dataclass(frozen=True)
class LabelledQuestion:
    """A question about a document with the numbers of the excerpts that answer it."""

    question: str
    excerpts: Mapping[int, Excerpt]
    answers: Collection[int]
    file: str = ""
    excerpts_with_next: Mapping[int, Excerpt] = field(default_factory=dict[int, Excerpt])
    """Those after which a sentence follows in their paragraph, with that one, whose number is the
    next.
    """

    @property
    def language(self) -> str:
        """Return the language of its document."""
        return language_of(" ".join(excerpt.sentence for excerpt in self.excerpts.values()))

    def group(self, chance: random.Random) -> Group:
        """Return it with some excerpts that do not answer: three that share most words with it, one
        beside an answer, and others by chance.
        """
        answers = chance.sample(sorted(self.answers), min(ANSWERS, len(self.answers)))
        others = [number for number in self.excerpts if number not in self.answers]
        places = [place for number in answers for place in (number - 1, number + 1)]
        neighbours = [place for place in places if place in others]
        wrong = chance.sample(self._nearest, min(NEAR, len(self._nearest)))
        wrong += chance.sample(neighbours, min(1, len(neighbours)))
        wrong += chance.sample(others, min(EXCERPTS, len(others)))
        wrong = list(dict.fromkeys(wrong))[: EXCERPTS - len(answers)]
        if chance.random() < WITHOUT_ANSWER:
            answers = []
        numbers = [*answers, *wrong]
        return Group(
            self.question,
            [self._excerpt(number, chance) for number in numbers],
            [number in answers for number in numbers],
        )

    def _excerpt(self, number: int, chance: random.Random) -> Excerpt:
        """Return an excerpt, in some cases with the sentence after it, unless that one answers and
        it does not.
        """
        is_misleading = number + 1 in self.answers and number not in self.answers
        if number in self.excerpts_with_next and not is_misleading and chance.random() < WITH_NEXT:
            return self.excerpts_with_next[number]
        return self.excerpts[number]

    @cached_property
    def _nearest(self) -> Sequence[int]:
        others = [number for number in self.excerpts if number not in self.answers]
        return sorted(others, key=lambda number: -self._shared_terms(number))[:NEAREST]

    def _shared_terms(self, number: int) -> int:
        excerpt = self.excerpts[number]
        text = f"{excerpt.headings} {excerpt.before} {excerpt.sentence}"
        language = language_of(self.question)
        return len(terms(self.question, language) & terms(text, language))


async def own_questions(folder: Path) -> list[LabelledQuestion]:
    """Return the questions about the documents of a folder: `questions.tsv` has a question a line,
    the name of a file in `documents`, the question, and the sentences that answer it, if any.
    """
    excerpts: dict[str, dict[int, Excerpt]] = {}
    excerpts_with_next: dict[str, dict[int, Excerpt]] = {}
    for path in sorted((folder / "documents").iterdir()):
        text = (await parse(path.read_bytes(), path.name)).text
        parts = candidates([("", quotable(text))])
        excerpts[path.name] = {part.place: part.excerpt for part in parts}
        excerpts_with_next[path.name] = {
            part.place: part.excerpts[1] for part in parts if part.excerpts[1:]
        }
    lines = (folder / "questions.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    return [
        LabelledQuestion(
            question,
            excerpts[file],
            _numbers(excerpts[file], texts),
            file,
            excerpts_with_next[file],
        )
        for file, question, *texts in rows
    ]


def _numbers(excerpts: Mapping[int, Excerpt], texts: Sequence[str]) -> list[int]:
    """Return the numbers of the excerpts with these sentences, or with parts of them."""
    return [
        number
        for number, excerpt in excerpts.items()
        if any(excerpt.sentence.replace("\n", " ") in text for text in texts)
    ]


def public_questions(file: Path) -> Iterator[LabelledQuestion]:
    """Return the questions of a file in the format of SQuAD 2.0 (Rajpurkar et al., 2018), with the
    sentences of their article.
    """
    articles: Sequence[Any] = json.loads(file.read_text("utf-8"))["data"]
    for article in articles:
        excerpts: dict[int, Excerpt] = {}
        for paragraph in article["paragraphs"]:
            first = len(excerpts)
            parts = list(sentences(paragraph["context"]))
            for place, part in enumerate(parts):
                before = parts[place - 1].text if place else ""
                excerpts[first + place] = Excerpt(part.text, str(article.get("title", "")), before)
            for item in paragraph["qas"]:
                answers = {
                    first + place
                    for answer in item["answers"]
                    for place, part in enumerate(parts)
                    if part.start <= answer["answer_start"] < part.end
                }
                yield LabelledQuestion(item["question"], excerpts, answers)
