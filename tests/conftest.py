"""What holds for every test: no address but this machine's is reached, no setting of the
developer's own leaks in.
"""

import gc
import os
import sys
from collections.abc import Generator
from typing import Any

import hypothesis
import pytest
import structlog

# On top of what holds in CI, where examples are the same in each run. A machine with much else to
# do is no fault.
hypothesis.settings.register_profile("calm", hypothesis.settings.default, deadline=None)
hypothesis.settings.load_profile("calm")

pytest_plugins = [
    "tests.support.scheduling",
    "tests.support.shared_servers",
    "tests.support.forked_workers",
]

LOCAL = frozenset({"127.0.0.1", "::1", "localhost", "0.0.0.0", "::", ""})
"""Hosts that a test may name. Servers of tests listen here."""

OURS = (
    "OPENAI_",
    "LLM_",
    "EMBEDDING_",
    "NATS_",
    "MONGO_",
    "DOCUMENTS_",
    "NEO4J_",
    "MILVUS_",
    "STORES_",
    "GRAPH_",
    "VECTORS_",
    "OTEL_",
    "LIGHTRAG_",
    "LIGHTSTREAM_",
    "AUTH_",
    "TOKEN_",
)
"""Beginnings of variables that name models and stores, which may cost money or hold somebody's
data, or credentials.
"""

OF_TESTS = "LIGHTSTREAM_TEST_"
"""How variables begin that name a server for tests, on this machine."""


def is_hidden(variable: str) -> bool:
    """Whether tests do not see a variable of the environment."""
    return variable.startswith(OURS) and not variable.startswith(OF_TESTS)


def _guard(event: str, args: tuple[Any, ...]) -> None:
    """Refuse to look up or to connect to another machine. Servers that tests start by themselves
    are not watched.
    """
    if event in {"socket.connect", "socket.sendto"}:
        address = args[1]
        host = address[0] if isinstance(address, tuple) else ""
    elif event == "socket.getaddrinfo":
        host = args[0] or ""
    else:
        return
    name = host.decode() if isinstance(host, bytes) else str(host)
    if name not in LOCAL:
        raise PermissionError(f"a test may not reach {name!r}: only this machine")


sys.addaudithook(_guard)

for _name in [name for name in os.environ if is_hidden(name)]:
    del os.environ[_name]
# Nor does a test read a settings file that stands in the folder of the checkout.
os.environ["LIGHTSTREAM_ENV_FILE"] = ""

# A run starts hundreds of Pythons. Without bytecode each compiles what it imports: 2.6 of the 4.5 s
# that importing the services of a stack takes.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A process with threads is not forked (tests/support/forked_workers.py), and numpy's library starts
# some when it is imported.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

# What tests import and collect stays to the end, a million objects. As Python is set, a third of
# the time of importing goes to looking through them for garbage again and again.
gc.set_threshold(50_000, 20, 50)

# Plain lines: the coloured tracebacks of the default take seconds to draw.
structlog.configure(
    processors=[
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.format_exc_info,
        structlog.processors.KeyValueRenderer(key_order=["event"]),
    ],
    cache_logger_on_first_use=False,
)


@pytest.fixture(autouse=True)
def own_logs() -> Generator[None]:
    """A test that sets logging up, as a process does when it starts, sets it up for itself only."""
    before = structlog.get_config()
    yield
    structlog.configure(**before)
