"""One run of a seed: its commands in trouble, compared with the same commands in peace."""

import asyncio
import random
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Literal
from unittest import mock

from operations.figures import find_waiting, request_descriptions
from publishing.retries import Retries, request_retries
from runtime.bus.codec import decode
from runtime.bus.memory import MemoryLog
from runtime.bus.parking import policy
from services.chunker.settings import ChunkerSettings
from tests.simulation.clock import SimulatedLoop
from tests.simulation.commands import commands, put_pictures
from tests.simulation.oracle import Digests, Violation, check, digests, statuses
from tests.simulation.pipeline import FIGURE_LIMITS, Change, Pipeline
from tests.simulation.rebuilding import rebuild
from tests.simulation.scheduler import Chance

SEEDS_PER_WORLD = 8
"""Seeds that have the same commands and another fate: what they come to in peace is computed
once.
"""
LONGEST = 20_000.0
"""Seconds after which a run that has not ended never will."""
CLOCK_STEPS = (-30.0, -3600.0, -86_400.0, -365 * 86_400.0, 30.0, 3600.0, 86_400.0)
"""Seconds by which somebody sets the clock of all processes at once."""
FORGETFUL = 0.5
"""Probability that the log of a run knows ids for a short while only: what comes again stands in it
twice.
"""
RETRIES = 2
"""Failures after which a message is parked: so few, that small worlds park."""


@dataclass(frozen=True)
class Outcome:
    """What a run of a seed went through."""

    seed: int
    events: int
    kills: int
    failed_calls: int
    repeats: int
    parked: int
    clock_steps: int
    twice: int
    """Events that the log has once more than it should."""


def simulate(seed: int, loop: SimulatedLoop, change: Change | None = None) -> Outcome:
    """Run the seed's commands in trouble, and once in peace, and compare. Raises Violation."""
    world = seed // SEEDS_PER_WORLD
    with mock.patch.object(policy, "RETRIES", RETRIES):
        chance = trouble(seed)
        expected_digests = _in_peace(world, loop, summaries=chance.rebuild_at is None)
        loop.seconds = loop.offset = 0.0
        random.seed(seed)  # of delays between attempts
        return loop.run_until_complete(_in_trouble(seed, world, chance, expected_digests, change))


@lru_cache(maxsize=2)
def _in_peace(world: int, loop: SimulatedLoop, *, summaries: bool) -> Digests:
    async def run() -> Digests:
        pipeline = Pipeline(
            Chance(Random(-world - 1), delays=False),
            summaries=summaries,
            describes_at_once=_pictures(world) != "later",
            replicas=1,
        )
        await _run(pipeline, world)
        return await digests(pipeline)

    loop.seconds = loop.offset = 0.0
    return loop.run_until_complete(run())


async def _in_trouble(
    seed: int, world: int, chance: Chance, expected_digests: Digests, change: Change | None
) -> Outcome:
    pipeline = Pipeline(
        chance,
        summaries=chance.rebuild_at is None,
        describes_at_once=_pictures(world) != "later",
        **({"change": change} if change else {}),
    )
    await _run(pipeline, world)
    await check(pipeline, expected_digests)
    return Outcome(
        seed,
        len(pipeline.log.messages),
        pipeline.kills,
        chance.failed_calls,
        sum(durable.repeats for durable in pipeline.durables.values()),
        len({(record.durable, record.sequence) for record in pipeline.parked.history}),
        pipeline.clock_steps,
        _twice(pipeline.log),
    )


def _twice(log: MemoryLog) -> int:
    ids = [(message.subject, decode(message.data, message.subject).id) for message in log.messages]
    return len(ids) - len(set(ids))


def _pictures(world: int) -> Literal["", "at once", "later"]:
    """Return whether the documents of a world have figures, and when these are described."""
    draw = Random(f"images shown in {world}").random()
    return "" if draw > 0.4 else "later" if draw > 0.2 else "at once"


