"""Routes that say what was spent read no more of the ledger than its newest block, however long it
is.
"""

from dataclasses import dataclass, field
from typing import Any

import pytest

from contracts.events import BudgetSet
from runtime.costs import ledger as ledger_module
from runtime.costs.budget import set_budget
from runtime.costs.ledger import RowLedger
from runtime.costs.port import CostEntry
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.documents.port import Row, Table, Where
from services.gateway.settings import GatewaySettings
from services.query.status.document_status import DocumentStatus
from tests.support.access import client
from tests.support.querying import LIVE, QueryHarness
from tests.unit.costs.test_ledger import HERE

BLOCK = 100
ENTRIES = 10 * BLOCK + 30
PRICES = '{"m": {"prompt": 2, "completion": 10}}'


@dataclass
class CountingRows(MemoryRows):
    """Rows that count those of the ledger that it returns."""

    row_counts: dict[str, int] = field(default_factory=dict[str, int])

    def __post_init__(self) -> None:
        super().__init__()

    async def find(self, table: Table, where: Where, **paging: Any) -> list[tuple[str, Row]]:
        return self._counted(table, await super().find(table, where, **paging))

    async def scan(self, table: Table, after: str = "", limit: int = 1000) -> list[tuple[str, Row]]:
        return self._counted(table, await super().scan(table, after, limit))

    def _counted(self, table: Table, rows: list[tuple[str, Row]]) -> list[tuple[str, Row]]:
        self.row_counts[table.name] = self.row_counts.get(table.name, 0) + len(rows)
        return rows


async def harness_with_costs() -> QueryHarness:
    harness = QueryHarness(rows=CountingRows())
    entries = [
        CostEntry("2026-03-01", f"d{n}", "extractor", "m", n, prompt=1000, completion=100, calls=1)
        for n in range(ENTRIES)
    ]
    ledger = RowLedger(harness.rows)
    for start in range(0, ENTRIES, BLOCK):
        batch = entries[start : start + BLOCK]
        await ledger.put(HERE, {f"e-{entry.sequence}": entry for entry in batch})
    budget = BudgetSet(tokens=10**9)
    await set_budget(harness.log, workspace="w", budget=budget, source="tests")
    return harness


@pytest.mark.parametrize("path", ["/operations/cost", "/operations/budget", "/health"])
async def test_what_was_spent_is_read_from_sums(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_module, "BLOCK", BLOCK)
    harness = await harness_with_costs()
    assert HERE.generation == LIVE.status and isinstance(harness.rows, CountingRows)
    harness.rows.row_counts.clear()
    settings = GatewaySettings(workspace="w", model_prices=PRICES)
    async with client(harness.app(settings=settings)) as api:
        answer = (await api.get(path)).json()
    if path == "/health":
        assert answer["budget_exceeded"] is None
    else:
        state = answer["budget"] if path == "/operations/cost" else answer
        assert state["spent_tokens"] == ENTRIES * 1100
        assert state["spent_money"] == pytest.approx(ENTRIES * 0.003)
    readings = 2 if path == "/operations/cost" else 1
    assert 0 < harness.rows.row_counts["costs"] <= readings * (BLOCK + 1)
    assert harness.rows.row_counts["cost_sums"] <= readings * 12


async def test_costs_by_document_read_those_of_a_page_of_the_newest_and_sum_up_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ledger_module, "BLOCK", BLOCK)
    harness = await harness_with_costs()
    assert isinstance(harness.rows, CountingRows)
    statuses = [
        DocumentStatus(id=f"d{n}", created_at=f"2026-03-01T00:00:00.{n:06d}+00:00", version=n + 1)
        for n in range(200)
    ]
    await harness.documents.put(HERE, statuses)
    harness.rows.row_counts.clear()
    settings = GatewaySettings(workspace="w", model_prices=PRICES)
    async with client(harness.app(settings=settings)) as api:
        query = {"by": "document", "limit": 3, "offset": 10}
        answer = (await api.get("/operations/cost", params=query)).json()
        answer_of_one = (
            await api.get("/operations/cost", params={**query, "document": "d7"})
        ).json()
    assert harness.rows.row_counts["costs"] <= 4 * (BLOCK + 1) + 4
    assert [group["name"] for group in answer["groups"]] == ["d189", "d188", "d187", ""]
    assert [group["calls"] for group in answer["groups"]] == [1, 1, 1, ENTRIES - 3]
    assert answer["documents"] == 200
    assert sum(group["money"] for group in answer["groups"]) == pytest.approx(
        answer["total"]["money"]
    )
    assert [group["name"] for group in answer_of_one["groups"]] == ["d7"] and answer_of_one[
        "documents"
    ] is None
