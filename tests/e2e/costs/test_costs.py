"""What a document costs is counted on a running stack, and must not exceed what `limits.toml` says.

Nothing here is a time: the counts are the same on every machine, but for how many messages come in
one batch.
"""

import asyncio
import os
import sqlite3
import tomllib
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from benchmarks.measuring.model import Model, mock_model
from benchmarks.measuring.processes import Usage, spent
from benchmarks.measuring.sides import CLIENT, Side
from benchmarks.yardstick.documents import Document
from embedded import stack
from embedded.addresses import bus_url
from embedded.data_folder import DataFolder, StackState
from embedded.stores import GRAPH, VECTORS
from runtime.settings import Settings
from tests.support import many_names
from tests.support.counting_relays import Relay, bolt, grpc, mongo, nats, relaying
from tests.support.mongo import mongo_uri, shared_mongo
from tests.support.shared_servers import SharedServers
from tests.support.stack import MODEL_VARIABLES

DOCUMENTS = 20
LIMITS: dict[str, dict[str, float]] = tomllib.loads(
    Path(__file__).with_name("limits.toml").read_text("utf-8")
)


@dataclass(frozen=True)
class CountedStack:
    """A stack whose services reach bus, graph and vectors through relays."""

    side: Side
    relays: dict[str, Relay]
    model: Model

    def counts(self) -> dict[str, float]:
        """What was asked of the servers and of the models until now."""
        result = {
            f"{name} {kind}": float(n)
            for name, relay in self.relays.items()
            for kind, n in relay.counts.items()
        }
        asked = self.model.stats()
        result["chat calls"], result["embedding calls"] = (
            asked["chat_calls"],
            asked["embedding_calls"],
        )
        return {
            **result,
            "texts embedded": asked["texts"],
            "rows stored": stored_rows(self.side.folder),
        }


def stored_rows(folder: Path) -> int:
    """All rows of the stack's SQLite file; none where the documents are elsewhere. A body that
    stands apart from its key is no row of its own.
    """
    if not (path := folder / "documents" / "documents.db").exists():
        return 0
    with closing(sqlite3.connect(path)) as store:
        tables = [
            name
            for (name,) in store.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
            if not name.endswith("_bodies")
        ]
        return sum(store.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in tables)


@asynccontextmanager
async def counted_stack(
    folder: Path, monkeypatch: pytest.MonkeyPatch, mongo_port: int | None
) -> AsyncGenerator[CountedStack]:
    """A whole embedded stack with the mock model, its graph in ArcadeDB; its supervisor is this
    process.

    With `mongo_port` the services keep documents on the server of MongoDB's protocol that listens
    there, and vectors in Milvus Lite.
    """
    addresses = stack.service_addresses
    relays = {"bus": Relay(nats), "graph": Relay(bolt)}
    settings = {"bus": "nats_url", "graph": "neo4j_uri"}
    # What is asked of a server can be counted.
    GRAPH.begin(DataFolder(folder), "arcadedb")
    if mongo_port:
        VECTORS.begin(DataFolder(folder), "milvus")
        relays |= {"documents": Relay(mongo, target=mongo_port), "vectors": Relay(grpc)}
        settings["vectors"] = "milvus_uri"

    def relayed(data: DataFolder, state: StackState) -> dict[str, str]:
        result = addresses(data, state)
        for name in settings:
            relay = relays[name]
            relay.target = state.ports[name]
            result[settings[name]] = result[settings[name]].replace(
                f":{relay.target}", f":{relay.port}"
            )
        if mongo_port:
            result["documents_url"] = mongo_uri(relays["documents"].port)
        return result

    async with AsyncExitStack() as exit_stack:
        for relay in relays.values():
            await exit_stack.enter_async_context(relaying(relay))
        model = exit_stack.enter_context(mock_model())
        for name in Settings.model_fields:
            if name.upper().startswith(MODEL_VARIABLES):
                monkeypatch.delenv(name.upper(), raising=False)
        for name, value in {**model.environment(), "COSINE_THRESHOLD": "0.2"}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(stack, "service_addresses", relayed)
        state = await exit_stack.enter_async_context(
            stack.run_stack(DataFolder(folder), lambda _: None)
        )

        def pids() -> dict[str, int]:
            return {name: child.identity.pid for name, child in state.children.items()}

        api = f"http://127.0.0.1:{state.ports['api']}"
        yield CountedStack(Side(api, bus_url(state), folder, str, pids), relays, model)


@pytest.mark.parametrize("documents", ["sqlite", pytest.param("mongo", marks=pytest.mark.nightly)])
async def test_a_document_costs_no_more_than_it_did(
    documents: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared_servers: SharedServers
) -> None:
    mongo_port = urlsplit(shared_mongo(shared_servers)).port if documents == "mongo" else None
    monkeypatch.setenv("MONGO_DATABASE", f"costs_{os.getpid()}")
    texts = [Document(name, text, ()) for name, text in many_names.documents(DOCUMENTS).items()]
    async with counted_stack(tmp_path / "data", monkeypatch, mongo_port) as counted:
        before, usages = counted.counts(), counted.side.usages()
        await asyncio.to_thread(counted.side.index, texts)
        after = counted.counts()
        used = spent(usages, counted.side.usages())
    used.pop(CLIENT)
    costs = {name: (value - before.get(name, 0)) / DOCUMENTS for name, value in after.items()}
    costs["kB written"] = sum(used.values(), Usage()).written / 1000 / DOCUMENTS
    print(f"[{documents}]", *(f'"{name}" = {value:.1f}' for name, value in costs.items()), sep="\n")
    limits = LIMITS["a_document"] | LIMITS[documents]
    assert not set(limits) - set(costs), f"not counted: {set(limits) - set(costs)}"
    assert {name: costs[name] for name, limit in limits.items() if costs[name] > limit} == {}
