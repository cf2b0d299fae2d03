"""MuSiQue and HotpotQA through `retrieve()`: which of the passages that a question needs are among
the first?

Each passage is a document, "title: text" or the text alone, cut, extracted, merged and indexed as
the services do it offline, with their defaults. Each question is asked as it is, in lower case, and
with one typing error in every name. More documents are of the passages of the other sets, and after
those of all passages under new names.
"""

import json
import random
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from itertools import count as counting
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring.tables import table
from benchmarks.multihop_stores import LIVE, CachedEmbedder, filled
from benchmarks.multihop_world import Document, misspelt
from benchmarks.yardstick.documents import Passage, renamed
from contracts.chunking import Chunking
from offline.language.stop_words import STOPWORDS
from services.query.partitions import Partitions
from services.query.question import Question
from services.query.retrieval.dependencies import RetrievalDependencies
from services.query.retrieval.multihop.evidence import gather_evidence
from services.query.retrieval.multihop.query_terms import QueryTerms
from services.query.retrieval.passage_index.builder import IndexBuilder
from services.query.retrieval.passage_index.index import PassageIndex
from services.query.retrieval.passage_index.passage_words import words_of
from services.query.retrieval.retrieve import retrieve

SETS = ("musique", "hotpotqa")
MODES = ("walk", "auto", "mix", "naive", "bm25")
"""`bm25` ranks all passages by the words of the question and nothing else."""
CHUNKING = Chunking(size=1200, overlap=100, strategy="token")
"""The chunker's defaults."""
TOLERANCE = 0.02
"""How far `auto` may be below the better of `walk` and `mix`."""
SEED = 5
PAGE = 1000
"""Passages that are read at once."""
NAME_READS = 600
"""How often the index of names is asked for before a set is measured; each waits 0.1 s for it."""

_NAME = re.compile(r"\b[A-Z][\w'’-]*(?: (?:(?:of|the|and|de|von|van|&) )*[A-Z][\w'’-]*)*")


@dataclass(frozen=True)
class RealQuestion:
    """A question, the files of the passages that it needs, and of which sort it is."""

    text: str
    files: tuple[str, ...]
    group: str


@dataclass(frozen=True)
class Answer:
    """Of one question in one mode: the rank of each file that it needs, from 0, and CPU without
    embedding.
    """

    asked: RealQuestion
    ranks: tuple[float, ...]
    cpu_seconds: float

    def recall(self, first: int) -> float:
        """The share of the needed files among the first."""
        return sum(rank < first for rank in self.ranks) / len(self.ranks)


def ranks(asked: RealQuestion, files: Sequence[str]) -> tuple[float, ...]:
    """The rank of each file that a question needs among those that were found; infinity where it
    was not.
    """
    return tuple(files.index(file) if file in files else float("inf") for file in asked.files)


def load(
    folder: Path, name: str, titled: bool, count: int = 0
) -> tuple[list[Document], list[RealQuestion]]:
    """The passages of a set as documents, with as many of others that there are `count`, and its
    questions. Exits when a file is missing.
    """
    read = _read(folder, name)
    own = [Passage(each["title"], each["text"]) for each in read["passages"]]
    more = islice(distractors(folder, name, own), max(0, count - len(own)))
    documents = [
        Document(_file(number), f"{passage.title}: {passage.text}" if titled else passage.text)
        for number, passage in enumerate(chain(own, more))
    ]
    questions = [
        RealQuestion(q["question"], tuple(map(_file, q["gold"])), _group(q))
        for q in read["questions"]
    ]
    return documents, questions


def distractors(folder: Path, name: str, own: Sequence[Passage]) -> Iterator[Passage]:
    """Passages that no question of a set needs, without end: those of the other sets, then all of
    them with other names, and with others again.
    """
    others = [
        Passage(each["title"], each["text"])
        for other in SETS
        if other != name
        for each in _read(folder, other)["passages"]
    ]
    titles = {passage.title for passage in own}
    yield from (passage for passage in others if passage.title not in titles)
    for turn in counting(1):
        yield from (renamed(passage, turn) for passage in (*own, *others))


def _read(folder: Path, name: str) -> dict[str, Any]:
    path = folder / f"{name}-train-100.json"
    if not path.is_file():
        raise SystemExit(f"{path} is missing: benchmarks/README.md says where it comes from")
    return json.loads(path.read_text("utf-8"))


def _file(number: int) -> str:
    return f"p{number:05d}.txt"


def _group(question: dict[str, Any]) -> str:
    return "comparison" if question.get("type") == "comparison" else f"{question['hops']} hops"


def with_typing_errors(question: str) -> str:
    """The question with one slip in the longest word of each name, if that has six letters."""
    chance = random.Random(f"{SEED} {question}")

    def wrong(match: re.Match[str]) -> str:
        first, _, rest = match[0].partition(" ")
        if match.start() == 0 and first.lower() in STOPWORDS:
            return f"{first} {misspelt(chance, rest) or rest}" if rest else first
        return misspelt(chance, match[0]) or match[0]

    return _NAME.sub(wrong, question)


FORMS: dict[str, Callable[[str], str]] = {
    "as asked": str,
    "lower case": str.lower,
    "typing errors": with_typing_errors,
}


