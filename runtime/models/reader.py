"""The reader of `offline/reading` off the event loop."""

import asyncio
from collections.abc import Sequence

from offline.errors import DamagedFile
from offline.reading.excerpt import Excerpt
from offline.reading.reader import Reader
from runtime.errors import ConfigurationError


class ThreadedReader:
    """`Reads` by `Reader`, which is loaded with the first question."""

    def __init__(self) -> None:
        self._reader = Reader()

    async def judgements(
        self, question: str, excerpts: Sequence[Excerpt], language: str = ""
    ) -> list[float]:
        """Return for each excerpt the logarithm of the odds that it answers the question, which is
        in this language, or in an unknown one.

        Raises `ConfigurationError` when a file of the reader is not the known one.
        """
        try:
            return await asyncio.to_thread(self._reader.judgements, question, excerpts, language)
        except DamagedFile as damage:
            raise ConfigurationError(str(damage)) from damage
