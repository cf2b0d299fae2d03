"""Edits of the graph say who made them and when: in the log, in its lines, and in the graph."""

import asyncio
import time
from collections.abc import Collection, Sequence

import jwt

from contracts.graph import Entity, Partition, Relation
from operations.event_lines import event_line
from runtime.stores.graph.memory import MemoryGraph, Pair
from tests.support.access import KEY, bearing, client, keyed, with_accounts
from tests.support.graph_editing import merger
from tests.support.querying import QueryHarness, library_of_two


class RelationsComeLater(MemoryGraph):
    """Shows the relations of a write only after somebody has looked for what came with them."""

    def __init__(self) -> None:
        super().__init__()
        self.written, self.read = set[str](), asyncio.Event()

    async def put(
        self, partition: Partition, entities: Sequence[Entity], relations: Sequence[Relation]
    ) -> None:
        await super().put(partition, entities, [])
        self.written = {entity.name for entity in entities if not entity.is_gone}
        if self.written:
            self.read.clear()
            await self.read.wait()
        await super().put(partition, [], relations)

    async def entities(self, partition: Partition, names: Collection[str]) -> dict[str, Entity]:
        result = await super().entities(partition, names)
        if self.written & result.keys():
            self.read.set()
        return result

    async def relations(
        self, partition: Partition, pairs: Collection[Pair]
    ) -> dict[Pair, Relation]:
        result = await super().relations(partition, pairs)
        if self.written & {name for pair in pairs for name in pair}:
            self.read.set()
        return result


ELM = {"entity_name": "Port Elm", "entity_data": {"description": "A port.", "entity_type": "place"}}


async def test_an_edit_names_the_user_or_the_key_it_came_from() -> None:
    harness = await library_of_two()
    app = harness.app(with_accounts(lightrag_api_key=KEY))
    account = app.state.auth.accounts.get("ada")
    token = app.state.auth.tokens.issue("ada", "user", account.password_fingerprint)
    assert jwt.decode(token, options={"verify_signature": False})["sub"] == "ada"
    async with merger(harness):
        async with bearing(app, token) as api:
            assert (await api.post("/graph/entity/create", json=ELM)).status_code == 200
        async with keyed(app, KEY) as api:
            merging = {"entities_to_change": ["Baker"], "entity_to_change_into": "Port Elm"}
            assert (await api.post("/graph/entities/merge", json=merging)).status_code == 200
    edits = [
        message
        async for page in harness.log.read()
        for message in page
        if message.subject.endswith("GraphEdited")
    ]
    assert [event_line(message).gist for message in edits] == [
        "create entity 'Port Elm' by user:ada",
        "merge entities 'Baker' into 'Port Elm' by key:lightrag",
    ]


async def test_what_people_make_has_the_time_at_which_they_made_it() -> None:
    harness = await library_of_two()
    async with merger(harness), client(harness.app()) as api:
        entity = (await api.post("/graph/entity/create", json=ELM)).json()["data"]["graph_data"]
        ends = {
            "source_entity": "Port Elm",
            "target_entity": "Radium",
            "relation_data": {"description": "There."},
        }
        relation = (await api.post("/graph/relation/create", json=ends)).json()["data"][
            "graph_data"
        ]
        renaming = {
            "entity_name": "Port Elm",
            "updated_data": {"entity_name": "Elmhaven"},
            "allow_rename": True,
        }
        later = (await api.post("/graph/entity/edit", json=renaming)).json()["data"]["graph_data"]
        nodes = (await api.get("/graphs", params={"label": "Radium", "max_depth": 1})).json()[
            "nodes"
        ]
    for created_at in (entity["created_at"], relation["created_at"], later["created_at"]):
        assert abs(created_at - time.time()) < 60
    # What documents say of a thing since long keeps its own time, though people speak of it now.
    radium = next(node for node in nodes if node["id"] == "Radium")
    assert radium["properties"]["created_at"] < time.time() - 3600


async def test_a_renamed_or_merged_entity_is_answered_with_its_relations() -> None:
    harness = QueryHarness(graph=RelationsComeLater())
    quay = {**ELM, "entity_name": "Quay"}
    ends = {
        "source_entity": "Port Elm",
        "target_entity": "Quay",
        "relation_data": {"description": "beside"},
    }
    renaming = {
        "entity_name": "Port Elm",
        "updated_data": {"entity_name": "Elmhaven"},
        "allow_rename": True,
    }
    merging = {"entities_to_change": ["Elmhaven"], "entity_to_change_into": "Oakhaven"}
    async with merger(harness), client(harness.app()) as api:
        for path, body in (
            ("entity/create", ELM),
            ("entity/create", quay),
            ("relation/create", ends),
        ):
            assert (await api.post(f"/graph/{path}", json=body)).status_code == 200
        for path, body, name in (
            ("entity/edit", renaming, "Elmhaven"),
            ("entities/merge", merging, "Oakhaven"),
        ):
            assert (await api.post(f"/graph/{path}", json=body)).status_code == 200
            edges = (await api.get("/graphs", params={"label": name})).json()["edges"]
            assert [{edge["source"], edge["target"]} for edge in edges] == [{name, "Quay"}]
