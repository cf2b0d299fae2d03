"""How far projections are, over HTTP: for those who may see the whole deployment."""

from dataclasses import replace

from runtime.projections.progress import ProjectionStates
from runtime.projections.rebuild_lease import RunningRebuild
from tests.support.access import SEVERAL, WRITER, behind, client, keyed
from tests.support.operations import CURRENT, memory_operations
from tests.support.querying import QueryHarness


async def test_projections_and_the_rebuild_under_way_are_shown() -> None:
    work = RunningRebuild(
        ["graph"], "here", 7, "a machine", "2026-11-22T12:00:00Z", "id", {"events": 5}
    )

    async def states() -> ProjectionStates:
        return ProjectionStates([CURRENT], work)

    harness = QueryHarness(operations=replace(memory_operations(), read_projections=states))
    async with client(harness.app()) as api:
        answer = (await api.get("/operations/projections")).json()
    assert answer == {
        "projections": [
            {
                "projection": "graph",
                "generation": 2,
                "previous": 1,
                "candidate": None,
                "cursor": 412,
                "head": 412,
                "lag": 0,
                "rate": 0.0,
                "state": "current",
                "why": "",
            }
        ],
        "rebuild": {
            "projections": ["graph"],
            "host": "here",
            "pid": 7,
            "started": "2026-11-22T12:00:00Z",
            "reason": "",
            "progress": {"events": 5},
        },
    }


async def test_credentials_of_single_workspaces_do_not_see_the_deployment() -> None:
    harness = QueryHarness()
    async with keyed(harness.app(behind(lightstream_api_keys=SEVERAL)), WRITER, "w") as api:
        refusal = await api.get("/operations/projections")
    assert (refusal.status_code, "whole deployment" in refusal.text) == (403, True)
