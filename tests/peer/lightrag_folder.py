"""Makes the small working folder of LightRAG that the tests of `import lightrag` read. Runs in a
Python environment of LightRAG's own, and imports nothing of ours.

    TIKTOKEN_CACHE_DIR=TOKENS .venv/peer/bin/python tests/peer/lightrag_folder.py FOLDER

Stores that LightRAG's own variables name, as LIGHTRAG_KV_STORAGE, are filled instead of files.

Its model is a table: a chunk names whom its sentences name. Edits, a rename, a merge, a deletion,
ready knowledge, a document that failed and a duplicate are made by LightRAG's own calls.
"""

import asyncio
import hashlib
import json
import os
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
from lightrag import LightRAG
from lightrag.utils import EmbeddingFunc

DIMENSION = 8

TYPES = {
    "Ada Voss": "person",
    "Brackwater": "location",
    "Harbour Office": "organization",
    "Harbor Office": "organization",
    "Tide Mill": "artifact",
    "Jonas Kell": "person",
    "Salt Guild": "organization",
    "Lamp Feast": "event",
    "Old Quay": "location",
}
"""Names of our invented town, and their types."""

DOCUMENTS = {
    "harbour.txt": (
        "Ada Voss leads the Harbour Office of Brackwater. "
        "The Harbour Office keeps the register of ships at the Old Quay. "
        "Ada Voss was born in Brackwater and learned to sail there. "
        "The Salt Guild pays its dues to the Harbour Office each spring."
    ),
    "mill.txt": (
        "The Tide Mill stands at the end of the Old Quay. "
        "Jonas Kell has run the Tide Mill since the great flood. "
        "Ada Voss let Jonas Kell mend the sluice of the Tide Mill. "
        "The Harbor Office counts each sack that leaves the Tide Mill."
    ),
    "guild.txt": (
        "The Salt Guild was founded in Brackwater by nine boilers of salt. "
        "Ada Voss speaks for the Salt Guild at the Lamp Feast. "
        "The Lamp Feast fills the Old Quay with light. "
        "Jonas Kell grinds salt for the Salt Guild at the Tide Mill."
    ),
}
BROKEN = "The Lamp Feast of this text cannot be read."
SENTENCES = [
    sentence.strip(" .") for text in DOCUMENTS.values() for sentence in text.split(". ")
] + [BROKEN.strip(".")]


async def answer(prompt, system_prompt=None, history_messages=None, **_):
    """Answer as a model would: rows for the sentences of a chunk, or a summary of descriptions."""
    if '"Description"' in prompt:
        return f"In short, of {prompt.count(chr(34) + 'Description' + chr(34)) - 1} notices."
    if history_messages:
        return "<|COMPLETE|>"
    full_prompt = f"{system_prompt or ''}\n{prompt}"
    if BROKEN.strip(".") in full_prompt:
        raise RuntimeError("the model does not answer")
    entities = {}
    relations = {}
    for sentence in SENTENCES:
        if sentence not in prompt:
            continue
        names = [name for name in TYPES if name in sentence]
        for name in names:
            entities.setdefault(name, sentence)
        for source, target in pairwise(names):
            relations.setdefault((source, target), sentence)
    rows = [f"entity<|#|>{name}<|#|>{TYPES[name]}<|#|>{text}." for name, text in entities.items()]
    rows += [
        f"relation<|#|>{source}<|#|>{target}<|#|>town life,{source.split()[0].lower()}<|#|>{text}."
        for (source, target), text in relations.items()
    ]
    return "\n".join([*rows, "<|COMPLETE|>"])


async def embed(texts, **_):
    """Vectors by hash."""
    rows = [np.frombuffer(hashlib.sha256(text.encode()).digest(), np.uint8) for text in texts]
    return np.array([row[:DIMENSION] for row in rows], np.float32) / 255 - 0.5


async def opened(folder: Path, workspace: str) -> LightRAG:
    """A LightRAG over the folder."""
    rag = LightRAG(
        working_dir=str(folder),
        **{
            name: os.environ[f"LIGHTRAG_{name.upper()}"]
            for name in ("kv_storage", "doc_status_storage", "graph_storage", "vector_storage")
            if f"LIGHTRAG_{name.upper()}" in os.environ
        },
        workspace=workspace,
        llm_model_func=answer,
        llm_model_name="table",
        embedding_func=EmbeddingFunc(
            embedding_dim=DIMENSION, max_token_size=8192, func=embed, model_name="hash"
        ),
        chunk_token_size=32,
        chunk_overlap_token_size=4,
        force_llm_summary_on_merge=3,
        max_parallel_insert=1,
    )
    await rag.initialize_storages()
    return rag


async def main(folder: Path) -> None:
    """Fill the folder: the workspace without a name, and one named `fen`."""
    rag = await opened(folder, "")
    for name, text in DOCUMENTS.items():
        await rag.ainsert(text, file_paths=name)
    await rag.ainsert(BROKEN, file_paths="broken.txt")
    await rag.ainsert(DOCUMENTS["mill.txt"], file_paths="mill-copy.txt")
    await rag.ainsert_custom_kg(
        {
            "chunks": [
                {
                    "content": "The Bell Tower rings when fog lies on the Old Quay.",
                    "source_id": "sheet",
                    "file_path": "bells.json",
                }
            ],
            "entities": [
                {
                    "entity_name": "Bell Tower",
                    "entity_type": "location",
                    "description": "A tower with one bell.",
                    "source_id": "sheet",
                    "file_path": "bells.json",
                }
            ],
            "relationships": [
                {
                    "src_id": "Bell Tower",
                    "tgt_id": "Old Quay",
                    "description": "It rings over the quay.",
                    "keywords": "fog,warning",
                    "weight": 1.0,
                    "source_id": "sheet",
                    "file_path": "bells.json",
                }
            ],
        }
    )
    await rag.acreate_entity(
        "Night Watch", {"description": "Four people with lamps.", "entity_type": "organization"}
    )
    await rag.acreate_relation(
        "Night Watch",
        "Old Quay",
        {"description": "They walk the quay.", "keywords": "patrol", "weight": 2.0},
    )
    await rag.aedit_entity("Jonas Kell", {"description": "The miller, and a poet."})
    await rag.aedit_relation("Jonas Kell", "Tide Mill", {"description": "He owns half of it."})
    await rag.aedit_entity("Lamp Feast", {"entity_name": "Feast of Lamps"})
    await rag.amerge_entities(["Harbor Office"], "Harbour Office")
    await rag.adelete_by_relation("Brackwater", "Salt Guild")
    await rag.finalize_storages()
    only_what_is_read(folder)
    fen = await opened(folder, "fen")
    await fen.ainsert(
        "Ada Voss was born in Brackwater and learned to sail there.", file_paths="fen.txt"
    )
    await fen.finalize_storages()
    only_what_is_read(folder / "fen")


def only_what_is_read(folder: Path) -> None:
    """Remove the vectors, and the prompts in the cache of answers, whose words are LightRAG's."""
    for file in (*folder.glob("vdb_*.json"), *folder.glob("kv_store_full_[er]*.json")):
        file.unlink()
    file = folder / "kv_store_llm_response_cache.json"
    if not file.exists():
        return
    rows = json.loads(file.read_text("utf-8"))
    for row in rows.values():
        row["original_prompt"] = ""
    file.write_text(json.dumps(rows, indent=2, ensure_ascii=False), "utf-8")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
