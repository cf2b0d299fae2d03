"""An outage of a minute while documents are indexed and a question is asked: nothing fails or is
paid twice.
"""

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

import httpx

from tests.chaos.faults import Fault, Machine
from tests.chaos.trial import trial
from tests.support.stack import Stack, until

SECONDS = 60.0
"""Longer than any attempt at a call goes on, and than the longest delay before the next."""

_NUMBERS = count(1)
"""Each question is new: the answer to an old one is cached."""


def outlive(machine: Machine, digest: Mapping[str, Any], kind: str, victim: str) -> None:
    """Let something be away, and see that all goes on by itself afterwards, to the digest of a
    quiet time.
    """
    fault = Fault(kind, victim, 1.0, SECONDS)
    with ThreadPoolExecutor() as pool:
        running = pool.submit(trial, machine, digest, next(_NUMBERS), [fault])
        time.sleep(2)  # not for luck: the outage begins after one second
        answer = _asked(machine.stack)
    assert running.result().problems == []
    # What was read before is cached, and SQLite lets read while another program writes.
    assert answer.status_code == 200 or int(answer.headers["retry-after"]) > 0
    until(lambda: _asked(machine.stack).status_code == 200, machine.stack.logs)


def _asked(stack: Stack) -> httpx.Response:
    """The answer to a new question: one, or when to ask again."""
    with stack.client("calm") as client:
        answer = client.post(
            "/query", json={"query": f"Who met Ada Marlow on day {next(_NUMBERS)}?"}
        )
    assert answer.status_code in (200, 503), answer.text
    return answer