def by_words(index: PassageIndex, question: str, first: int) -> list[str]:
    """Ids of the passages with the greatest BM25."""
    allowed = index.allowed(None)
    likeness = gather_evidence(index, QueryTerms.of(question, []), {}, allowed).likeness
    return [index.ids[int(number)] for number in np.argsort(-likeness, kind="stable")[:first]]


class Asking:
    """Asks in any mode, and measures."""

    def __init__(self, deps: RetrievalDependencies, embedder: CachedEmbedder) -> None:
        self._deps, self._embedder, self._partitions = deps, embedder, Partitions.of("w", LIVE)
        self._whole: PassageIndex | None = None

    async def all(self, questions: Sequence[RealQuestion], mode: Any, form: str) -> list[Answer]:
        """Answers to all questions, after one that fills the caches."""
        await self._files(FORMS[form](questions[0].text), mode)
        await self._wait_for_names()
        return [
            await self._one(question, mode, FORMS[form](question.text)) for question in questions
        ]

    async def _wait_for_names(self) -> None:
        """Wait for the index of names. Exits where there is none in time: a set without names, or
        of too many.
        """
        for _ in range(NAME_READS):
            if len(await self._deps.entity_names.of(self._partitions)):
                return
        raise SystemExit("the names of the set are not in memory: it has none, or too many")

    async def _one(self, asked: RealQuestion, mode: Any, text: str) -> Answer:
        began = time.process_time() - self._embedder.cpu_seconds
        files = await self._files(text, mode)
        spent = time.process_time() - self._embedder.cpu_seconds - began
        return Answer(asked, ranks(asked, files), spent)

    async def _files(self, text: str, mode: Any) -> list[str]:
        """The files of the passages that are found, in order."""
        partitions, deps = self._partitions, self._deps
        if mode != "bm25":
            result = await retrieve(Question(text, mode), partitions, deps)
            return [passage.file_path for _, passage in result.passages]
        ids = by_words(await self._index(), text, 20)
        passages = await deps.passages.get(partitions.status, ids)
        return [passages[id].file_path for id in ids]

    async def _index(self) -> PassageIndex:
        """Return an index of all passages, which is made once."""
        if self._whole is None:
            partitions, deps = self._partitions, self._deps
            builder = IndexBuilder(await deps.entity_names.of(partitions))
            after = ""
            while page := await deps.passages.page(partitions.status, after, PAGE):
                builder.add(map(words_of, page.values()))
                after = list(page)[-1]
            self._whole = builder.build()
        return self._whole


def summary(answers: Sequence[Answer]) -> tuple[float, float, float]:
    """recall@2, recall@5, and the share with every needed passage among the first eight."""
    count = len(answers)
    recall_2, recall_5 = (
        sum(answer.recall(first) for answer in answers) / count for first in (2, 5)
    )
    return recall_2, recall_5, sum(answer.recall(8) == 1 for answer in answers) / count


def row(form: str, mode: str, answers: Sequence[Answer]) -> list[str]:
    """A row of the table."""
    groups: dict[str, list[Answer]] = defaultdict(list)
    for answer in answers:
        groups[answer.asked.group].append(answer)
    by_group = [f"{summary(groups[group])[2]:.2f}" for group in sorted(groups)]
    spent = sorted(answer.cpu_seconds for answer in answers)
    shares = [f"{share:.2f}" for share in summary(answers)]
    return [
        form,
        f"`{mode}`",
        *shares,
        " / ".join(by_group),
        f"{1000 * spent[len(spent) // 2]:.0f}",
    ]


def shortfalls(result: dict[str, list[Answer]]) -> list[str]:
    """Where `auto` is further below the better of `walk` and `mix` than it may be."""
    if not {"auto", "walk", "mix"} <= result.keys():
        return []
    figures = zip(*(summary(result[mode]) for mode in ("auto", "walk", "mix")), strict=True)
    named = zip(("recall@2", "recall@5", "all@8"), figures, strict=True)
    return [
        f"{name} {auto:.2f}, `walk` {walk:.2f}, `mix` {mix:.2f}"
        for name, (auto, walk, mix) in named
        if auto < max(walk, mix) - TOLERANCE - 1e-9
    ]


async def measure(
    folder: Path,
    name: str,
    titled: bool,
    modes: Sequence[str],
    embedder: CachedEmbedder,
    count: int = 0,
) -> None:
    """Print the table of one set, among at least `count` documents."""
    documents, questions = load(folder, name, titled, count)
    stores = await filled(documents, embedder, CHUNKING)
    asking = Asking(stores.deps(embed=embedder.embed, min_score=0.2), embedder)
    groups = " / ".join(sorted({question.group for question in questions}))
    head = ("asked", "mode", "recall@2", "recall@5", "all@8", f"all@8: {groups}", "CPU ms")
    rows, short = list[list[str]](), list[str]()
    for form in FORMS:
        result = {mode: await asking.all(questions, mode, form) for mode in modes}
        rows += [row(form, mode, answers) for mode, answers in result.items()]
        short += [f"{form}: {said}" for said in shortfalls(result)]
    style = "titled" if titled else "plain"
    print(
        f"\n{name}, {style}: {len(documents)} documents, {len(questions)} "
        f"questions\n\n{table(head, rows)}\n"
    )
    print(
        (
            "`auto` more than 2 points below the better of `walk` and `mix`: "
            f"{'; '.join(short) or 'nowhere'}"
        ),
        flush=True,
    )
