"""A working folder that LightRAG itself wrote becomes documents and edits: made by
`tests/peer/lightrag_folder.py`.
"""

import json
import shutil
from pathlib import Path

import pytest

from contracts.values import CustomEntity
from operations.importing.lightrag_env import find_source
from operations.importing.lightrag_files import LightRagFolder, read_folder
from operations.importing.plan import DUPLICATES, UNFINISHED, ImportPlan, plan_import
from runtime.errors import InvalidInput

FOLDER = Path(__file__).with_name("lightrag_folder")
QUAY = {
    "harbour.txt": "The Harbour Office keeps the register of ships at the Old Quay.",
    "mill.txt": "The Tide Mill stands at the end of the Old Quay.",
    "guild.txt": "The Lamp Feast fills the Old Quay with light.",
}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the folder, to be changed."""
    return Path(shutil.copytree(FOLDER, tmp_path / "rag_storage"))


def planned(folder: Path) -> ImportPlan:
    return plan_import(read_folder(folder))


def descriptions(plan: ImportPlan, name: str) -> dict[str, str]:
    """What each document says of the entity, by the document's name."""
    return {
        document.name: "|".join(
            row.description for row in document.knowledge.entities if row.name == name
        )
        for document in plan.documents
        if any(row.name == name for row in document.knowledge.entities)
    }


def names(plan: ImportPlan) -> set[tuple[str, ...]]:
    """All entities and relations of the plan, by documents and by hand."""
    rows = [row for document in plan.documents for row in document.knowledge.entities]
    pairs = [row for document in plan.documents for row in document.knowledge.relations]
    return {
        *((row.name,) for row in rows),
        *((row.source, row.target) for row in pairs),
        *(edit.names for edit in plan.edits),
    }


def things(folder: LightRagFolder) -> set[tuple[str, ...]]:
    return {graph_object.key for graph_object in (*folder.entities, *folder.relations)}


def remove(folder: Path, *tables: str) -> None:
    for table in tables:
        (folder / f"kv_store_{table}.json").unlink()


def test_entities_and_relations_are_those_of_lightrag() -> None:
    folder = read_folder(FOLDER)
    plan = plan_import(folder)
    assert names(plan) == things(folder)
    assert plan.counts["documents"] == 4 and plan.counts["chunks_with_answers"] == 6
    assert dict(plan.left_out) == {
        UNFINISHED: ["broken.txt"],
        DUPLICATES: ["mill-copy.txt"],
    }


def test_each_chunk_says_what_the_model_answered_about_it() -> None:
    plan = planned(FOLDER)
    # LightRAG's graph has a condensed text, which nobody can take apart again.
    assert descriptions(plan, "Old Quay") == QUAY
    # Renamed, and merged from another spelling, in LightRAG: their texts tell which rows are meant.
    assert set(descriptions(plan, "Feast of Lamps")) == {"guild.txt"}
    assert set(descriptions(plan, "Harbour Office")) == {"harbour.txt", "mill.txt"}
    assert descriptions(plan, "Bell Tower") == {"bells.json": "A tower with one bell."}


def test_what_people_wrote_in_lightrag_is_an_edit() -> None:
    edits = {edit.names: (edit.operation, edit.values) for edit in planned(FOLDER).edits}
    assert set(edits) == {
        ("Jonas Kell",),
        ("Night Watch",),
        ("Jonas Kell", "Tide Mill"),
        ("Night Watch", "Old Quay"),
    }
    operation, values = edits["Jonas Kell",]
    assert (operation, values.description) == ("edit_entity", "The miller, and a poet.")
    operation, values = edits["Night Watch", "Old Quay"]
    assert (operation, values.weight, values.keywords) == ("create_relation", 2.0, ("patrol",))


def test_without_the_cache_of_answers_texts_stand_with_the_first_document(copy: Path) -> None:
    remove(copy, "llm_response_cache")
    plan = planned(copy)
    assert names(plan) == things(read_folder(copy))
    assert descriptions(plan, "Old Quay") == {
        "harbour.txt": "In short, of 2 notices.",
        "mill.txt": "",
        "guild.txt": "",
    }
    assert {edit.operation for edit in plan.edits} == {"create_entity", "create_relation"}
    note = "descriptions of several documents that stand with the first: no answer tells"
    assert plan.notes[note] > 0


