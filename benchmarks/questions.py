"""Questions about the harbour's world, and threads that ask them of the query service and cost little CPU themselves.

The client is that of the standard deps over connections that stay open, since it shares the machine with the stack
that is measured.
"""

import json
import time
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPConnection
from random import Random
from select import select
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

from tests.support import corpus

ROUTE = "/query/data"
PATIENCE = 60.0
"""Seconds for an answer to come."""


def questions(count: int) -> list[dict[str, Any]]:
    """Questions with their keywords, the same for the same count."""
    dice = Random(11)
    made: list[dict[str, Any]] = []
    for _ in range(count):
        person, other = dice.sample(corpus.PEOPLE, 2)
        town, ship, good = dice.choice(corpus.TOWNS), dice.choice(corpus.SHIPS), dice.choice(corpus.GOODS)
        text, low, high = dice.choice(
            [
                (f"Who met {person} at the Customs House in {town}?", [person, "Customs House", town], ["meetings"]),
                (f"Which captain brought the {ship} to {town}?", [ship, town], ["arrivals of ships"]),
                (f"Did {person} sell {good} to {other}?", [person, other, good], ["trade"]),
                (f"Who paid the dues of the {ship} in {good}?", [ship, good], ["payment of dues"]),
            ]
        )
        made.append({"query": text, "ll_keywords": low, "hl_keywords": high})
    return made


def bodies(asked: Iterable[dict[str, Any]], mode: str) -> list[bytes]:
    """Requests that ask so, made before anything is measured."""
    return [json.dumps({**question, "mode": mode}).encode() for question in asked]


@contextmanager
def connections(api: str, count: int) -> Generator[list[HTTPConnection]]:
    """So many to the query service at that address; each is opened by its first question and then kept."""
    place = urlsplit(api)
    with ExitStack() as opened:
        yield [
            opened.enter_context(closing(HTTPConnection(str(place.hostname), place.port, timeout=PATIENCE)))
            for _ in range(count)
        ]


def ask(connected: Sequence[HTTPConnection], asked: Sequence[bytes]) -> dict[str, float]:
    """A thread for each connection, which asks one question after the other until none is left.

    Gives p50 and p95 in milliseconds, and questions a second. Raises AssertionError for an answer that is not 200.
    """
    left, lock, took = iter(asked), Lock(), list[float]()

    def one_after_the_other(connection: HTTPConnection) -> None:
        # Who was silent for some seconds, while the others came to an end, may have been hung up on.
        if connection.sock and select([connection.sock], [], [], 0)[0]:
            connection.close()
        while True:
            with lock:
                body = next(left, None)
            if body is None:
                return
            began = time.perf_counter()
            _answered(connection, body)
            took.append((time.perf_counter() - began) * 1000)

    began = time.perf_counter()
    with ThreadPoolExecutor(len(connected)) as threads:
        list(threads.map(one_after_the_other, connected))
    seconds = time.perf_counter() - began
    took.sort()
    return {"p50": took[len(took) // 2], "p95": took[int(len(took) * 0.95)], "rate": len(took) / seconds}


def _answered(connection: HTTPConnection, body: bytes) -> None:
    """Ask, and read the whole answer."""
    connection.request("POST", ROUTE, body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    text = answer.read()
    assert answer.status == 200, f"{answer.status}: {text[:300]!r}"
