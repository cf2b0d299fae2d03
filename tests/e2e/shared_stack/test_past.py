"""History, differences and undoing by command, on a running stack."""

from runtime.bus.nats.connection import connected
from runtime.bus.nats.key_values import NatsLiveGenerations
from runtime.bus.nats.log import NatsLog
from runtime.stores.open import open_documents
from services.query.adapters.contributions import RowContributions
from services.query.past.stored_present import StoredPresent
from tests.support.past_reading import assert_same_past
from tests.support.stack import Stack, until

WORKSPACE = "past"
HERE = ("--workspace", WORKSPACE)
FIRST = {"light.txt": "Ada Marlow kept the light of Port Elm. Ada Marlow wrote to Bert Fjell."}
SECOND = {"letters.txt": "Celia Stone answered Ada Marlow from Tide Mill."}


def place(stack: Stack) -> int:
    """The sequence of the workspace's newest event."""
    return stack.json("diff", "0", *HERE)["to_sequence"]


def find_and_read(stack: Stack, before: int) -> None:
    """Find a name to the letter, read its passage, and see how two entities are connected: now, and
    before the letters came.
    """
    files = [
        passage["file_path"] for passage in stack.json("find", "ada marlow", *HERE)["passages"]
    ]
    assert sorted(files) == ["letters.txt", "light.txt"]
    found_lines = stack.run("find", "Ada Marlow", *HERE)
    assert "letters.txt" in found_lines.stdout and "Ada Marlow" in found_lines.stdout
    passages = stack.json("find", "Ada Marlow", "--as-of", str(before), *HERE)["passages"]
    assert [passage["file_path"] for passage in passages] == ["light.txt"]
    chunk = passages[0]["chunk_id"]
    assert "Ada Marlow" in stack.run("read", chunk, "--as-of", str(before), *HERE).stdout
    ends = ("paths", "Ada Marlow", "Celia Stone")
    assert stack.json(*ends, *HERE)["length"] in (1, 2, 3, 4)
    assert "Ada Marlow" in stack.run(*ends, *HERE).stdout
    outcome = stack.run(*ends, "--as-of", str(before), *HERE)
    assert outcome.returncode == 2 and "Celia Stone" in outcome.stderr


def test_what_was_done_is_shown_and_taken_back(stack: Stack) -> None:
    stack.add(FIRST, WORKSPACE)
    assert stack.settled(1, WORKSPACE)["processed"] == 1
    before, early = place(stack), stack.digest(WORKSPACE)
    stack.add(SECOND, WORKSPACE)
    assert stack.settled(2, WORKSPACE)["processed"] == 2
    difference = stack.json("diff", str(before), *HERE)
    assert [(document["id"] != "", document["change"]) for document in difference["documents"]] == [
        (True, "appeared")
    ]
    assert "Celia Stone" in {
        entity["name"] for entity in difference["entities"] if entity["change"] == "appeared"
    }
    history = stack.json("history", "Ada Marlow", *HERE)
    assert history["exists"] and {event["file_path"] for event in history["events"]} == {
        "light.txt",
        "letters.txt",
    }
    assert all(event["chunk_id"] and event["effect"] == "counts" for event in history["events"])
    assert "letters.txt" in stack.run("history", "Ada Marlow", *HERE).stdout

    question = ("ask", "Who answered Ada Marlow from Tide Mill?", *HERE)
    sources = {
        reference["file_path"]
        for reference in stack.json(*question, "--as-of", str(before))["references"]
    }
    assert sources <= {"light.txt"}
    assert "letters.txt" in {
        reference["file_path"] for reference in stack.json(*question)["references"]
    }

    find_and_read(stack, before)

    digest = stack.digest(WORKSPACE)
    with stack.service(WORKSPACE) as service:
        service.delete_entity("Ada Marlow")
    until(lambda: stack.digest(WORKSPACE)["graph"] != digest["graph"], stack.logs)
    edit = stack.json("history", "Ada Marlow", *HERE)["events"][-1]
    assert edit["operation"] == "delete_entity"
    assert stack.json("undo", str(edit["sequence"]), *HERE)["published"] is False
    assert stack.json("undo", str(edit["sequence"]), "--yes", "--reason", "she is real", *HERE)[
        "published"
    ]
    until(lambda: stack.digest(WORKSPACE) == digest, stack.logs)

    stack.json("delete", "letters.txt", "--yes", "--wait", *HERE)
    deletion = stack.json("history", "Celia Stone", *HERE)["events"][-1]
    assert (deletion["type"], deletion["file_path"]) == ("DocumentDeleted", "letters.txt")
    outcome = stack.json("undo", str(deletion["sequence"]), "--yes", *HERE)
    assert outcome["event_type"] == "DocumentAdded"
    until(lambda: stack.digest(WORKSPACE) == digest, stack.logs)
    digest = stack.json("digest", "--as-of", str(before), *HERE)
    assert {**digest, "sequence": None} == {**early, "sequence": None} and digest[
        "sequence"
    ] == before
    checked = stack.json("rebuild", "check", *HERE)
    assert all(digest["same"] for digest in checked["digests"].values())
    again = stack.run("undo", str(deletion["sequence"]), "--yes", *HERE)
    assert (again.returncode, "again since" in again.stderr) == (2, True)


def test_what_happened_since_a_place_is_undone_by_one_command(stack: Stack) -> None:
    workspace = "since"
    here = ("--workspace", workspace)
    stack.add({**FIRST, **SECOND}, workspace)
    stack.settled(2, workspace)
    digest = stack.digest(workspace)
    place = stack.json("diff", "0", *here)["to_sequence"]
    with stack.service(workspace) as service:
        service.delete_entity("Ada Marlow")
    stack.json("delete", "letters.txt", "--yes", "--wait", *here)
    planned = stack.run("undo", "--since", str(place), *here)
    assert "nothing is published without --yes" in planned.stderr
    undone = stack.json("undo", "--since", str(place), "--yes", *here)
    assert {event["type"] for event in undone["undone"]} == {"GraphEdited", "DocumentDeleted"}
    until(lambda: stack.digest(workspace) == digest, stack.logs)
    assert stack.run("undo", *here).returncode == 2


async def test_the_past_that_is_read_from_the_present_is_that_of_the_log(stack: Stack) -> None:
    workspace = "present"
    stack.add({**FIRST, "tide.txt": "Bert Fjell built Tide Mill."}, workspace)
    stack.settled(2, workspace)
    stack.add({"light.txt": "Celia Stone bought the light of Port Elm."}, workspace)
    stack.add(SECOND, workspace)
    stack.settled(3, workspace)
    stack.json("delete", "tide.txt", "--yes", "--wait", "--workspace", workspace)
    stack.settled(2, workspace)
    settings = stack.settings
    rows = open_documents(settings)
    async with connected(settings.nats_url, name="test") as client:
        jetstream = client.jetstream(timeout=5)
        log = NatsLog(jetstream)
        pointers = await NatsLiveGenerations.bind(jetstream)
        present = StoredPresent(log, rows, RowContributions(rows), pointers)
        places = [message.sequence async for message in log.history(workspace, None, "*")]
        for sequence in places:
            await assert_same_past(present, log, workspace, sequence)
    await rows.close()
