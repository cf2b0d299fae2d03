"""A branch on a running stack: it follows its origin, answers for it, and leaves nothing."""

from tests.support.stack import Stack

WORKSPACE = "branched"
BRANCH = "branched..short"
HERE = ("--workspace", WORKSPACE)
LONG = "".join(
    f"In {year} Ada Marlow, the clerk of Port Elm, registered {year % 9} ships. "
    for year in range(1800, 1960)
)


def test_a_branch_follows_its_origin_answers_for_it_and_leaves_nothing(stack: Stack) -> None:
    stack.add({"ships.txt": LONG}, WORKSPACE)
    stack.settled(1, WORKSPACE)
    before = stack.digest(WORKSPACE)
    create = ("branch", "create", "short", "--chunk-size", "100")
    refusal = stack.run("branch", "create", "other", "--extract-model", "small-1", *HERE)
    assert refusal.returncode == 2 and "no language model extracts here" in refusal.stderr
    estimate = stack.json(*create, *HERE)
    assert estimate["documents"] == 1 and estimate["chunks"] > 10
    assert stack.json("branch", "list", *HERE) == []

    assert stack.json(*create, "--yes", *HERE)["workspace"] == BRANCH
    stack.settled(1, BRANCH)
    assert stack.digest(WORKSPACE) == before
    status = stack.json("branch", "status", "short", *HERE)
    assert status["status_counts"]["processed"] == 1 and status["cost"]["calls"] == 0
    changes = stack.json("branch", "diff", "short", *HERE)
    assert changes["entities"]["appeared"] + changes["entities"]["changed"] > 0

    stack.add({"late.txt": "Celia Stone grinds barley at Tide Mill."}, WORKSPACE)
    stack.settled(2, BRANCH)
    assert stack.json("golden", "add", "Who grinds barley?", "--document", "late.txt", *HERE)
    assert stack.run("golden", "run", "--branch", "short", *HERE).returncode == 0
    assert stack.json("branch", "promote", "short", *HERE)["promoted"] == "short"
    answer = stack.json("ask", "Who registered ships?", "--mode", "naive", *HERE)
    assert "Ada Marlow" in answer["response"]
    refusal = stack.run("branch", "drop", "short", "--yes", *HERE)
    assert refusal.returncode == 2 and "branch rollback" in refusal.stderr
    assert stack.json("branch", "rollback", *HERE) == {"rolled_back": "short"}

    assert stack.json("branch", "drop", "short", "--yes", *HERE)["events"] > 20
    assert stack.json("branch", "list", *HERE) == []
    assert stack.digest(BRANCH) == stack.digest("never-used")
    again = stack.run(*create, "--yes", *HERE)
    assert again.returncode == 2 and "a name is used once" in again.stderr
    assert stack.run("audit").returncode == 0
