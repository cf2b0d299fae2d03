"""The embedder of `offline/embeddings/minilm.py` for many callers: threads that workspaces share
fairly.
"""

import asyncio
import os
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from offline.embeddings.minilm import DIMENSION, MiniLm, load_session
from offline.errors import DamagedFile
from runtime.concurrency.fair_semaphore import FairSemaphore
from runtime.errors import ConfigurationError
from runtime.models.call_scope import turn_key
from runtime.models.port import Vector


class MiniLmEmbedder:
    """`Embedder` by `MiniLm`; see there for `floats`.

    Texts run in a pool of `threads` threads (0: one per core), so the event loop stays free. The
    threads serve workspaces in turn: a bulk load of one does not hold up the few texts of another.

    Raises `ConfigurationError` when a file of the model is not the known one.
    """

    dimension = DIMENSION

    def __init__(self, threads: int = 0, *, floats: bool = False) -> None:
        with _damage_as_configuration_error():
            self._minilm = MiniLm(floats=floats)
        self.model = self._minilm.name
        threads = threads or os.cpu_count() or 1
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="minilm")
        self._turns = FairSemaphore(threads)

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector of length 1 per text, in order."""
        return list(await asyncio.gather(*map(self._in_turn, texts)))

    async def _in_turn(self, text: str) -> Vector:
        async with self._turns.hold(turn_key()):
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._pool, self._minilm.vector, text)

    async def close(self) -> None:
        """Wait for running texts, drop waiting ones and end the threads. Repeats do nothing."""
        await asyncio.to_thread(self._pool.shutdown, cancel_futures=True)


def preload(*, floats: bool) -> None:
    """Load the weights, so that processes that this one forks share them.

    Raises `ConfigurationError` when the file of the model is not the known one.
    """
    with _damage_as_configuration_error():
        load_session(floats)


@contextmanager
def _damage_as_configuration_error() -> Generator[None]:
    try:
        yield
    except DamagedFile as damage:
        raise ConfigurationError(str(damage)) from damage
