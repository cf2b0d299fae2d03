"""One run of a seed, and what must be true at its end."""

import asyncio
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import Any
from unittest import mock

from contracts.events import DocumentAdded
from contracts.graph import PROJECTIONS, Generations, Partition
from runtime.bus.codec import decode
from services.query.adapters.documents import RowDocuments
from standalone.operations.digest import Digest, digest
from tests.simulation.commands import MOST_PASSAGES, commands
from tests.simulation.pipeline import Change, Pipeline
from tests.simulation.scheduler import Chance

TROUBLED_STEPS = 400
"""Steps after which nothing goes wrong any more."""
MOST_STEPS = 40_000
"""Steps after which a run that has not ended never will."""


class Violation(AssertionError):
    """What was to be true at the end is not."""


@dataclass(frozen=True)
class Outcome:
    """What a run of a seed went through."""

    seed: int
    events: int
    kills: int
    failed_calls: int
    repeats: int


async def simulate(seed: int, change: Change | None = None) -> Outcome:
    """Run the seed's commands in trouble, and once more in peace, and compare. Raises Violation."""
    with inline_threads():
        troubled = await _run(seed, trouble(seed), change)
        calm = await _run(seed, Chance(Random(-seed - 1), troubled=False), None)
    await _check_documents(troubled)
    _check_payments(troubled)
    for projection, expected in (await _digests(calm)).items():
        found = (await _digests(troubled))[projection]
        if found != expected:
            raise Violation(f"{projection}: {found.counts} instead of {expected.counts}, or other content")
    return Outcome(
        seed,
        len(troubled.log.messages),
        troubled.kills,
        troubled.chance.failed_calls,
        sum(durable.repeats for durable in troubled.durables.values()),
    )


def trouble(seed: int) -> Chance:
    """Return what goes wrong in a run: kills, failed calls and lost acknowledgements, or repeats in two hands at once.

    Never both. A replica that dies after it has written something old, while another one acknowledges the same message,
    leaves it behind: stores that compare nothing when they write cannot be guarded against that (decision 64).
    """
    rng = Random(seed)
    return Chance(rng, faults=0.05, kills=0.05) if seed % 3 else Chance(rng, repeats=0.2)


async def _run(seed: int, chance: Chance, change: Change | None) -> Pipeline:
    pipeline = Pipeline(chance, *([change] if change else []))
    left = commands(Random(f"commands of {seed}"))
    for step in range(MOST_STEPS):
        chance.troubled = chance.troubled and step < TROUBLED_STEPS
        action = chance.rng.random()
        if left and action < 0.15:
            await pipeline.log.publish(left.pop(0))
        elif chance.troubled and 0.15 <= action < 0.15 + chance.kills:
            await pipeline.kill()
        elif not pipeline.deliver() and not pipeline.working and not left:
            return pipeline
        await chance.pause()
    raise Violation(f"not at an end after {MOST_STEPS} steps")


async def _check_documents(pipeline: Pipeline) -> None:
    """Every document that was added is known, and nothing was given up."""
    if pipeline.log.dead:
        raise Violation(f"dead letters: {[reason for _, reason in pipeline.log.dead.values()]}")
    envelopes = [decode(stored.data, stored.subject) for stored in pipeline.log.messages]
    added = {envelope.data.document_id for envelope in envelopes if isinstance(envelope.data, DocumentAdded)}
    rows = await RowDocuments(pipeline.stores.rows).get(Partition("w", Generations().status), added)
    states = {id: rows[id][0].status if id in rows else "unknown" for id in added}
    if unsettled := {id: status for id, status in states.items() if status not in ("processed", "deleted")}:
        raise Violation(f"not settled: {unsettled}")


def _check_payments(pipeline: Pipeline) -> None:
    """A passage is paid for once, and again only where a call was lost in a kill, a failure or a repeat."""
    excess = sum(count - 1 for count in pipeline.extractor.calls.values())
    durable = pipeline.durables["extractor"]
    allowed = MOST_PASSAGES * (pipeline.kills + durable.repeats + pipeline.chance.failed_calls)
    if excess > allowed:
        raise Violation(f"{excess} calls of the model too many")


async def _digests(pipeline: Pipeline) -> dict[str, Digest]:
    return {name: await digest(name, "w", Generations(), pipeline.stores) for name in PROJECTIONS}


@contextmanager
def inline_threads() -> Iterator[None]:
    """Compute in place of threads, whose order no seed decides."""

    async def inline(function: Callable[..., Any], /, *given: Any, **named: Any) -> Any:
        result = function(*given, **named)
        assert not inspect.isawaitable(result)
        return result

    with mock.patch.object(asyncio, "to_thread", inline):
        yield
