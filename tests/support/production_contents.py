"""What the stores of a deployment hold: looked through for a word, or lost."""

from typing import Any

from neo4j import AsyncGraphDatabase
from pydantic import SecretStr
from pymilvus import MilvusClient

from embedded.environment import settings_from
from operations.open_stack import open_as_is
from runtime.settings import Settings
from runtime.stores.documents.port import INDEXES, Table
from runtime.stores.open import open_graph, open_vectors
from tests.support.milvus_server import ROOT
from tests.support.production import Deployment


async def lose_graph_and_vectors(production: Deployment) -> None:
    """Drop every graph and every generation of vectors."""
    settings = Settings(
        neo4j_uri=production.env["NEO4J_URI"],
        milvus_uri=production.env["MILVUS_URI"],
        milvus_token=SecretStr(production.env["MILVUS_TOKEN"]),
        milvus_index_type="HNSW",
    )
    graph, vectors = open_graph(settings), open_vectors(settings, model="lexical", dimension=1)
    for partition in await graph.partitions():
        await graph.drop(partition)
    for generation in await vectors.generations():
        await vectors.drop(generation)
    await graph.close()
    await vectors.close()


async def stores_with(production: Deployment, word: str) -> list[str]:
    """The stores of which a row, an entity, a relation or a vector has this word, whatever it
    belongs to.
    """
    async with open_as_is(settings_of(production)) as opened:
        rows = opened.stores.rows
        tables = [
            Table(name, partition) for name in INDEXES for partition in await rows.partitions(name)
        ]
        contents = {
            "documents": [
                pair for table in tables for pair in await rows.scan(table, limit=100_000)
            ]
        }
    async with AsyncGraphDatabase.driver(production.env["NEO4J_URI"]) as driver:
        nodes = await driver.execute_query("MATCH (n) RETURN properties(n)")
        contents["graph"] = [
            *nodes.records,
            *(await driver.execute_query("MATCH ()-[r]->() RETURN properties(r)")).records,
        ]
    client: Any = MilvusClient(production.env["MILVUS_URI"], token=ROOT)
    asked = {"filter": "", "limit": 16_000, "output_fields": ["*"]}
    contents["vectors"] = [
        row for name in client.list_collections() for row in client.query(name, **asked)
    ]
    client.close()
    return [
        store for store, rows in contents.items() if any(word in str(row).lower() for row in rows)
    ]


def settings_of(production: Deployment) -> Settings:
    """The settings of whoever works on the deployment's stores."""
    return settings_from(Settings, {"EMBEDDING_MODEL": "lexical", **production.env})
