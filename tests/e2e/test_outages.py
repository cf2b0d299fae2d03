"""Each store, the bus and the models are away for a minute: nothing fails or is paid twice, all goes on by itself."""

import time
from collections.abc import Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

import httpx
import pytest

from tests.chaos.faults import Fault, Machine
from tests.chaos.trial import machine, trial
from tests.support.stack import Stack, until

SECONDS = 60.0
"""Longer than any attempt at a call goes on, and than the longest delay before the next."""

NUMBERS = count(1)
"""Each question is new: the answer to an old one is cached."""

OUTAGES = {
    "graph": Fault("freeze", "arcadedb", 1.0, SECONDS),
    "vectors": Fault("freeze", "milvus-lite", 1.0, SECONDS),
    "documents": Fault("lock", "documents.db", 1.0, SECONDS),
    "bus": Fault("freeze", "nats-server", 1.0, SECONDS),
    "models": Fault("refuse", "the model", 1.0, SECONDS),
}


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[Machine, Mapping[str, Any]]]:
    with machine(tmp_path_factory.mktemp("outages") / "data") as made:
        yield made


@pytest.mark.parametrize("away", OUTAGES)
def test_documents_wait_for_what_is_away(calm: tuple[Machine, Mapping[str, Any]], away: str) -> None:
    machine, digest = calm
    with ThreadPoolExecutor() as pool:
        running = pool.submit(trial, machine, digest, list(OUTAGES).index(away), [OUTAGES[away]])
        time.sleep(2)  # not for luck: the outage begins after one second
        answer = asked(machine.stack)
    assert running.result().problems == []
    # What was read before is cached, and SQLite lets read while another program writes.
    assert answer.status_code == 200 or int(answer.headers["retry-after"]) > 0
    until(lambda: asked(machine.stack).status_code == 200, machine.stack.logs)


def asked(stack: Stack) -> httpx.Response:
    """The answer to a new question: one, or when to ask again."""
    with stack.client("calm") as client:
        answer = client.post("/query", json={"query": f"Who met Ada Marlow on day {next(NUMBERS)}?"})
    assert answer.status_code in (200, 503), answer.text
    return answer
