"""Golden questions by command, on a running stack: set, asked, and asked again before a rebuild
goes live.
"""

from pathlib import Path
from xml.etree import ElementTree

from tests.support.stack import Stack

WORKSPACE = "golden"
HERE = ("--workspace", WORKSPACE)
DOCUMENTS = {
    "harbour.txt": "Ada Marlow leads the Harbour Office in Port Elm.",
    "mill.txt": "Celia Stone grinds barley at Tide Mill.",
}


def test_questions_are_asked_and_keep_what_is_worse_from_going_live(
    stack: Stack, tmp_path: Path
) -> None:
    stack.add(DOCUMENTS, WORKSPACE)
    stack.settled(2, WORKSPACE)
    file = tmp_path / "golden.csv"
    file.write_text(
        "id,question,facts,documents,unanswerable\n"
        "office,Who leads the Harbour Office?,Ada Marlow,harbour.txt,\n"
        "pay,What does the mayor of Tallinn earn?,,,yes\n",
        "utf-8",
    )
    assert stack.json("golden", "import", str(file), *HERE)["ids"] == ["office", "pay"]
    file.write_text("question,facts\nWho?,\n", "utf-8")
    refused_import = stack.run("golden", "import", str(file), *HERE)
    assert (
        refused_import.returncode == 2 and "line 2: say what must be found" in refused_import.stderr
    )
    run = stack.run("golden", "run", *HERE)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "passed  office" in run.stdout and "2 of 2 passed" in run.stderr

    report = tmp_path / "golden.xml"
    past = stack.run("golden", "run", "--at", "1", "--junit", str(report), "--json", *HERE)
    assert past.returncode == 1
    suite = ElementTree.parse(report).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    half = ("golden", "run", "--at", "1", "--fail-below", "0.5")
    assert stack.run(*half, *HERE).returncode == 0

    with stack.service(WORKSPACE) as service:
        feedback = service.give_feedback("down", "Who grinds barley?", reason="no name").id
    command = ("golden", "add", "--from-feedback", feedback, "--fact", "Celia Stone")
    (id,) = stack.json(*command, *HERE)["ids"]
    entries = {entry["id"]: entry for entry in stack.json("golden", "list", *HERE)}
    assert entries[id]["question"] == "Who grinds barley?" and entries[id]["feedback"] == feedback
    assert entries["office"]["latest"]["passed"]

    with stack.service(WORKSPACE) as service:
        (harbour,) = [
            document.id
            for document in service.all_documents()
            if document.file_path == "harbour.txt"
        ]
        service.delete_documents([harbour])
    stack.settled(1, WORKSPACE)
    kept_rebuild = stack.run("rebuild", "status")
    assert kept_rebuild.returncode == 1, kept_rebuild.stdout + kept_rebuild.stderr
    assert "no longer office: missing fact: Ada Marlow" in kept_rebuild.stderr
    assert stack.run("rebuild", "promote").returncode == 1
    live = stack.json("rebuild", "promote", "--yes")
    # Other tests of this stack may have golden questions of their own.
    (result,) = [result for result in live["golden"] if result["workspace"] == WORKSPACE]
    assert (result["passed_before"], result["passed_again"]) == (2, 1)
    runs = stack.json("golden", "history", *HERE)
    assert [(entry["passed"], entry["before_promotion"]) for entry in runs[:3]] == [
        (2, False),
        (2, True),
        (2, True),
    ]
    assert "nothing is removed" in stack.run("golden", "remove", "office", *HERE).stderr
    assert stack.json("golden", "remove", "office", "--yes", *HERE) == {"removed": "office"}
    assert stack.run("rebuild", "status").returncode == 0
