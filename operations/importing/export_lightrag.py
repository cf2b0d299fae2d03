"""Has LightRAG write what its stores hold into a folder of files, whichever stores it has.

    python export.py FOLDER

Runs in LightRAG's own environment, in the folder of its `.env`, and imports nothing of
Lightstream's, which reads the folder: `lightstream import lightrag FOLDER`. Nothing is changed in
LightRAG's stores, and no model is asked.
"""

import asyncio
import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

SEPARATOR = "<SEP>"
PAGE = 500
"""Rows that are read at once."""


async def export(rag: Any, folder: Path) -> None:
    """Write the stores of an opened LightRAG into the folder."""
    # Servers give them in any order: sorted, the same graph is the same file, and no new version.
    nodes = sorted(await rag.chunk_entity_relation_graph.get_all_nodes(), key=name_of)
    edges = sorted(await rag.chunk_entity_relation_graph.get_all_edges(), key=ends_of)
    write_graph(folder / "graph_chunk_entity_relation.graphml", nodes, edges)
    statuses = await every_status(rag)
    keys_by_table = {
        "entity_chunks": [name_of(node) for node in nodes],
        "relation_chunks": [SEPARATOR.join(ends_of(edge)) for edge in edges],
    }
    chunk_ids = [id for row in statuses.values() for id in row.get("chunks_list") or ()]
    for row in (*nodes, *edges):
        chunk_ids += str(row.get("source_id") or "").split(SEPARATOR)
    for name, keys in keys_by_table.items():
        rows = await rows_of(getattr(rag, name, None), keys)
        write(folder, name, rows)
        chunk_ids += [id for row in rows.values() for id in row.get("chunk_ids") or ()]
    chunks = await rows_of(rag.text_chunks, chunk_ids)
    answers = [key for row in chunks.values() for key in row.get("llm_cache_list") or ()]
    write(folder, "text_chunks", chunks)
    write(folder, "llm_response_cache", await rows_of(rag.llm_response_cache, answers))
    write(folder, "full_docs", await rows_of(rag.full_docs, statuses))
    write(folder, "doc_status", statuses)


def name_of(node: dict[str, Any]) -> str:
    """Return the name of an entity."""
    return str(node.get("entity_id") or node.get("id"))


def ends_of(edge: dict[str, Any]) -> list[str]:
    """Return the names of the two entities of a relation, sorted."""
    return sorted((str(edge["source"]), str(edge["target"])))


async def every_status(rag: Any) -> dict[str, dict[str, Any]]:
    """Return the status of each document by id."""
    statuses: dict[str, dict[str, Any]] = {}
    for state in import_module("lightrag.base").DocStatus:
        if hasattr(rag.doc_status, "get_docs_by_statuses"):
            documents = await rag.doc_status.get_docs_by_statuses([state])
        else:
            documents = await rag.doc_status.get_docs_by_status(state)
        for id, document in documents.items():
            statuses[id] = {**vars(document), "status": state.value}
    return statuses


async def rows_of(store: Any, keys: Any) -> dict[str, dict[str, Any]]:
    """Return the rows of a key-value store that these keys have."""
    rows: dict[str, dict[str, Any]] = {}
    if store is None:
        return rows
    distinct = [key for key in dict.fromkeys(keys) if key]
    for start in range(0, len(distinct), PAGE):
        page = distinct[start : start + PAGE]
        values = await store.get_by_ids(page)
        rows.update({key: row for key, row in zip(page, values, strict=True) if row})
    return rows


def write(folder: Path, name: str, rows: dict[str, dict[str, Any]]) -> None:
    """Write the rows as LightRAG's JSON store of that name."""
    text = json.dumps(rows, ensure_ascii=False, indent=1, default=str)
    (folder / f"kv_store_{name}.json").write_text(text, "utf-8")


def write_graph(file: Path, nodes: list[dict[str, Any]], edges: list[dict[str, Any]]) -> None:
    """Write the graph as LightRAG's graph file."""
    root = ElementTree.Element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
    names = dict.fromkeys(name for row in (*nodes, *edges) for name in row)
    for name in names:
        fields = {"id": name, "for": "all", "attr.name": name, "attr.type": "string"}
        ElementTree.SubElement(root, "key", fields)
    graph = ElementTree.SubElement(root, "graph", edgedefault="undirected")
    for row in nodes:
        add_values(ElementTree.SubElement(graph, "node", id=name_of(row)), row)
    for row in edges:
        ends = {"source": str(row["source"]), "target": str(row["target"])}
        add_values(ElementTree.SubElement(graph, "edge", ends), row)
    ElementTree.ElementTree(root).write(file, "utf-8", xml_declaration=True)


def add_values(element: ElementTree.Element, row: dict[str, Any]) -> None:
    """Add the fields of a row to its element, without characters that XML cannot hold."""
    for name, value in row.items():
        text = "".join(letter for letter in str(value) if letter in "\t\n\r" or letter >= " ")
        ElementTree.SubElement(element, "data", key=name).text = text


async def main(folder: Path) -> None:
    """Open the LightRAG that `.env` names, without its vectors and models, and export it."""

    async def no_model(*_: Any, **__: Any) -> Any:
        raise RuntimeError("an export asks no model")

    lightrag = import_module("lightrag.lightrag")  # reads `.env`, which may name all that follows
    stores = {
        name: os.environ[variable]
        for name, variable in (
            ("kv_storage", "LIGHTRAG_KV_STORAGE"),
            ("doc_status_storage", "LIGHTRAG_DOC_STATUS_STORAGE"),
            ("graph_storage", "LIGHTRAG_GRAPH_STORAGE"),
        )
        if os.environ.get(variable)
    }
    rag = lightrag.LightRAG(
        working_dir=os.environ.get("WORKING_DIR") or "./rag_storage",
        workspace=os.environ.get("WORKSPACE", ""),
        llm_model_func=no_model,
        embedding_func=import_module("lightrag.utils").EmbeddingFunc(
            embedding_dim=8, func=no_model
        ),
        vector_storage="NoopVectorDBStorage",
        **stores,
    )
    await rag.initialize_storages()
    try:
        await export(rag, folder)
    finally:
        await rag.finalize_storages()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("give the folder to write to: python export.py FOLDER")
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(target))
    sys.stdout.write(f"written: lightstream import lightrag {target}\n")
