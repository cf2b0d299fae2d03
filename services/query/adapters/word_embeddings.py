"""Embeddings of short texts that come again and again."""

from array import array
from collections import OrderedDict
from collections.abc import Sequence

from runtime.models.port import Embedder, Vector


class CachedWordEmbedder:
    """Embeds short texts that come again and again, each once while it is remembered."""

    def __init__(self, embedder: Embedder, most: int = 10_000) -> None:
        self._embedder, self._most = embedder, most
        self._known: OrderedDict[str, array[float]] = OrderedDict()

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per text, in order, in single precision. Raises what `Embedder.embed` raises."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        made = dict(zip(new, await self._embedder.embed(new), strict=True)) if new else {}
        found = {text: array("f", made[text]) if text in made else self._known[text] for text in texts}
        self._known |= found
        for text in found:
            self._known.move_to_end(text)
        while len(self._known) > self._most:
            self._known.popitem(last=False)
        return [tuple(found[text]) for text in texts]
