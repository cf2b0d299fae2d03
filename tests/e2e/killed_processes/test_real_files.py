"""Two hundred files of real prose: all stores agree in the end, also when every service was killed
meanwhile.
"""

import threading
from pathlib import Path
from typing import Any

import pytest

from tests.support import real_texts
from tests.support.stack import Stack, unacknowledged, until

pytestmark = pytest.mark.nightly

VICTIMS = ("chunker", "nats-server", "extractor", "merger", "indexer", "query")


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    folder = tmp_path_factory.mktemp("texts")
    return folder, real_texts.write(folder)


@pytest.fixture(scope="module")
def added(stack: Stack, texts: tuple[Path, int]) -> dict[str, Any]:
    return stack.json("add", str(texts[0]), "--wait", "--workspace", "real-calm")


@pytest.fixture(scope="module")
def undisturbed(stack: Stack, added: dict[str, Any]) -> dict[str, Any]:
    return stack.digest("real-calm")


def test_every_file_is_processed(added: dict[str, Any], texts: tuple[Path, int]) -> None:
    assert texts[1] >= 200
    assert (len(added["added"]), added["refused"], added["skipped"]) == (texts[1], [], [])
    assert [document for document in added["documents"] if document["status"] != "processed"] == []


def test_the_counts_of_the_stores_agree(
    stack: Stack, added: dict[str, Any], undisturbed: dict[str, Any], texts: tuple[Path, int]
) -> None:
    counts = undisturbed["counts"]
    chunks = sum(document["chunks_count"] for document in added["documents"])
    assert counts["status"] == {"documents": texts[1], "chunks": chunks}
    assert counts["vectors"] == {"chunks": chunks, **counts["graph"]}
    assert counts["graph"]["entities"] > texts[1]


def test_an_answer_names_the_file_it_is_from(stack: Stack, added: dict[str, Any]) -> None:
    answer = stack.json("ask", "What is a lambda expression?", "--workspace", "real-calm")
    assert "reference/lambda.rst" in [reference["file_path"] for reference in answer["references"]]


def test_every_service_killed_on_the_way_changes_nothing(
    stack: Stack, undisturbed: dict[str, Any], texts: tuple[Path, int]
) -> None:
    folder, count = texts
    outcome: list[Any] = []
    adding = threading.Thread(
        target=lambda: outcome.append(stack.run("add", str(folder), "--workspace", "real-killed"))
    )
    adding.start()
    for place, victim in enumerate(VICTIMS):
        reached = place * count // (len(VICTIMS) + 2)
        until(
            lambda at=reached, name=victim: processed(stack) >= at and ready(stack, name),
            stack.logs,
        )
        assert processed(stack) < count, f"the kill of {victim} came too late to disturb anything"
        stack.kill(victim)
    adding.join()
    assert outcome[0].returncode == 0, outcome[0].stderr
    assert stack.settled(count, "real-killed")["processed"] == count
    assert stack.digest("real-killed") == undisturbed


def processed(stack: Stack) -> int:
    try:
        return stack.counts("real-killed").get("processed", 0)
    except OSError:
        return -1


def ready(stack: Stack, process: str) -> bool:
    return stack.state.children[process].ready


def test_nothing_is_left_unacknowledged(stack: Stack, undisturbed: dict[str, Any]) -> None:
    until(
        lambda: all(left == (0, 0) for left in unacknowledged(stack).values()),
        lambda: str(unacknowledged(stack)),
    )
