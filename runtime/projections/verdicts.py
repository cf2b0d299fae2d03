"""What each service found lost of the log and of the stores, as it says on the bus."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from contracts.graph import PROJECTIONS, Projection
from contracts.registry import SERVICES
from runtime.bus.port import SharedValues

RESTORE_HINT = (
    "nothing is written to it now: `lightstream repair` restores what the archive or a backup has; "
    "or go on with what the log has: `lightstream rebuild all --accept-loss`"
)
"""What to do about a log that lost messages."""


AUDITOR = "audit"
FINDERS = (AUDITOR, *SERVICES)
"""Who looks for damage: the command `audit`, and the services."""


@dataclass(frozen=True)
class Verdict:
    """What one service found: damage of the log, and why projections cannot be read. Empty: all is
    well.
    """

    log: str = ""
    stores: Mapping[Projection, str] = field(default_factory=dict[Projection, str])


def verdict_key(stage: str) -> str:
    """Return the key under which a service puts its verdict on the bus."""
    return f"verdict.{stage}"


async def read_verdict(values: SharedValues, stage: str) -> tuple[Verdict, int]:
    """Return the last verdict of a service, and the revision to replace it."""
    verdict, revision = await values.read(verdict_key(stage))
    return (Verdict(**json.loads(verdict)) if verdict else Verdict()), revision


async def write_verdict(values: SharedValues, stage: str, verdict: Verdict) -> None:
    """Put the verdict on the bus, unless it is there already."""
    before, revision = await read_verdict(values, stage)
    if before != verdict:
        value = json.dumps({"log": verdict.log, "stores": dict(verdict.stores)}).encode()
        await values.write(verdict_key(stage), value, revision)


async def combined_verdict(values: SharedValues) -> Verdict:
    """Return the combined findings of the services and the last audit. Raises `Unavailable`."""
    verdicts = [(await read_verdict(values, stage))[0] for stage in FINDERS]
    stores: dict[Projection, str] = {}
    for projection in PROJECTIONS:
        if reasons := [
            verdict.stores[projection] for verdict in verdicts if projection in verdict.stores
        ]:
            # The query service, the last of them, looks at all stores of a projection.
            stores[projection] = reasons[-1]
    return Verdict(next((verdict.log for verdict in verdicts if verdict.log), ""), stores)
