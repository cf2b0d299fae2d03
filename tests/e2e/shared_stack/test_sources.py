"""A folder and a Git repository kept in step with a running stack by command."""

from pathlib import Path

from dulwich import porcelain

from tests.support.stack import Stack

WORKSPACE = "sources"
HERE = ("--workspace", WORKSPACE)
AUTHOR = b"Ada <ada@example.org>"


def test_sources_change_and_answers_with_them(stack: Stack, tmp_path: Path) -> None:
    folder = tmp_path / "minutes"
    root = tmp_path / "port"
    folder.mkdir()
    for name in "abc":
        (folder / f"{name}.txt").write_text(f"Celia Stone repaired crane {name}.", "utf-8")
    (folder / "office.txt").write_text("Ada Marlow leads the Harbour Office.", "utf-8")
    repository = porcelain.init(str(root))

    def commit(text: str) -> None:
        (root / "ferry.md").write_text(text, "utf-8")
        porcelain.add(repository, [str(root / "ferry.md")])
        porcelain.commit(repository, message=b"more", author=AUTHOR, committer=AUTHOR)

    commit("Ivo Kern built the ferry Lark.")
    addresses = (folder.as_uri(), f"git+{root.as_uri()}")
    first = stack.json("sync", *addresses, "--reason", "a first run", *HERE)
    assert [len(outcome["additions"]) for outcome in first] == [4, 1]
    stack.settled(5, WORKSPACE)

    (folder / "office.txt").write_text("Olga Finch leads the Harbour Office.", "utf-8")
    (folder / "c.txt").unlink()
    commit("Nora Pike built the ferry Lark.")
    second = stack.json("sync", *HERE)
    assert [outcome["additions"] for outcome in second] == [
        ["minutes/office.txt"],
        ["port/ferry.md"],
    ]
    assert second[0]["deletions"] == ["minutes/c.txt"]
    stack.settled(4, WORKSPACE)
    answer = stack.run("ask", "Who leads the Harbour Office?", *HERE)
    assert "Olga Finch" in answer.stdout and "Ada Marlow" not in answer.stdout

    for name in "ab":
        (folder / f"{name}.txt").unlink()
    braked = stack.run("sync", addresses[0], *HERE)
    assert (braked.returncode, stack.counts(WORKSPACE)["all"]) == (1, 4)
    assert "kept until --yes is given" in braked.stderr
    listed = {source["source"]: source for source in stack.json("sources", "list", *HERE)}
    assert listed[addresses[0]]["kept"] == 2
    paused = stack.json("sources", "pause", str(folder), *HERE)
    assert paused == {"source": addresses[0], "state": "paused", "before": "active"}
    assert len(stack.json("sync", *HERE)) == 1
    stack.json("sources", "resume", addresses[0], *HERE)
    assert len(stack.json("sync", addresses[0], "--yes", *HERE)[0]["deletions"]) == 2
    stack.settled(2, WORKSPACE)
