"""Replicas that merge different versions of one chunk at the same moment: what the newest says
stands, and no more.
"""

import asyncio
from random import Random

import pytest

from contracts.graph import Partition
from knowledge.contribution_rows import chunk_hash
from knowledge.contributions import Contribution
from services.merger.adapters.contributions import RowContributions
from tests.support.interleaving import Interleaved

SPACE = Partition("w", 1)
KEYS = [("A",), ("B",), ("C",)]


def says(name: str, version: int) -> Contribution:
    return Contribution(
        "entity", (name,), f"{name} in {version}", "chunk", "d", 0, version, 1, "d.txt"
    )


@pytest.mark.parametrize("last_names", [[], ["A", "C"], ["C"]])
async def test_versions_merged_at_once_leave_what_the_newest_says(last_names: list[str]) -> None:
    for seed in range(150):
        dice = Random(seed)
        names_by_version = {1: ["A", "B"], 2: ["B", "C"], 3: last_names}
        contributions = RowContributions(Interleaved(dice))
        order = dice.sample([1, 1, 2, 2, 3, 3], 6)
        await asyncio.gather(
            *(
                contributions.replace(
                    SPACE, {"chunk": (v, [says(name, v) for name in names_by_version[v]])}
                )
                for v in order
            )
        )
        result = await contributions.of_chunks(SPACE, {key: [chunk_hash("chunk")] for key in KEYS})
        standing = [c for of_key in result.values() for c in of_key if not c.is_retracted]
        assert {c.names[0] for c in standing} == set(last_names), seed
        assert {c.version for c in standing} <= {3}, seed
