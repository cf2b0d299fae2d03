"""An index of packages on this machine that has our release, and environments that install from it.

What the release requires comes from where this machine's packages come from.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

UV = Path(sys.executable).with_name("uv")

DISTRIBUTION = "lightstream-rag"


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files and prints nothing."""

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""


@contextmanager
def serving_index(release: Iterable[Path]) -> Generator[str]:
    """Give the address of an index that has the wheel and the sources among these files."""
    with TemporaryDirectory(prefix="index-") as root:
        page = Path(root, "simple", DISTRIBUTION)
        page.mkdir(parents=True)
        packages = [path for path in release if path.suffix in {".whl", ".gz"}]
        for path in packages:
            shutil.copy2(path, page)
        links = "".join(f'<a href="{path.name}">{path.name}</a>' for path in packages)
        (page / "index.html").write_text(f"<!DOCTYPE html><html><body>{links}")
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=root))
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/simple"
        finally:
            server.shutdown()
            server.server_close()


def run_outside(folder: Path, *command: str | Path, code: int = 0) -> str:
    """Return what a command prints that is run in the folder, with nothing of the repository
    around it. Raises AssertionError where it ends with another code.
    """
    outer = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    outcome = subprocess.run(
        command, cwd=folder, env=outer, capture_output=True, text=True, timeout=900, check=False
    )
    assert outcome.returncode == code, outcome.stdout + outcome.stderr
    return outcome.stdout + outcome.stderr


def new_environment(folder: Path, index: str, requirement: str) -> Path:
    """Return the programs of a new environment in the folder that has the requirement alone."""
    run_outside(folder, UV, "venv", "--quiet", "--python", sys.executable, folder / "env")
    python = folder / "env/bin/python"
    install = (UV, "pip", "install", "--compile-bytecode", "--python", python)
    run_outside(folder, *install, "--index", index, requirement)
    return folder / "env/bin"
