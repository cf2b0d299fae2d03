"""LightRAG's answers about a graph. Runs in a Python environment of LightRAG's own, and imports
nothing of ours.

    python peer.py FOLDER

FOLDER has `graph.json` (chunks, entities, relations, questions, texts) and `vectors.npy`, a row for
each of the texts; `found.json` is written there: for each question and mode the names, pairs and
chunk ids, in LightRAG's order.
"""

import asyncio
import json
import sys
from pathlib import Path

import numpy as np
from lightrag import LightRAG, QueryParam
from lightrag.utils import EmbeddingFunc

SEPARATOR = "<SEP>"


async def main(folder: Path) -> None:
    """Fill the stores and ask."""
    graph = json.loads((folder / "graph.json").read_text("utf-8"))
    vectors = np.load(folder / "vectors.npy")
    rows = {text: number for number, text in enumerate(graph["texts"])}

    async def embed(texts, **_):
        return vectors[[rows[text] for text in texts]]

    async def no_model(*_, **__):
        raise AssertionError("a question with keywords asks no model when only data are wanted")

    rag = LightRAG(
        working_dir=str(folder / "files"),
        embedding_func=EmbeddingFunc(
            embedding_dim=vectors.shape[1], max_token_size=8192, func=embed
        ),
        llm_model_func=no_model,
    )
    await rag.initialize_storages()
    await fill(rag, graph)
    result = [
        [await ask(rag, graph, question, mode) for mode in graph["modes"]]
        for question in graph["questions"]
    ]
    (folder / "found.json").write_text(json.dumps(result), "utf-8")
    await rag.finalize_storages()


async def fill(rag: LightRAG, graph: dict) -> None:
    """Write everything through the stores' own calls."""
    chunks = {
        id: {
            "content": text,
            "full_doc_id": id,
            "file_path": id,
            "tokens": 0,
            "chunk_order_index": 0,
        }
        for id, text in graph["chunks"].items()
    }
    await rag.text_chunks.upsert(chunks)
    await rag.chunks_vdb.upsert(chunks)
    await rag.chunk_entity_relation_graph.upsert_nodes_batch(
        [
            (
                name,
                {
                    "entity_id": name,
                    "entity_type": type,
                    "description": description,
                    "source_id": SEPARATOR.join(sources),
                    "file_path": "-",
                    "created_at": 0,
                },
            )
            for name, type, description, sources, _ in graph["entities"]
        ]
    )
    await rag.entities_vdb.upsert(
        {
            f"ent-{number}": {
                "content": text,
                "entity_name": name,
                "source_id": "",
                "file_path": "",
            }
            for number, (name, _, _, _, text) in enumerate(graph["entities"])
        }
    )
    await rag.chunk_entity_relation_graph.upsert_edges_batch(
        [
            (
                source,
                target,
                {
                    "weight": weight,
                    "description": description,
                    "keywords": keywords,
                    "source_id": SEPARATOR.join(sources),
                    "file_path": "-",
                    "created_at": 0,
                },
            )
            for source, target, weight, keywords, description, sources, _ in graph["relations"]
        ]
    )
    await rag.relationships_vdb.upsert(
        {
            f"rel-{number}": {
                "content": text,
                "src_id": source,
                "tgt_id": target,
                "source_id": "",
                "file_path": "",
            }
            for number, (source, target, _, _, _, _, text) in enumerate(graph["relations"])
        }
    )
    await rag._insert_done()


async def ask(rag: LightRAG, graph: dict, question: dict, mode: str) -> list:
    """Names of entities, pairs of names of relations, ids of chunks."""
    wanted = QueryParam(
        mode=mode,
        hl_keywords=question["high"],
        ll_keywords=question["low"],
        max_total_tokens=graph["max_total_tokens"],
        enable_rerank=False,
    )
    answer = await rag.aquery_data(question["text"], wanted)
    data = answer.get("data") or {}
    return [
        [one["entity_name"] for one in data.get("entities", ())],
        [sorted((one["src_id"], one["tgt_id"])) for one in data.get("relationships", ())],
        [one["chunk_id"] for one in data.get("chunks", ())],
    ]


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
