"""A rebuild of recorded events gives the digests that it gave when they were recorded, whatever the
code is called.
"""

import json
from pathlib import Path

import pytest

from contracts.graph import PROJECTIONS, Generations, Projection
from offline.embeddings.lexical import LexicalEmbedder
from operations.digest import Stores, digest
from operations.rebuild import Rebuild
from runtime.bus.memory import MemoryLiveGenerations, MemoryLog
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.graph.memory import MemoryGraph
from runtime.stores.vectors.memory import MemoryVectors
from services.merger.settings import MergerSettings

EVENTS = Path(__file__).with_name("recorded_events.jsonl")
"""The log of five services after six documents, one of them replaced and one deleted, and six edits
by people.
"""

DIGESTS: dict[tuple[str, Projection], str] = {
    ("w", "status"): "fc4df82ff72b6f8e0b27616a8f983e6253ac5be8b820696396dc5ee4ca41f685",
    ("w", "graph"): "e27f876cd4df8e40437e9e93b8b83f1cbf8fcaf9e20d944f69c18af236d75bfe",
    ("w", "vectors"): "e8d8e99e1195dedaeea1e25c38c981b0139cf7154c46494aec5924eab3de8327",
    ("other", "status"): "0cfcbd12b878b9d80b35a7a6957e57afbb598731a7680bf9f21fd12dd2873b1c",
    ("other", "graph"): "519f13fd3c499d33b5b056567da5276afd69ddc7ed6c15b9f621b6a75f4f4884",
    ("other", "vectors"): "620f64e4f3c457c1dfbb3ac15fc1d61a860b4547caf59cb3c96936163de0c1e2",
}
"""Computed on commit 86a7550. A change of one of them is a change of what users have, never of
names alone.
"""


@pytest.fixture
async def rebuilt() -> Stores:
    log = MemoryLog()
    for line in EVENTS.read_text("utf-8").splitlines():
        message = json.loads(line)
        log.append(
            message["subject"],
            json.dumps(message["event"], ensure_ascii=False).encode(),
            message["id"],
        )
    embedder = LexicalEmbedder(64)
    stores = Stores(MemoryRows(), MemoryGraph(), MemoryVectors(embedder.model, embedder.dimension))
    result = await Rebuild(
        log,
        MemoryLiveGenerations(),
        stores,
        embedder,
        PROJECTIONS,
        lambda _: None,
        MergerSettings(),
    ).run("w")
    assert (result["events"], result["skipped"], result["newer"]) == (len(log.messages), 0, [])
    return stores


@pytest.mark.parametrize(("workspace", "projection"), DIGESTS)
async def test_recorded_events_have_the_digests_of_when_they_were_recorded(
    rebuilt: Stores, workspace: str, projection: Projection
) -> None:
    result = await digest(projection, workspace, Generations(2, 2, 2), rebuilt)
    assert result.sha256 == DIGESTS[workspace, projection]
