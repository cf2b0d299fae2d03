"""Asks questions over HTTP from threads that cost little CPU, since they share the machine with the
stack.
"""

import json
import time
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from select import select
from threading import Lock
from urllib.parse import urlsplit

from benchmarks.yardstick.documents import Question

ROUTE = "/query/data"
"""Context only; LightRAG's server has the same route."""
PATIENCE = 120.0
"""Seconds for an answer to come."""


@dataclass(frozen=True)
class Asked:
    """Milliseconds that each question took, in the order of the questions, the answers, and seconds
    for all.
    """

    took: list[float]
    answers: list[bytes]
    seconds: float

    def percentile(self, part: float) -> float:
        """Milliseconds within which this part of the questions was answered."""
        return sorted(self.took)[min(len(self.took) - 1, int(len(self.took) * part))]

    @property
    def rate(self) -> float:
        """Questions a second."""
        return len(self.took) / self.seconds


@contextmanager
def connections(api: str, count: int) -> Generator[list[HTTPConnection]]:
    """So many to the address; each is opened by its first question and then kept."""
    place = urlsplit(api)
    with ExitStack() as opened:
        yield [
            opened.enter_context(
                closing(HTTPConnection(str(place.hostname), place.port, timeout=PATIENCE))
            )
            for _ in range(count)
        ]


def ask(connected: Sequence[HTTPConnection], questions: Sequence[Question], mode: str) -> Asked:
    """A thread for each connection asks one question after the other until none is left.

    Raises AssertionError for an answer that is not 200.
    """
    bodies = [json.dumps({"query": question.text, "mode": mode}).encode() for question in questions]
    left, lock = iter(range(len(bodies))), Lock()
    took, answers = [0.0] * len(bodies), [b""] * len(bodies)

    def one_after_the_other(connection: HTTPConnection) -> None:
        # Who was silent for some seconds, while the others came to an end, may have been hung up
        # on.
        if connection.sock and select([connection.sock], [], [], 0)[0]:
            connection.close()
        while True:
            with lock:
                number = next(left, None)
            if number is None:
                return
            began = time.perf_counter()
            answers[number] = _answered(connection, bodies[number])
            took[number] = (time.perf_counter() - began) * 1000

    began = time.perf_counter()
    with ThreadPoolExecutor(len(connected)) as threads:
        list(threads.map(one_after_the_other, connected))
    return Asked(took, answers, time.perf_counter() - began)


def found(questions: Iterable[Question], answers: Iterable[bytes]) -> float:
    """The share of questions for which a chunk with the passage of that title is among those
    returned.
    """
    hits = [
        any(
            f"{question.title}\n" in chunk["content"]
            for chunk in json.loads(answer)["data"].get("chunks", ())
        )
        for question, answer in zip(questions, answers, strict=True)
    ]
    return sum(hits) / len(hits)


def _answered(connection: HTTPConnection, body: bytes) -> bytes:
    """Ask, and read the whole answer."""
    connection.request("POST", ROUTE, body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    text = answer.read()
    assert answer.status == 200, f"{answer.status}: {text[:300]!r}"
    return text
