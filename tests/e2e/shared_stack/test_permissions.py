"""Two groups and a document for one of them, on a running stack: what each of them is told."""

import json

from tests.support.stack import Stack

WORKSPACE = "council"
HERE = ("--workspace", WORKSPACE)
QUESTION = "Who leads the Harbour Office?"
OPEN = "The Harbour Office is in Port Elm."
CLOSED = "Ada Marlow leads the Harbour Office since the vermilion letter."
WORDS = ("marlow", "vermilion", "letter.md")


def answers_for(stack: Stack, group: str) -> str:
    """All that somebody of a group is told about the question, in lower case."""
    headers = {"X-On-Behalf-Of": f"group:{group}"}
    with stack.client(WORKSPACE) as client:
        paths = ("/documents/status_counts", "/graph/label/list", "/graphs?label=*")
        texts = [client.get(path, headers=headers).text for path in paths]
        for path in ("/query", "/query/data"):
            answer = client.post(path, json={"query": QUESTION}, headers=headers)
            assert answer.status_code == 200, answer.text
            texts.append(answer.text)
    return "\n".join(texts).lower()


def past_for(stack: Stack, group: str, position: int) -> str:
    """All that somebody of a group is told of a place of the log, in lower case."""
    headers = {"X-On-Behalf-Of": f"group:{group}"}
    with stack.client(WORKSPACE) as client:
        question = {"query": QUESTION, "as_of": str(position)}
        answers = [client.post("/query/data", json=question, headers=headers)]
        for path in (
            f"/graphs?label=*&as_of={position}",
            f"/passages/search?keyword=office&as_of={position}",
            "/graph/entity/history?name=Harbour Office",
            f"/operations/diff?from=0&to={position}",
        ):
            answers.append(client.get(path, headers=headers))
    assert {answer.status_code for answer in answers} == {200}
    assert all("harbour office" in answer.text.lower() for answer in answers)
    return "\n".join(answer.text for answer in answers[:3] + answers[4:]).lower()


def test_a_document_is_hidden_shown_explained_and_taken_back(stack: Stack) -> None:
    with stack.service(WORKSPACE) as service:
        service.add_text(OPEN, "office.md")
        service.add_text(CLOSED, "letter.md", access={"allow": ["group:council"]})
    stack.settled(2, WORKSPACE)
    assert "marlow" in answers_for(stack, "council")
    assert not any(word in answers_for(stack, "press") for word in WORDS)
    with stack.client(WORKSPACE) as client:
        events = client.get("/events", headers={"X-On-Behalf-Of": "group:press"})
        assert events.status_code == 403
    events_in_lines = stack.run("log", "--json", *HERE).stdout.splitlines()
    position = json.loads(events_in_lines[-1])["sequence"]

    change = stack.json("access", "set", "letter.md", "--allow", "group:press", *HERE)
    assert change["is_new"]
    assert "marlow" in answers_for(stack, "press")
    # Of the time before it sees no more than it could see then.
    assert not any(word in past_for(stack, "press", position) for word in WORDS)
    assert not any(word in answers_for(stack, "council") for word in WORDS)
    assert not any(word in past_for(stack, "council", position) for word in WORDS)
    who = ("access", "explain", "letter.md", "--as", "group:council", *HERE)
    assert stack.run(*who).returncode == 1
    assert stack.json(*who, "--at", str(position))["is_visible"]

    digest = stack.digest(WORKSPACE)
    assert stack.run("rebuild", "status", "--yes").returncode == 0
    assert stack.digest(WORKSPACE) == digest
    assert not any(word in answers_for(stack, "council") for word in WORDS)

    stack.json("access", "set", "letter.md", "--allow", "everyone", *HERE)
    assert "marlow" in answers_for(stack, "council")
    document_access = stack.json("access", "show", "letter.md", *HERE)
    assert document_access["access"] is None and document_access["changed_by"]
