"""Reads the working folder of a LightRAG: its JSON stores and its graph, as LightRAG 1.3 to 1.5
write them.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree

from contracts.ids import SEPARATOR
from runtime.errors import InvalidInput

GRAPH_FILE = "graph_chunk_entity_relation.graphml"
CHUNKS_FILE = "kv_store_text_chunks.json"
OWN_FILES = (GRAPH_FILE, CHUNKS_FILE, "kv_store_full_docs.json")
"""One of them stands in each folder of a workspace."""

Row = dict[str, Any]
Table = Mapping[str, Row]


@dataclass(frozen=True)
class GraphObject:
    """An entity, by its one name, or a relation, by its two sorted names."""

    key: tuple[str, ...]
    description: str
    type: str = ""
    keywords: tuple[str, ...] = ()
    weight: float = 1.0
    chunks: tuple[str, ...] = ()
    """Ids of the chunks it is from; also marks such as `manual_creation`."""

    @property
    def fragments(self) -> list[str]:
        """Return the texts that the description was joined of."""
        return [
            part for part in (text.strip() for text in self.description.split(SEPARATOR)) if part
        ]


@dataclass(frozen=True)
class LightRagFolder:
    """What the folder of one workspace says."""

    path: Path
    documents: Table = field(default_factory=dict[str, Row])
    """Texts, by id."""
    statuses: Table = field(default_factory=dict[str, Row])
    chunks: Table = field(default_factory=dict[str, Row])
    answers: Table = field(default_factory=dict[str, Row])
    """The cache of a language model's answers."""
    entities: tuple[GraphObject, ...] = ()
    relations: tuple[GraphObject, ...] = ()


def workspace_folders(root: Path) -> dict[str, Path]:
    """Return the folders of LightRAG's workspaces below `root`, by name; that without a name is
    `root` itself. Raises InvalidInput where there is none.
    """
    if not root.is_dir():
        raise InvalidInput(f"{root}: no such folder: give the WORKING_DIR of LightRAG")
    candidates = {"": root, **{path.name: path for path in sorted(root.iterdir()) if path.is_dir()}}
    folders = {
        name: path
        for name, path in candidates.items()
        if any((path / file).exists() for file in OWN_FILES)
    }
    if not folders:
        raise InvalidInput(
            f"{root}: has none of {', '.join(OWN_FILES)}: give the WORKING_DIR of LightRAG, by "
            "default rag_storage"
        )
    return folders


def read_folder(path: Path) -> LightRagFolder:
    """Read all files of a workspace. Raises InvalidInput, naming the file, for damage."""
    entities, relations = _graph(path)
    return LightRagFolder(
        path=path,
        documents=_table(path, "full_docs"),
        statuses=_table(path, "doc_status"),
        chunks=_table(path, "text_chunks"),
        answers=_answers(_table(path, "llm_response_cache")),
        entities=tuple(_with_all_chunks(entities, _table(path, "entity_chunks"))),
        relations=tuple(_with_all_chunks(relations, _table(path, "relation_chunks"))),
    )


def _table(folder: Path, name: str) -> dict[str, Row]:
    """Return the rows of a JSON store by key; none where the file is missing."""
    file = folder / f"kv_store_{name}.json"
    if not file.exists():
        return {}
    try:
        rows = json.loads(file.read_bytes())
    except (ValueError, RecursionError):
        raise InvalidInput(
            f"{file}: damaged, or no JSON: stop LightRAG before its folder is read, or take the "
            "file of a backup"
        ) from None
    if not isinstance(rows, dict):
        raise InvalidInput(f"{file}: not a store of LightRAG: its rows have no keys")
    table = cast("dict[str, object]", rows)
    return {key: cast("Row", row) for key, row in table.items() if isinstance(row, dict)}


def _answers(table: Mapping[str, Row]) -> dict[str, Row]:
    """Return the cached answers by key. Before 1.3 they stood below their mode."""
    answers: dict[str, Row] = {}
    for key, row in table.items():
        if "return" in row:
            answers[key] = row
        else:
            answers.update(
                {name: cast("Row", value) for name, value in row.items() if isinstance(value, dict)}
            )
    return answers


def _with_all_chunks(objects: list[GraphObject], table: Table) -> Iterator[GraphObject]:
    """Yield the objects with the chunks that tracking rows name: the graph has only so many."""
    for graph_object in objects:
        row = table.get(SEPARATOR.join(graph_object.key), {})
        chunk_ids = _strings(row.get("chunk_ids"))
        ids = tuple(dict.fromkeys((*chunk_ids, *graph_object.chunks)))
        yield replace(graph_object, chunks=ids)


def _strings(value: object) -> list[str]:
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [item for item in items if isinstance(item, str)]


def _graph(folder: Path) -> tuple[list[GraphObject], list[GraphObject]]:
    """Return entities and relations of the graph file; none where it is missing."""
    file = folder / GRAPH_FILE
    if not file.exists():
        return [], []
    text = file.read_text("utf-8", "replace")
    if "<!ENTITY" in text:
        raise InvalidInput(
            f"{file}: has entities of its own in its XML: this is no file of LightRAG"
        )
    try:
        root = ElementTree.fromstring(text)  # noqa: S314
    except ElementTree.ParseError as error:
        raise InvalidInput(
            f"{file}: damaged ({error}): stop LightRAG before its folder is read, or take the file "
            "of a backup"
        ) from None
    names = {
        key.get("id", ""): key.get("attr.name", "") for key in root.iter() if _local(key) == "key"
    }
    entities: list[GraphObject] = []
    relations: list[GraphObject] = []
    for element in root.iter():
        if _local(element) == "node":
            entities.append(_object((element.get("id", ""),), _values(element, names)))
        elif _local(element) == "edge":
            ends = sorted((element.get("source", ""), element.get("target", "")))
            relations.append(_object(tuple(ends), _values(element, names)))
    return entities, relations


def _local(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _values(element: ElementTree.Element, names: Mapping[str, str]) -> dict[str, str]:
    return {names.get(data.get("key", ""), ""): data.text or "" for data in element}


def _object(key: tuple[str, ...], values: Mapping[str, str]) -> GraphObject:
    keywords = (word.strip() for word in values.get("keywords", "").replace("，", ",").split(","))
    return GraphObject(
        key=key,
        description=values.get("description", ""),
        type=values.get("entity_type", "").strip('"'),
        keywords=tuple(dict.fromkeys(word for word in keywords if word)),
        weight=_weight(values.get("weight", "")),
        chunks=tuple(filter(None, values.get("source_id", "").split(SEPARATOR))),
    )


def _weight(text: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        return 1.0
    return weight if 0 < weight <= 1_000_000 else 1.0
