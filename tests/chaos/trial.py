"""One trial: documents are indexed while things go wrong, and everything ends as if nothing had."""

import time
from collections import Counter
from collections.abc import Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import stamina

from lightstream_rag.client import Lightstream
from lightstream_rag.errors import TimedOut
from tests.chaos.faults import Fault, Machine, drawn
from tests.support.corpus import documents
from tests.support.language_model import LanguageModel, serving
from tests.support.raw_events import dead_letters
from tests.support.stack import Stack, add, at_rest, ended, running, unacknowledged, until

COUNT = 40
TEXTS = documents(COUNT)
LATENCY = 0.2
"""Seconds that the model takes, so that faults meet documents under way."""

CALM = "calm"
PATIENCE = 700.0
"""Seconds within which everything must have recovered: an event that failed often waits ten minutes
at most.
"""


@dataclass(frozen=True)
class Outcome:
    """What went wrong by intention, how long it took until all was well, and what was not well in
    the end.
    """

    seed: int
    faults: list[Fault]
    seconds: float
    paid_again: int
    """Passages that were extracted once more, beside those in flight when the extractor was
    killed.
    """
    problems: list[str]


@contextmanager
def machine(folder: Path, *, disk: bool = False) -> Generator[tuple[Machine, Mapping[str, Any]]]:
    """Yield a stack with a model that counts, and the digest of the documents indexed
    undisturbed.
    """
    with serving() as model:
        model.latency = LATENCY
        with running(folder, **model.environment()) as stack:
            stack.add(TEXTS, CALM)
            assert stack.settled(COUNT, CALM)["processed"] == COUNT
            yield Machine(stack, model, disk), stack.digest(CALM)


def trial(
    machine: Machine, calm: Mapping[str, Any], seed: int, faults: list[Fault] | None = None
) -> Outcome:
    """Index the documents in a workspace of its own under the faults of the seed, or those
    given.
    """
    faults = faults if faults is not None else drawn(Random(seed), disk=machine.disk)
    workspace = f"chaos-{seed}"
    passages_before = machine.model.passages.copy()
    began = time.monotonic()
    with ThreadPoolExecutor() as pool:
        tasks = [pool.submit(_added, machine.stack, workspace)]
        tasks += [pool.submit(_happened, machine, fault) for fault in faults]
    for task in tasks:
        task.result()
    problems = list(_problems(machine.stack, workspace, calm))
    again = _paid_again(machine.model, passages_before, faults)
    if again:
        problems.append(f"{again} passages were paid for again")
    return Outcome(seed, faults, time.monotonic() - began, again, problems)


def _added(stack: Stack, workspace: str) -> None:
    """Add the documents as a client does that does not give up."""
    with Lightstream(stack.state.api, workspace=workspace, timeout=30, attempts=60) as service:
        for attempt in stamina.retry_context(on=TimedOut, attempts=10):
            with attempt:
                add(service, TEXTS)


def _happened(machine: Machine, fault: Fault) -> None:
    time.sleep(fault.after)
    fault.happen(machine)


def _problems(stack: Stack, workspace: str, calm: Mapping[str, Any]) -> Generator[str]:
    """Yield what is not as it would be without faults, once everything has had the time to
    recover.
    """
    try:
        until(
            lambda: ended(stack.counts(workspace), COUNT),
            lambda: str(stack.counts(workspace)),
            PATIENCE,
        )
        until(
            lambda: at_rest(stack),
            lambda: str(unacknowledged(stack)),
            PATIENCE,
        )
    except AssertionError as error:
        yield str(error)
        return
    counts = stack.counts(workspace)
    if counts["processed"] != COUNT:
        yield f"documents by status: {counts}"
    if stack.digest(workspace) != calm:
        yield "another digest than undisturbed"
    if letters := dead_letters(stack):
        yield f"dead letters: {Counter(f'{letter.durable}: {letter.reason}' for letter in letters)}"


def _paid_again(model: LanguageModel, before: Counter[str], faults: list[Fault]) -> int:
    """Return how many passages were extracted twice; those in flight in a process that was killed
    may be.
    """
    kills = sum(fault.kind == "kill" and fault.victim == "extractor" for fault in faults)
    times = (model.passages - before).values()
    return sum(max(0, count - 1 - kills) for count in times)
