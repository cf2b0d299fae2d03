"""Rebuilds that stop at a place of the log, or read one workspace: the digests of that place and
that workspace.
"""

from typing import Any

import pytest

from contracts.graph import PROJECTIONS
from contracts.partitions import LogPosition
from offline.embeddings.lexical import LexicalEmbedder
from operations.digest import Stores
from operations.past_digest import fold_digests
from operations.rebuild import Rebuild
from runtime.bus.memory import MemoryLiveGenerations, MemoryLog
from runtime.projections.rebuild_candidate import Candidate
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.graph.memory import MemoryGraph
from runtime.stores.vectors.memory import MemoryVectors
from services.merger.settings import MergerSettings
from tests.unit.operations.test_recorded_digests import DIGESTS
from tests.unit.query.past.test_state import recorded


def rebuild(log: MemoryLog, **fields: Any) -> Rebuild:
    embedder = LexicalEmbedder(16)
    stores = Stores(MemoryRows(), MemoryGraph(), MemoryVectors(embedder.model, embedder.dimension))
    pointers = MemoryLiveGenerations()
    return Rebuild(
        log, pointers, stores, embedder, PROJECTIONS, lambda _: None, MergerSettings(), **fields
    )


def beside(work: Rebuild) -> Rebuild:
    """Another rebuild of the same stack."""
    return Rebuild(
        work.log,
        work.pointers,
        work.stores,
        work.embedder,
        PROJECTIONS,
        lambda _: None,
        MergerSettings(),
    )


def cut(log: MemoryLog, end: int) -> MemoryLog:
    """The log when it ended there."""
    return MemoryLog(log.messages[:end])


@pytest.mark.parametrize("workspace", ["w", "other"])
async def test_the_end_of_the_log_has_the_recorded_digests(workspace: str) -> None:
    log = recorded()
    result = await fold_digests(log, workspace, len(log.messages), MergerSettings())
    assert {name: result[name] for name in PROJECTIONS} == {
        name: DIGESTS[workspace, name] for name in PROJECTIONS
    }


@pytest.mark.parametrize("end", [0, 1, 30, 57, 90])
async def test_an_earlier_place_has_the_digests_of_a_log_that_ended_there(end: int) -> None:
    log = recorded()
    of_cut = (await rebuild(cut(log, end)).fill("w"))["digests"]
    result = await fold_digests(log, "w", end, MergerSettings())
    assert {name: result[name] for name in PROJECTIONS} == {
        n: digest["rebuilt"]["sha256"] for n, digest in of_cut.items()
    }


async def test_a_rebuild_that_stopped_early_is_promoted_with_the_rest_of_the_log() -> None:
    log = recorded()
    work = rebuild(log, until=LogPosition((50,)))
    result = await work.fill("w")
    assert work.position.stored == 50
    await work.promote(Candidate(result["generations"], work.position.stored, result["newer"]))
    assert work.position.stored == len(log.messages)
    again = await beside(work).fill("w")
    for name, digest in again["digests"].items():
        assert digest["same"] and digest["live"]["sha256"] == DIGESTS["w", name], name


async def test_a_check_makes_one_workspace_compares_it_and_leaves_nothing() -> None:
    log = recorded()
    live = rebuild(log)
    await live.run("w")
    partitions = await live.stores.graph.partitions()
    result = await beside(live).check("other")
    assert all(digest["same"] for digest in result["digests"].values())
    assert result["digests"]["graph"]["rebuilt"]["sha256"] == DIGESTS["other", "graph"]
    assert await live.stores.graph.partitions() == partitions
    assert (await live.pointers.live()).graph == 2
