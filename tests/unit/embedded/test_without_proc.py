"""Whatever reads /proc has another way, or does without, where there is none, as on macOS."""

import json
import os
import subprocess
import sys

from tests.architecture.sources import REPOSITORY

SCRIPT = """
import json, os
from embedded.data_folder import StackState
from embedded.environment import stack_environment
from embedded.fork_server import has_threads
from embedded.orphans import ProcessIdentity, runs_in
from offline.embeddings.minilm import multiplies_signed_bytes
from operations.doctor.machine import _available_memory
from pathlib import Path
from runtime.projections.rebuild_lease import _machine
me = ProcessIdentity.of(os.getpid())
print(json.dumps({
    "proc": os.path.exists("/proc"),
    "alive": me.alive,
    "another": ProcessIdentity(me.pid, me.started - 1).alive,
    "runs here": runs_in(me, Path.cwd()),
    "may fork": not has_threads(),
    "memory": _available_memory(),
    "machine": _machine(),
    "own environment": stack_environment(StackState()) is os.environ,
    "signed": multiplies_signed_bytes() in (True, False),
}))
"""


def test_what_reads_proc_does_without_it() -> None:
    hiding = REPOSITORY / "tests/support/without_proc"
    environ = {**os.environ, "PYTHONPATH": f"{hiding}{os.pathsep}{REPOSITORY}"}
    process = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, env=environ
    )
    assert json.loads(process.stdout) == {
        "proc": False,
        "alive": True,
        "another": False,
        "runs here": True,
        "may fork": False,
        "memory": None,
        "machine": "",
        "own environment": True,
        "signed": True,
    }
