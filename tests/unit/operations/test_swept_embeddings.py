"""An erasure keeps the cached embeddings of texts that are still indexed, also those that older
versions cached.
"""

from contracts.graph import Partition, VectorRow
from contracts.ids import sha256
from offline.embeddings.lexical import LexicalEmbedder
from operations.erasure.caches import sweep_embeddings
from runtime.projections.embedding_keys import embedding_key, older_embedding_key
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.documents.port import Table
from runtime.stores.vectors.memory import MemoryVectors

TABLE = Table("embeddings", Partition("w", 0))


async def test_only_embeddings_of_texts_that_are_gone_are_removed() -> None:
    rows = MemoryRows()
    embedder = LexicalEmbedder(8)
    vectors = MemoryVectors(embedder.model, 8)
    [vector] = await embedder.embed(["kept"])
    row = VectorRow(id="ent-a", text="kept", text_hash=sha256("kept"), vector=vector)
    await vectors.put(Partition("w", 1), "entities", [row])
    of_text = {
        text: [make(embedder.model, 8, text) for make in (embedding_key, older_embedding_key)]
        for text in ("kept", "gone")
    }
    await rows.put(TABLE, {key: {"f16": b"00"} for keys in of_text.values() for key in keys})
    assert await sweep_embeddings(rows, vectors, "w", 1) == 2
    assert sorted(key for key, _ in await rows.scan(TABLE)) == sorted(of_text["kept"])
