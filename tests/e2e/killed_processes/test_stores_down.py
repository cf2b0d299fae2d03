"""Services that start while a store does not answer wait for it, say so, and go on by
themselves.
"""

import os
import signal
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager

import httpx
import pytest

from tests.support.corpus import documents
from tests.support.freezing import freeze
from tests.support.stack import Stack, unacknowledged, until

pytestmark = pytest.mark.nightly  # one service: tests/integration/test_service.py

COUNT = 20
QUESTION = {"query": "Who is Ada Marlow?"}


@pytest.fixture(scope="module", autouse=True)
def loaded(stack: Stack) -> None:
    stack.add(documents(COUNT))
    stack.settled(COUNT)


def frozen(process: str) -> Callable[[Stack], AbstractContextManager[None]]:
    """The server is there and takes connections, but does not answer."""

    @contextmanager
    def hold(stack: Stack) -> Generator[None]:
        pid = stack.pid(process)
        freeze(pid)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    return hold


def test_services_that_start_without_their_stores_wait_and_say_so(stack: Stack) -> None:
    with frozen("arcadedb")(stack), frozen("milvus-lite")(stack):
        for victim in ("merger", "indexer", "query"):
            stack.kill(victim)
        for service, store in (("merger", "graph"), ("indexer", "graph"), ("query", "graph")):
            until(
                lambda service=service, store=store: (
                    f"waiting for the {store}" in problems(stack, service)
                )
            )
        for ready in ("chunker", "extractor"):
            assert problems(stack, ready) == "{}"
    until(lambda: problems(stack, "query") == "{}", stack.logs)
    stack.add(documents(COUNT), "after")
    assert stack.settled(COUNT, "after")["processed"] == COUNT


def problems(stack: Stack, service: str) -> str:
    """What a service's health page complains of."""
    port = stack.state.ports["api" if service == "query" else service]
    url = f"http://127.0.0.1:{port}/health/ready"
    try:
        return str(httpx.get(url, trust_env=False, verify=False).json().get("problems", {}))
    except httpx.HTTPError:
        return ""


def test_nothing_is_left_unacknowledged(stack: Stack) -> None:
    until(
        lambda: all(left == (0, 0) for left in unacknowledged(stack).values()),
        lambda: str(unacknowledged(stack)),
    )
