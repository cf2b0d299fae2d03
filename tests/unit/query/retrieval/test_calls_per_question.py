"""What one question asks of the bus, the embedder and the stores: counted, because seconds depend
on the machine.
"""

from collections import Counter
from collections.abc import Collection
from typing import Any

import pytest

from contracts.graph import Generations, Partition
from contracts.ids import chunk_id
from services.query.partitions import Partitions
from services.query.passage import Passage
from services.query.question import Question
from services.query.retrieval.linking import MAX_CORRECTED, MAX_MISSPELT_WORDS, link_entities
from services.query.retrieval.name_index import NameIndex
from services.query.retrieval.retrieve import retrieve
from tests.support.querying import CURIE, CURIE_SAYS, QueryHarness

PARTITIONS = Partitions.of("w", Generations())
MEGABYTE = 2**20


def counted(owner: Any, counts: Counter[str], *methods: str) -> None:
    """Count the calls of these methods, and the texts that are embedded."""

    def counting(name: str, inner: Any) -> Any:
        async def call(*args: Any, **options: Any) -> Any:
            counts[name] += 1
            if name == "embed":
                counts["texts"] += len(args[0])
            return await inner(*args, **options)

        return call

    for name in methods:
        setattr(owner, name, counting(name, getattr(owner, name)))


async def calls(
    mode: Any, question: str = "What did Marie Curie discover in Paris?"
) -> dict[str, int]:
    """Calls of one more question, after the same one was asked twice: what it reads is cached."""
    harness = QueryHarness()
    counts = Counter[str]()
    await harness.index("curie", *CURIE, says=CURIE_SAYS)
    counted(harness.log, counts, "following", "last")
    counted(
        harness.graph,
        counts,
        "entities",
        "relations",
        "relation_summaries",
        "neighbourhood",
        "scan_names",
    )
    counted(harness.vectors, counts, "search", "likeness", "get")
    counted(harness.embedder, counts, "embed")
    deps = harness.deps(MEGABYTE)
    for _ in range(2):
        await retrieve(Question(question, mode), PARTITIONS, deps)
    counts.clear()
    assert await retrieve(Question(question, mode), PARTITIONS, deps)
    return dict(counts)


async def test_mix_looks_at_the_log_once_and_embeds_and_searches_all_at_once() -> None:
    assert await calls("mix") == {"following": 1, "embed": 1, "texts": 3, "search": 3}


async def test_naive_asks_the_bus_nothing() -> None:
    assert await calls("naive") == {"embed": 1, "texts": 1, "search": 1}


async def test_walk_embeds_the_question_alone_and_reads_no_graph_again() -> None:
    assert await calls("walk") == {"following": 1, "embed": 1, "texts": 1, "search": 1}


def test_a_long_question_of_misspelt_names_is_corrected_in_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    index = NameIndex()
    spelt = list[str]()
    by_spelling = NameIndex.by_spelling
    index.add((f"Harbour Master {number}", "person") for number in range(100))

    def by_spelling_counted(self: NameIndex, form: str) -> tuple[str, ...]:
        spelt.append(form)
        return by_spelling(self, form)

    monkeypatch.setattr(NameIndex, "by_spelling", by_spelling_counted)
    link_entities("Harbuor Mastre " * 600, index)
    # Each word begins at most one span of every length.
    assert 0 < len(spelt) <= MAX_CORRECTED * MAX_MISSPELT_WORDS


@pytest.mark.parametrize(("gone_order", "used_order", "reads"), [(None, 0, 1), (0, 1, 2)])
async def test_only_passages_that_are_used_are_read_and_more_where_one_is_gone(
    monkeypatch: pytest.MonkeyPatch, gone_order: int | None, used_order: int, reads: int
) -> None:
    harness = QueryHarness()
    read = list[list[str]]()
    await harness.index("curie", *CURIE, says=CURIE_SAYS)
    inner = harness.passages.get

    async def get(partition: Partition, ids: Collection[str]) -> dict[str, Passage]:
        read.append(list(ids))
        return {
            id: passage
            for id, passage in (await inner(partition, ids)).items()
            if passage.order != gone_order
        }

    monkeypatch.setattr(harness.passages, "get", get)
    result = await retrieve(
        Question("What did Marie Curie discover?", chunk_top_k=1), PARTITIONS, harness.deps()
    )
    assert [passage.id for _, passage in result.passages] == [chunk_id("curie", used_order)]
    assert [len(ids) for ids in read] == [1] * reads
