"""What the reader learns from: questions, each with excerpts that answer it and excerpts that do
not.
"""

import json
import random
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from offline.answers.quotable_sentences import quotable
from offline.answers.quotation import candidates
from offline.answers.relevance import terms
from offline.language.languages import language_of
from offline.language.scripts import HAN
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
COMPARED = 3
"""Excerpts that the product would have read, and that do not answer, of a group."""
PART = 8
"""Characters that a part of an answering sentence has at least; fewer stand in many."""
ROW = 5
"""Different words of a row that tell which one it is."""

_WORD = re.compile(r"\w+")
_MARKUP = re.compile(r"\{%[^%{}]*%\}|\]\([^()\s]*\)|<[^<>]*>|&#?\w+;|^\s*\(?\w{1,3}[.)]\s")
"""Tags of templates, where a link leads, tags, character references, and the number of an item."""
_HAN_BLANK = re.compile(rf"(?<=[{HAN}]) (?=[{HAN}])")
"""What may stand in the middle of a word where its line ended."""


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
    compared: Sequence[Excerpt] = ()
    """Those that the product would have read, and that do not answer; none where it was not asked.
    """

    @cached_property
    def language(self) -> str:
        """Return the language of its document."""
        return language_of(" ".join(excerpt.sentence for excerpt in self.excerpts.values()))

    def group(self, chance: random.Random) -> Group:
        """Return it with some excerpts that do not answer: three that the product would have read
        or that share most words with it, one beside an answer, and others by chance.
        """
        answers = chance.sample(sorted(self.answers), min(ANSWERS, len(self.answers)))
        others = [number for number in self.excerpts if number not in self.answers]
        places = [place for number in answers for place in (number - 1, number + 1)]
        neighbours = [place for place in places if place in others]
        compared = chance.sample(self.compared, min(COMPARED, len(self.compared)))
        wrong = chance.sample(self._nearest, min(NEAR - len(compared), len(self._nearest)))
        wrong += chance.sample(neighbours, min(1, len(neighbours)))
        wrong += chance.sample(others, min(EXCERPTS, len(others)))
        wrong = list(dict.fromkeys(wrong))[: EXCERPTS - len(answers) - len(compared)]
        if (wrong or compared) and chance.random() < WITHOUT_ANSWER:
            answers = []
        numbers = [*answers, *wrong]
        return Group(
            self.question,
            [self.excerpts[number] for number in numbers] + compared,
            [number in answers for number in numbers] + [False] * len(compared),
        )

    def compared_with(self, excerpts: Sequence[Excerpt]) -> "LabelledQuestion":
        """Return it with what the product would have read, without what answers."""
        answers = [self.excerpts[number].sentence for number in self.answers]
        wrong = [
            excerpt
            for excerpt in excerpts
            if not any(text in excerpt.sentence or excerpt.sentence in text for text in answers)
        ]
        return replace(self, compared=wrong)

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

    Those are left out whose sentences are no excerpts, so that nobody can quote them.
    """
    excerpts: dict[str, dict[int, Excerpt]] = {}
    for path in sorted((folder / "documents").iterdir()):
        text = (await parse(path.read_bytes(), path.name)).text
        parts = candidates([("", quotable(text))])
        excerpts[path.name] = {part.place: part.excerpt for part in parts}
    lines = (folder / "questions.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    words = {
        file: {number: words_alone(excerpt.sentence) for number, excerpt in of_file.items()}
        for file, of_file in excerpts.items()
    }
    questions: list[LabelledQuestion] = []
    for file, question, *texts in rows:
        answers = _numbers(words[file], list(filter(None, map(words_alone, texts))))
        if answers or not texts:
            questions.append(LabelledQuestion(question, excerpts[file], answers, file))
    return questions


def words_alone(text: str) -> str:
    """Return the words of a text without marks, links and the number of an item."""
    return _HAN_BLANK.sub("", " ".join(_WORD.findall(_MARKUP.sub(" ", text))))


def _numbers(words: Mapping[int, str], answers: Sequence[str]) -> list[int]:
    """Return the numbers of the excerpts that have the words of an answer, or a part of them."""
    return [
        number
        for number, text in words.items()
        if any(_is_same(answer, text) for answer in answers)
    ]


def _is_same(answer: str, text: str) -> bool:
    """Return whether a text has an answer, or a part of it; of a row all words, which stand between
    the names of its columns.
    """
    if answer in text or (text in answer and len(text) >= PART):
        return True
    words = set(answer.split())
    return len(words) >= ROW and words <= set(text.split())


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
