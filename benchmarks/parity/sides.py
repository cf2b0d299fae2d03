"""Both sides: LightRAG in its own process and files, ours through the ports of our stores."""

import json
import os
import subprocess
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.parity import material as given
from benchmarks.parity.material import Material, Question
from contracts.graph import Generations, Hit, Partition, VectorKind, VectorRow
from contracts.ids import chunk_place, chunk_vector_id, entity_vector_id, relation_vector_id
from runtime.models.port import Vector
from runtime.models.tokens import CACHE_VARIABLE, install
from runtime.stores.vectors import fields as stored
from runtime.stores.vectors.memory import MemoryVectors
from services.query.partitions import Partitions
from services.query.passage import Passage
from services.query.question import Keywords, Mode
from services.query.question import Question as Asked
from services.query.retrieval.retrieve import retrieve
from tests.support.querying import QueryHarness

MODES: tuple[Mode, ...] = ("naive", "local", "global", "hybrid", "mix")
PARTITIONS = Partitions.of("parity", Generations())
MAX_TOTAL_TOKENS = 60_000
"""More than is ever needed: what passages may take depends on the length of the prompt, and each
side has its own.
"""

CACHE = 2**30
"""Bytes."""

Found = tuple[list[str], list[tuple[str, str]], list[str]]
"""Names of entities, pairs of names of relations, ids of chunks; the best first."""


def of_peer(material: Material, python: Path) -> list[dict[str, Found]]:
    """What LightRAG finds for each question, by mode. `python` is that of its environment."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        _write(material, folder)
        install("o200k_base", folder / "tokens")
        environment = {**os.environ, CACHE_VARIABLE: str(folder / "tokens")}
        command = [str(python), str(Path(__file__).with_name("peer.py")), name]
        done = subprocess.run(
            command, env=environment, cwd=name, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(
                f"LightRAG's process ended with {done.returncode}: {done.stderr[-2000:]}"
            )
        result = json.loads((folder / "found.json").read_text("utf-8"))
    return [
        {
            mode: (names, [(source, target) for source, target in pairs], chunks)
            for mode, (names, pairs, chunks) in zip(MODES, of_modes, strict=True)
        }
        for of_modes in result
    ]


async def of_ours(material: Material, modes: Sequence[Mode] = MODES) -> list[dict[str, Found]]:
    """What our stages find for each question, by mode, over stores in memory."""
    harness = QueryHarness()
    harness.vectors = TableVectors("parity", len(material.embed("any")))
    await fill(harness, material)

    async def embed(texts: Sequence[str]) -> list[Vector]:
        return [tuple(material.embed(text).tolist()) for text in texts]

    deps = harness.deps(CACHE)
    deps = replace(deps, embed=embed, min_score=0.2)

    async def ask(question: Question, mode: Mode) -> Found:
        asked = Asked(
            question.text,
            mode,
            keywords=Keywords(question.high, question.low),
            max_total_tokens=MAX_TOTAL_TOKENS,
            rerank=False,
        )
        result = await retrieve(asked, PARTITIONS, deps)
        names, pairs = (
            [entity.name for entity in result.entities],
            [relation.key for relation in result.relations],
        )
        return names, pairs, [passage.id for _, passage in result.passages]

    return [{mode: await ask(question, mode) for mode in modes} for question in material.questions]


async def fill(harness: QueryHarness, material: Material) -> None:
    """Put the graph, its vectors and passages into our stores."""
    await harness.graph.put(PARTITIONS.graph, material.entities, material.relations)
    passages = [Passage(id, id, 0, text, id) for id, text in material.chunks.items()]
    await harness.passages.put(PARTITIONS.status, passages)

    def row(id: str, text: str, *names: str) -> VectorRow:
        return VectorRow(id, text, "", 1, tuple(material.embed(text).tolist()), names)

    rows: dict[VectorKind, list[VectorRow]] = {
        "chunks": [
            row(chunk_vector_id(*chunk_place(id)), text, id) for id, text in material.chunks.items()
        ],  # type: ignore[misc]
        "entities": [
            row(entity_vector_id(one.name), given.entity_text(one), one.name)
            for one in material.entities
        ],
        "relations": [
            row(relation_vector_id(*one.key), given.relation_text(one), *one.key)
            for one in material.relations
        ],
    }
    for kind, some in rows.items():
        await harness.vectors.put(PARTITIONS.vectors, kind, some)


class TableVectors(MemoryVectors):
    """Vectors in memory that are compared as one table, made once after all are put."""

    async def search(
        self,
        partition: Partition,
        kind: VectorKind,
        vector: Sequence[float],
        *,
        top_k: int,
        min_score: float = -1.0,
        documents: Collection[str] | None = None,
    ) -> list[Hit]:
        """See `Vectors`."""
        if kind not in (tables := self.__dict__.setdefault("tables", {})):
            rows = list(self._table(partition, kind).values())
            matrix = np.array([row.vector for row in rows])
            tables[kind] = rows, matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
        rows, matrix = tables[kind]
        direction = np.array(vector) / np.linalg.norm(vector)
        scores = matrix @ direction
        best = np.argsort(-scores, kind="stable")[: top_k + 1]
        hits = stored.ranked(
            Hit(rows[i].id, rows[i].names, stored.rounded_score(float(scores[i]))) for i in best
        )
        return [hit for hit in hits[:top_k] if hit.score > min_score]


def _write(material: Material, folder: Path) -> None:
    """Write what the other process reads."""
    texts = [
        *material.chunks.values(),
        *map(given.entity_text, material.entities),
        *map(given.relation_text, material.relations),
        *(text for question in material.questions for text in question.searches()),
    ]
    texts = list(dict.fromkeys(texts))
    np.save(folder / "vectors.npy", np.array([material.embed(text) for text in texts]))
    graph = {
        "texts": texts,
        "modes": MODES,
        "max_total_tokens": MAX_TOTAL_TOKENS,
        "chunks": material.chunks,
        "entities": [
            (one.name, one.type, one.description, one.source_ids, given.entity_text(one))
            for one in material.entities
        ],
        "relations": [
            (
                one.source,
                one.target,
                one.weight,
                ", ".join(one.keywords),
                one.description,
                one.source_ids,
                given.relation_text(one),
            )
            for one in material.relations
        ],
        "questions": [
            {"text": one.text, "high": one.high, "low": one.low} for one in material.questions
        ],
    }
    (folder / "graph.json").write_text(json.dumps(graph), "utf-8")
