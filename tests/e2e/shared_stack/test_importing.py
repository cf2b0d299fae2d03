"""A working folder of LightRAG by command, on a running stack: imported, once, asked and deleted
from. No model is asked, and a document that goes takes its words with it.
"""

from pathlib import Path
from typing import Any

from tests.support.stack import Stack

FOLDER = Path(__file__).parents[2] / "unit" / "operations" / "importing" / "lightrag_folder"
WORKSPACE = "imported"
HERE = ("--workspace", WORKSPACE)


def graph(stack: Stack) -> dict[str, dict[str, Any]]:
    """The properties of each entity by its name."""
    with stack.client(WORKSPACE) as client:
        answer = client.get("/graphs", params={"label": "*", "max_depth": 3}).json()
    return {node["labels"][0]: node["properties"] for node in answer["nodes"]}


def test_a_folder_of_lightrag_is_imported_once_and_a_document_of_it_deleted(stack: Stack) -> None:
    command = ("import", "lightrag", str(FOLDER))
    plan = stack.json(*command, "--dry-run")
    assert plan["counts"]["documents"] == 4 and not graph(stack)
    result = stack.json(*command, "--wait", *HERE)
    assert [status["status"] for status in result["statuses"]] == ["processed"] * 4
    again = stack.json(*command, *HERE)
    assert (len(again["documents"]["unchanged"]), again["unchanged_edits"]) == (4, 4)

    entities = graph(stack)
    assert entities["Jonas Kell"]["description"] == "The miller, and a poet."
    assert "great flood" in str(stack.json("find", "great flood", *HERE))
    assert entities["Night Watch"]["entity_type"] == "organization"
    assert "Harbor Office" in entities["Harbour Office"]["description"]
    assert stack.json("cost", *HERE)["total"]["calls"] == 0
    with stack.service(WORKSPACE) as service:
        assert "Tide Mill" in service.query("Who has run the Tide Mill?").response

    assert stack.run("delete", "mill.txt", "--yes", "--wait", *HERE).returncode == 0
    assert "Harbor Office" not in str(graph(stack))
    assert set(graph(stack)) == set(entities)
