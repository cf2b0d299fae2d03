"""The mock model of the yardstick in a process of its own, so that nobody who is measured pays for
it.
"""

import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from benchmarks.yardstick.embedding import DIMENSION
from benchmarks.yardstick.model import EMBEDDING_MODEL, MODEL

KEY = "sk-benchmark"


@dataclass(frozen=True)
class Model:
    """A running mock model."""

    address: str

    @property
    def url(self) -> str:
        """The base URL of OpenAI's routes."""
        return f"{self.address}/v1"

    def environment(self) -> dict[str, str]:
        """What a stack of ours needs to use it."""
        return {
            "LLM_BASE_URL": self.url,
            "LLM_MODEL": MODEL,
            "LLM_API_KEY": KEY,
            "EMBEDDING_BASE_URL": self.url,
            "EMBEDDING_MODEL": EMBEDDING_MODEL,
            "EMBEDDING_DIM": str(DIMENSION),
            "EMBEDDING_API_KEY": KEY,
        }

    def stats(self) -> dict[str, Any]:
        """Calls and texts since the last reset."""
        return httpx.get(f"{self.address}/stats", trust_env=False).json()

    def reset(self) -> dict[str, Any]:
        """The counts until now; they begin anew."""
        return httpx.post(f"{self.address}/reset", trust_env=False).json()

    def configure(self, **options: float) -> None:
        """Change its latencies: `chat_latency`, `embedding_latency`, in milliseconds."""
        httpx.post(f"{self.address}/config", json=options, trust_env=False).raise_for_status()


@contextmanager
def mock_model(*flags: str) -> Generator[Model]:
    """A mock model with these flags of `benchmarks.yardstick.model`, stopped in the end."""
    command = [sys.executable, "-m", "benchmarks.yardstick.model", *flags]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield Model(process.stdout.readline().strip())
        finally:
            process.terminate()
