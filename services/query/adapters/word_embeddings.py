"""Cached embeddings of frequent short texts."""

from array import array
from collections import OrderedDict
from collections.abc import Sequence

from runtime.models.port import Embedder, Vector


class CachedWordEmbedder:
    """Embeds short texts with an LRU cache of `max_texts` texts."""

    def __init__(self, embedder: Embedder, max_texts: int = 10_000) -> None:
        self._embedder = embedder
        self._most = max_texts
        self._known: OrderedDict[str, array[float]] = OrderedDict()

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector per text, in order, in single precision. Raises what `Embedder.embed`
        raises.
        """
        missing_texts = [text for text in dict.fromkeys(texts) if text not in self._known]
        new_vectors = (
            dict(zip(missing_texts, await self._embedder.embed(missing_texts), strict=True))
            if missing_texts
            else {}
        )
        vectors = {
            text: array("f", new_vectors[text]) if text in new_vectors else self._known[text]
            for text in texts
        }
        self._known |= vectors
        for text in vectors:
            self._known.move_to_end(text)
        while len(self._known) > self._most:
            self._known.popitem(last=False)
        return [tuple(vectors[text]) for text in texts]