def trouble(seed: int) -> Chance:
    """Return what goes wrong in a run: kills, failed calls and lost acknowledgements, or repeats in
    two hands at once.

    Never both. A replica that dies after it has written something old, while another one
    acknowledges the same message, leaves it behind: stores that compare nothing when they write
    cannot be guarded against that (decision 47). Nor rebuilds and summaries: what a rebuild folds
    while it switches is summarised when it changes next.
    """
    rng = Random(seed)
    chance = Chance(rng, faults=0.05, kills=0.05) if seed % 3 else Chance(rng, repeats=0.2)
    if rng.random() < 0.3:
        begin = rng.random() * 10
        chance.outage = begin, begin + rng.choice((5.0, 60.0, 600.0))
    if rng.random() < 0.2:
        chance.rebuild_at = rng.random() * 20
    clock = Random(f"clock of {seed}")
    if clock.random() < 0.3:
        chance.clock_steps = [
            (clock.random() * 60, clock.choice(CLOCK_STEPS)) for _ in range(clock.randint(1, 3))
        ]
    window = Random(f"window of {seed}")
    if window.random() < FORGETFUL:
        chance.window = window.choice((2.0, 120.0))
    return chance


async def _run(pipeline: Pipeline, world: int) -> None:
    chance = pipeline.chance
    rebuilding = (
        asyncio.create_task(rebuild(pipeline, chance.rebuild_at))
        if chance.rebuild_at is not None
        else None
    )
    places: dict[str, int] = {}
    pictures = _pictures(world)
    figures = await put_pictures(pipeline.blobs) if pictures else []
    picture_draws = Random(f"figures of {world}") if pictures else None
    try:
        for number, command in enumerate(
            commands(Random(f"commands of {world}"), picture_draws, figures), 1
        ):
            await _until(pipeline, chance.now + chance.rng.choice((0.0, 0.5, 4.0)))
            envelope = command(places)
            places[envelope.id] = await pipeline.log.publish(envelope)
            if chance.rng.random() < 0.1:
                await _retry_failed(pipeline)
            if pictures == "later" and number % 3 == 0:
                await _until_rest(pipeline)
                await _describe(pipeline)
        await _until_rest(pipeline)
        if pictures == "later":
            await _describe(pipeline)
            await _until_rest(pipeline)
        if rebuilding:
            while not rebuilding.done():
                await _step(pipeline)
            await rebuilding
        pipeline.extractor.mended = pipeline.describer.mended = True
        await _retry_failed(pipeline)
        await _until_rest(pipeline)
    finally:
        if rebuilding:
            rebuilding.cancel()
        await pipeline.end()


async def _describe(pipeline: Pipeline) -> None:
    """Have the figures described that nobody describes, as an operator does."""
    settings = ChunkerSettings.model_construct(
        vlm_max_figures=FIGURE_LIMITS.max_figures,
        vlm_max_image_bytes=FIGURE_LIMITS.max_bytes,
        vlm_min_image_pixel=FIGURE_LIMITS.min_side,
    )
    for waiting in await find_waiting(pipeline.log, "w", (), settings):
        await request_descriptions(pipeline.log, "w", waiting)


async def _retry_failed(pipeline: Pipeline) -> None:
    """Ask for what has failed to be tried again, as an operator does."""
    states = await statuses(pipeline, await pipeline.pointers.live())
    failed_ids = [id for id, status in states.items() if status in ("partial", "failed")]
    await request_retries(pipeline.log, Retries("w", failed_ids), "simulation")


async def _until(pipeline: Pipeline, second: float) -> None:
    while pipeline.chance.now < second:
        await _step(pipeline)


async def _until_rest(pipeline: Pipeline) -> None:
    while not pipeline.at_rest:
        await _step(pipeline)


def set_clock(chance: Chance) -> int:
    """Set the machine's clock forward or back where it is time to. Returns how often."""
    loop = asyncio.get_running_loop()
    due = [step for at, step in chance.clock_steps if at <= chance.now]
    if due and isinstance(loop, SimulatedLoop):
        chance.clock_steps = [(at, step) for at, step in chance.clock_steps if at > chance.now]
        loop.offset += sum(due)
    return len(due)


async def _step(pipeline: Pipeline) -> None:
    chance = pipeline.chance
    if pipeline.broken:
        raise Violation(f"a processor ended: {pipeline.broken!r}")
    if chance.now > LONGEST:
        waiting_counts = {
            name: len(durable.waiting)
            for name, durable in pipeline.durables.items()
            if durable.waiting
        }
        raise Violation(
            f"not at an end after {LONGEST:.0f} seconds: {waiting_counts}, "
            f"{len(pipeline.parked.records)} parked"
        )
    pipeline.clock_steps += set_clock(chance)
    if chance.kills and chance.rng.random() < chance.kills and chance.troubled:
        await pipeline.kill()
    pipeline.forget_ids()
    pipeline.read_parked()
    has_delivered = pipeline.deliver()
    await asyncio.sleep(chance.rng.random() * (0.2 if has_delivered else 1.0))
