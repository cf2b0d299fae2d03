"""Cached embeddings of frequent short texts."""

import asyncio
from array import array
from collections import OrderedDict
from collections.abc import Sequence
from itertools import islice

import numpy as np
import structlog
from numpy.typing import NDArray

from runtime.errors import ServiceError
from runtime.models.port import Embedder, Vector

logger = structlog.get_logger(__name__)


class CachedWordEmbedder:
    """Embeds short texts with an LRU cache of `most` texts."""

    def __init__(self, embedder: Embedder, most: int = 10_000) -> None:
        self._embedder, self._most = embedder, most
        self._known: OrderedDict[str, array[float]] = OrderedDict()

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector per text, in order, in single precision. Raises what `Embedder.embed` raises."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        new_vectors = dict(zip(missing, await self._embedder.embed(missing), strict=True)) if missing else {}
        vectors = {text: array("f", new_vectors[text]) if text in new_vectors else self._known[text] for text in texts}
        self._known |= vectors
        for text in vectors:
            self._known.move_to_end(text)
        while len(self._known) > self._most:
            self._known.popitem(last=False)
        return [tuple(vectors[text]) for text in texts]


MAX_WORDS = 20_000
"""Words whose vectors are cached: 30 MB of 384 numbers each."""
MAX_REQUESTED = 2_000
"""Words that wait to be embedded in the background at most."""
WORDS_PER_CALL = 64


class CachedWordVectors:
    """`WordVectors` by an embedder; of more than `most` words those that were embedded first are dropped."""

    def __init__(self, embedder: Embedder, most: int = MAX_WORDS) -> None:
        self._embedder = embedder
        self._known: dict[str, NDArray[np.float32]] = {}
        self._most = most
        self._requested: dict[str, None] = {}
        self._task: asyncio.Task[None] | None = None

    def known(self, words: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """See `WordVectors.known`."""
        known = self._known
        return {word: known[word] for word in words if word in known}

    def store(self, words: Sequence[str], vectors: Sequence[Vector]) -> None:
        """See `WordVectors.store`."""
        for word, vector in zip(words, vectors, strict=True):
            self._known[word] = np.array(vector, np.float32)
        for word in list(islice(self._known, max(0, len(self._known) - self._most))):
            del self._known[word]

    async def embed(self, words: Sequence[str]) -> None:
        """See `WordVectors.embed`. Without words there is no call."""
        if words:
            self.store(words, await self._embedder.embed(words))

    def request(self, words: Sequence[str]) -> None:
        """See `WordVectors.request`. Of too many words the last ones are left to later questions."""
        room = max(0, MAX_REQUESTED - len(self._requested))
        self._requested |= dict.fromkeys(words[:room])
        if self._requested and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._embed_requested())

    async def close(self) -> None:
        """Stop embedding in the background."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _embed_requested(self) -> None:
        try:
            while self._requested:
                words = list(self._requested)[:WORDS_PER_CALL]
                await self.embed([word for word in words if word not in self._known])
                for word in words:
                    del self._requested[word]
        except ServiceError as error:
            # Questions are answered without; the next one requests its words again.
            logger.warning("words are not embedded", error=str(error))
            self._requested.clear()
