"""Checkpoints of vectors, whichever embedding model made them."""

from dataclasses import dataclass

from runtime.embedding import Embeddings
from runtime.stores.checkpoints import Checkpoint


@dataclass(frozen=True)
class VectorCheckpoints:
    """`CheckpointStore` in the vector store, by the model that made the generation."""

    embeddings: Embeddings

    async def checkpoint(self, generation: int) -> Checkpoint | None:
        """See `CheckpointStore`."""
        async with self.embeddings.of(generation) as found:
            return await found.vectors.checkpoint(generation)

    async def put_checkpoint(self, generation: int, checkpoint: Checkpoint) -> None:
        """See `CheckpointStore`."""
        async with self.embeddings.of(generation) as found:
            await found.vectors.put_checkpoint(generation, checkpoint)