def test_an_older_folder_has_the_chunks_in_its_graph_and_answers_below_their_mode(
    copy: Path,
) -> None:
    remove(copy, "entity_chunks", "relation_chunks", "doc_status", "full_docs")
    file = copy / "kv_store_llm_response_cache.json"
    answers = json.loads(file.read_text("utf-8"))
    answers_by_hash = {key.rpartition(":")[2]: row for key, row in answers.items()}
    file.write_text(json.dumps({"default": answers_by_hash}), "utf-8")
    plan = planned(copy)
    assert descriptions(plan, "Old Quay") == QUAY
    assert {document.name for document in plan.documents} >= {"harbour.txt", "bells.json"}


def test_a_document_that_was_deleted_halfway_leaves_its_things_out(copy: Path) -> None:
    file = copy / "kv_store_text_chunks.json"
    chunks = json.loads(file.read_text("utf-8"))
    other_chunks = {id: row for id, row in chunks.items() if row["file_path"] != "bells.json"}
    file.write_text(json.dumps(other_chunks), "utf-8")
    plan = planned(copy)
    assert ("Bell Tower",) not in names(plan)
    note = "entities and relations of documents that are not imported, or are gone"
    assert plan.notes[note] == 2


def test_headings_come_and_long_chunks_are_cut(copy: Path) -> None:
    file = copy / "kv_store_text_chunks.json"
    chunks = json.loads(file.read_text("utf-8"))
    (id,) = [id for id, row in chunks.items() if row["file_path"] == "bells.json"]
    chunks[id]["content"] = "x" * 150_000
    chunks[id]["heading"] = {"level": 2, "heading": "Bells", "parent_headings": ["Town"]}
    file.write_text(json.dumps(chunks), "utf-8")
    (document,) = [item for item in planned(copy).documents if item.name == "bells.json"]
    pieces = document.knowledge.chunks
    assert [len(piece.content) for piece in pieces] == [100_000, 50_000]
    assert pieces[0].headings == ("Town", "Bells")
    assert document.knowledge.entities == (
        CustomEntity(
            name="Bell Tower",
            type="location",
            description="A tower with one bell.",
            source_id=id,
        ),
    )


def test_workspaces_are_folders_and_an_env_names_one(tmp_path: Path, copy: Path) -> None:
    assert find_source(copy, None).folder() == copy
    assert find_source(copy, "fen").folder() == copy / "fen"
    with pytest.raises(InvalidInput, match=r"no workspace 'bog' of LightRAG, but .*, fen"):
        find_source(copy, "bog").folder()
    env = tmp_path / ".env"
    env.write_text("WORKING_DIR=./rag_storage\nWORKSPACE=fen\n", "utf-8")
    assert find_source(env, None).folder() == copy / "fen"
    env.write_text("LIGHTRAG_GRAPH_STORAGE=Neo4JStorage\n", "utf-8")
    with pytest.raises(InvalidInput, match=r"Neo4JStorage: only files .* import exporter"):
        find_source(env, None)


@pytest.mark.parametrize(
    ("file", "content", "reason"),
    [
        ("kv_store_text_chunks.json", '{"a": ', "damaged, or no JSON: stop LightRAG"),
        ("kv_store_text_chunks.json", "[]", "not a store of LightRAG"),
        ("graph_chunk_entity_relation.graphml", "<graphml>", "damaged .*: stop LightRAG"),
        ("graph_chunk_entity_relation.graphml", "<!DOCTYPE a [<!ENTITY b 'c'>]>", "entities"),
    ],
)
def test_a_damaged_file_is_named_with_the_way_out(
    copy: Path, file: str, content: str, reason: str
) -> None:
    (copy / file).write_text(content, "utf-8")
    with pytest.raises(InvalidInput, match=f"{file}.*{reason}"):
        read_folder(copy)


def test_a_folder_of_something_else_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="give the WORKING_DIR of LightRAG"):
        find_source(tmp_path, None)
    with pytest.raises(InvalidInput, match="no such folder"):
        find_source(tmp_path / "nowhere", None)
