"""The encoder of `offline/embeddings/multilingual.py` off the event loop."""

import asyncio
from collections.abc import Sequence

from offline.embeddings.multilingual import DIMENSION, MultilingualEncoder
from offline.errors import DamagedFile
from runtime.errors import ConfigurationError
from runtime.models.port import Vector


class MultilingualEmbedder:
    """`Embedder` by `MultilingualEncoder`, which is loaded with the first texts."""

    dimension = DIMENSION
    model = MultilingualEncoder.name

    def __init__(self) -> None:
        self._encoder = MultilingualEncoder()

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector of length 1 per text, in order.

        Raises `ConfigurationError` when the file of the weights is not the known one.
        """
        try:
            return await asyncio.to_thread(self._encoder.vectors, texts)
        except DamagedFile as damage:
            raise ConfigurationError(str(damage)) from damage

    async def close(self) -> None:
        """Do nothing: there is nothing to end."""
