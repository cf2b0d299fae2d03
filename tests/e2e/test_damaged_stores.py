"""A store that cannot open its data is named with the way out, and made anew; a rebuild outlives
its servers' ends.
"""

import os
import shutil
import subprocess
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from embedded.servers.milvus_lite import DATABASE
from embedded.stores import GRAPH, VECTORS
from tests.support import commands
from tests.support.corpus import documents
from tests.support.stack import Stack, environment, running, until
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.nightly  # a lost store: test_rebuild.py

COUNT = 20
FILES = {
    "documents": Path("documents", "documents.db"),
    "graph": Path(GRAPH.name, GRAPH.file),
    "vectors": Path(VECTORS.name, VECTORS.file),
}


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Generator[Stack]:
    with running(tmp_path_factory.mktemp("damaged") / "data") as stack:
        yield stack


@pytest.fixture(scope="module")
def before(stack: Stack) -> dict[str, Any]:
    stack.add(documents(COUNT))
    assert stack.settled(COUNT)["processed"] == COUNT
    return stack.digest()


def halve(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def test_a_rebuild_goes_on_when_its_servers_are_started_again(
    stack: Stack, before: dict[str, Any]
) -> None:
    command = [*commands.beginning(), "rebuild", "all", "--data", str(stack.folder)]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(stack.env),
    ) as rebuild:
        assert rebuild.stderr is not None
        step = rebuild.stderr.readline()
        assert step.startswith("  events"), step
        for victim in ("merger", "indexer", "nats-server"):
            stack.kill(victim)
        _, errors = rebuild.communicate(timeout=PATIENCE)
        assert rebuild.returncode == 0, f"{errors}\n{stack.logs()}"
    until(lambda: stack.run("doctor").returncode == 0, stack.logs)
    assert stack.digest() == before


@pytest.mark.parametrize("store", FILES)
def test_a_store_halved_while_nothing_runs_is_named_and_made_anew(
    stack: Stack, before: dict[str, Any], store: str
) -> None:
    stack.down()
    halve(stack.folder / FILES[store])
    target = {"documents": "all"}.get(store, store)
    way_out = f"lightstream rebuild {target} --fresh --data {stack.folder}"

    failed = stack.run("up", "--detach")
    assert failed.returncode == 1
    assert f"{stack.folder / store} are damaged" in failed.stderr
    assert way_out in failed.stderr
    examined = stack.run("doctor")
    assert (examined.returncode, way_out in examined.stdout) == (1, True)

    outcome = stack.json("rebuild", target, "--fresh")

    aside = [Path(path) for path in outcome["aside"]]
    assert {path.name.partition(".")[0] for path in aside} == (
        {"documents", "graph", "vectors"} if target == "all" else {store}
    )
    assert all(path.is_dir() for path in aside)
    assert stack.digest() == before
    # The services look at their stores every five seconds; until then they still report what they
    # found before.
    until(lambda: stack.run("doctor").returncode == 0, lambda: stack.run("doctor").stdout)
    back = stack.run("rebuild", target, "--rollback")
    assert (back.returncode, "no previous generation" in back.stderr) == (2, True)
    for path in aside:
        shutil.rmtree(path)


def test_milvus_lite_stays_where_it_is_until_the_stack_is_down(tmp_path: Path) -> None:
    file = Path("vectors", DATABASE)
    with running(tmp_path / "data", "--vectors", "milvus") as stack:
        stack.add(documents(COUNT))
        assert stack.settled(COUNT)["processed"] == COUNT
        digest = stack.digest()
        halve(stack.folder / file)
        stack.kill("milvus-lite")
        way_out = f"lightstream rebuild vectors --fresh --data {stack.folder}"
        until(lambda: way_out in stack.run("doctor").stdout, stack.logs)
        assert way_out in (stack.folder / "supervisor.log").read_text("utf-8")
        stack.json("rebuild", "vectors", "--fresh")
        assert stack.digest() == digest
        assert "milvus-lite" in stack.state.children
        until(lambda: stack.run("doctor").returncode == 0, stack.logs)
        refusal = stack.run("up", "--vectors", "sqlite", "--detach")
        assert (refusal.returncode, "rebuild vectors --fresh" in refusal.stderr) == (2, True)

        stack.down()
        stack.json("rebuild", "vectors", "--fresh")
        assert stack.digest() == digest
        assert "milvus-lite" not in stack.state.children
        assert not (stack.folder / file).exists()
        until(lambda: stack.run("doctor").returncode == 0, stack.logs)


def test_only_a_store_of_its_own_is_emptied(stack: Stack, before: dict[str, Any]) -> None:
    for command in (["status", "--fresh"], ["graph", "--fresh", "--rollback"]):
        refusal = stack.run("rebuild", *command)
        assert refusal.returncode == 2, refusal.stdout
    assert stack.digest() == before
