"""What calls of a workspace took so far, by its ledger: for estimates of those to come."""

from contracts.graph import Partition
from operations.estimate import PastCalls
from operations.target import Target
from runtime.bus.port import LiveGenerations
from runtime.costs.ledger import RowLedger
from runtime.costs.report import cost_report
from runtime.stores.open import open_documents


async def past_calls(pointers: LiveGenerations, target: Target, workspace: str) -> PastCalls:
    """Return what calls of the workspace took on average so far."""
    partition = Partition(workspace, (await pointers.live("status")).status)
    rows = open_documents(target.settings)
    try:
        entries = RowLedger(rows).sums(partition)
        groups = (await cost_report(entries, target.settings.prices, "stage")).groups
    finally:
        await rows.close()
    return PastCalls.of(groups)
