"""The ledger: what events say was paid counts once, however often and in whatever order they
come.
"""

from dataclasses import replace
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from contracts.events import DescriptionSummarized, VectorsIndexed
from contracts.graph import Generations, Partition
from contracts.values import TokenUsage
from runtime.bus.port import Delivery
from runtime.costs.ledger import RowLedger
from runtime.costs.prices import parse_prices
from runtime.costs.report import CostReport, cost_report
from runtime.stores.documents.memory import MemoryRows
from services.query.replay import StatusReplay
from tests.support.events import delivered, document, extracted, reference
from tests.support.querying import LIVE, QueryHarness
from tests.support.shares import share

PRICES = parse_prices('{"m": {"prompt": 2, "cached": 0.5, "completion": 10, "currency": "EUR"}}')
HERE = Partition("w", LIVE.status)


def said(
    order: int, *, cached: bool = False, version: int = 1, model: str = "m", calls: int = 2
) -> Any:
    """What one chunk says, for 1,000 tokens read, 400 of them cached by the provider, and 100
    written.
    """
    usage = TokenUsage(prompt=1000, cached=400, completion=100, calls=calls)
    change = {"usage": usage, "cached": cached, "model": model, "duration_ms": 1500}
    return extracted(document("d", version), order).model_copy(update=change)


def summarized() -> DescriptionSummarized:
    return DescriptionSummarized(
        key=("A",),
        inputs_hash="0" * 64,
        prompt_version="1",
        model="m",
        text="t",
        usage=TokenUsage(prompt=10, calls=1),
    )


def indexed(prompt: int) -> VectorsIndexed:
    return VectorsIndexed(
        document=document("d"),
        kind="chunks",
        chunks=(reference("d"),),
        embedded=1,
        model="vectors",
        dimension=2,
        usage=TokenUsage(prompt=prompt, calls=1),
    )


LIFE = [
    delivered(said(0), 2, id="e-0"),
    delivered(said(1), 3, id="e-1"),
    delivered(said(0, cached=True, version=9), 4, id="e-2"),
    delivered(summarized(), 5, id="s"),
    delivered(indexed(70), 6, id="v"),
    delivered(said(2, calls=0), 7, id="old"),
]


async def reported(rows: MemoryRows, by: Any = None, partition: Partition = HERE) -> CostReport:
    return await cost_report(RowLedger(rows).entries(partition), PRICES, by)


async def folded(batches: list[list[Delivery[Any]]]) -> QueryHarness:
    harness = QueryHarness()
    for batch in batches:
        await harness.project(*batch)
    return harness


async def test_calls_tokens_seconds_and_money_are_summed_up() -> None:
    total = (await reported((await folded([LIFE])).rows)).total
    # Two extractions of two calls, one of a release that counted none, a summary, and a call for
    # vectors.
    assert (total.calls, total.prompt, total.cached, total.completion) == (7, 3080, 1200, 300)
    assert total.seconds == 4.5
    # (1,000 - 400) × 2 + 400 × 0.5 + 100 × 10, three times, and 10 × 2, of a million.
    assert total.money == Decimal("0.00722")
    assert total.unpriced == 70
    assert (total.saved_results, total.saved_tokens, total.saved_money) == (
        1,
        1100,
        Decimal("0.0024"),
    )


@pytest.mark.parametrize(
    ("by", "names"),
    [
        ("day", ["2026-03-01"]),
        ("document", ["", "d"]),
        ("stage", ["extractor", "indexer", "merger"]),
        ("model", ["m", "vectors"]),
    ],
)
async def test_groups_sum_up_to_the_total(by: Any, names: list[str]) -> None:
    report = await reported((await folded([LIFE])).rows, by)
    assert list(report.groups) == names
    assert sum(group.tokens for group in report.groups.values()) == report.total.tokens
    assert sum(group.money or 0 for group in report.groups.values()) == report.total.money


@pytest.mark.parametrize("seed", share(range(20), daily=5))
async def test_order_batches_and_repeats_change_nothing(seed: int) -> None:
    random = Random(seed)
    again = [
        replace(delivery, sequence=delivery.sequence + 100, attempt=2) for delivery in LIFE
    ]  # the window of the bus was over
    events = [*LIFE, *LIFE, *again]
    random.shuffle(events)
    cut = random.randrange(len(events))
    in_order = await folded([LIFE])
    in_disorder = await folded([events[:cut], events[cut:]])
    for by in ("day", "document", "stage", "model"):
        assert await reported(in_disorder.rows, by) == await reported(in_order.rows, by)


async def test_of_two_messages_of_one_event_the_first_in_the_log_counts() -> None:
    first = delivered(said(0), 2, id="e")
    second = delivered(said(0, cached=True), 3, id="e")
    for order in ([first, second], [second, first]):
        total = (await reported((await folded([[delivery] for delivery in order])).rows)).total
        assert (total.calls, total.saved_results) == (2, 0)


async def test_ids_of_two_publishers_are_two_events_and_workspaces_share_nothing() -> None:
    foreign = delivered(said(0), 2, id="e")
    elsewhere = replace(
        foreign, envelope=foreign.envelope.model_copy(update={"source": "elsewhere"}), sequence=3
    )
    harness = await folded([[foreign, elsewhere, delivered(said(0), 4, id="e", workspace="x")]])
    assert (await reported(harness.rows)).total.calls == 4
    assert (await reported(harness.rows, partition=Partition("x", LIVE.status))).total.calls == 2


async def test_a_rebuild_has_the_same_sums_and_a_model_of_this_machine_costs_nothing() -> None:
    free = delivered(extracted(document("free"), 0), 1, id="free")
    harness = await folded([[free, *LIFE]])
    replay = StatusReplay(harness.rows)
    new_generations = Generations(status=2)
    for delivery in [*LIFE, free, *LIFE]:
        await replay.take([delivery], new_generations)
    await replay.finish(new_generations)
    for by in ("day", "document", "stage", "model"):
        rebuilt = await reported(harness.rows, by, Partition("w", 2))
        assert rebuilt == await reported(harness.rows, by)
    assert "free" not in (await reported(harness.rows, "document")).groups


async def test_what_one_document_cost_is_read_alone() -> None:
    rows = (await folded([LIFE])).rows
    assert [entry.stage async for entry in RowLedger(rows).entries(HERE, "d")].count(
        "extractor"
    ) == 4
    assert [entry async for entry in RowLedger(rows).entries(HERE, "other")] == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[]", "JSON object"),
        ("{", "JSON object"),
        ('{"m": 3}', "must be an object"),
        ('{"m": {"input": 3}}', "unknown field 'input'; there are prompt, cached"),
        ('{"m": {"prompt": -1}}', "at least 0"),
        ('{"m": {"prompt": "x"}}', "at least 0"),
        ('{"m": {"prompt": 1}, "n": {"currency": "EUR"}}', "one currency"),
    ],
)
def test_prices_that_cannot_be_used_are_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_prices(text)


def test_prices_have_defaults() -> None:
    prices = parse_prices('{"m": {"prompt": 3}}')
    assert prices.currency == "USD"
    assert prices.money("m", 1_000_000, 500_000, 7) == Decimal(3)
    assert prices.money("another", 1, 0, 0) is None
    assert parse_prices("").of == {}
