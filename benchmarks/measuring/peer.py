"""LightRAG 1.5.7 behind its own HTTP server, with its files and settings as it ships."""

import os
import subprocess
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from benchmarks.measuring.model import KEY, Model
from benchmarks.measuring.processes import Usages, usage
from benchmarks.measuring.sides import CLIENT, own_usage
from benchmarks.yardstick.documents import Document
from benchmarks.yardstick.embedding import DIMENSION
from benchmarks.yardstick.model import EMBEDDING_MODEL, MODEL
from embedded.processes import free_port
from runtime.models.tokens import CACHE_VARIABLE, install

SERVER = "lightrag-server"
PATIENCE = 3600.0
"""Seconds."""
LOOK = 0.5
"""Seconds between two looks at the counts of documents."""
UNFINISHED = ("pending", "processing", "parsing", "analyzing", "preprocessed")
AS_IT_IS, ONE_CLIENT = "lightrag", "lightrag-one-client"


@dataclass(frozen=True)
class Peer:
    """A running server of LightRAG's."""

    api: str
    folder: Path
    pid: int
    log: Path

    def pids(self) -> dict[str, int]:
        """Of the server."""
        return {SERVER: self.pid}

    def usages(self) -> Usages:
        """What the server used until now, and this process, which is the client."""
        return {CLIENT: own_usage(), SERVER: usage(self.pid)}

    def logs(self) -> str:
        """The end of its log."""
        return self.log.read_text("utf-8", "replace")[-3000:]

    def index(self, documents: Sequence[Document]) -> tuple[float, float]:
        """Add documents in one request and wait: seconds until all are processed, twice, since
        nothing follows.
        """
        with httpx.Client(base_url=self.api, timeout=PATIENCE, trust_env=False) as http:
            before, began = self._counts(http).get("all", 0), time.monotonic()
            body = {
                "texts": [each.text for each in documents],
                "file_sources": [each.name for each in documents],
            }
            http.post("/documents/texts", json=body).raise_for_status()
            while True:
                counts = self._counts(http)
                done = counts.get("all", 0) - sum(counts.get(name, 0) for name in UNFINISHED)
                if done >= before + len(documents) and not self._busy(http):
                    break
                assert time.monotonic() - began < PATIENCE, f"{counts}\n{self.logs()}"
                time.sleep(LOOK)
            seconds = time.monotonic() - began
        assert counts.get("processed") == before + len(documents), f"{counts}\n{self.logs()}"
        return seconds, seconds

    def _counts(self, http: httpx.Client) -> dict[str, int]:
        result = http.get("/documents/status_counts").raise_for_status().json()["status_counts"]
        return {name.lower(): count for name, count in result.items()}

    def _busy(self, http: httpx.Client) -> bool:
        return http.get("/documents/pipeline_status").raise_for_status().json()["busy"]


@contextmanager
def lightrag(
    python: Path, model: Model, folder: Path, *, one_client: bool = False, **env: str
) -> Generator[Peer]:
    """A server with everything it keeps in `folder`, stopped in the end. `env` adds to its
    settings.
    """
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = folder.parent / "vocabulary"  # it would fetch its tokenizer's from the network
    install("o200k_base", vocabulary)
    port = free_port()
    given: dict[str, Any] = {
        **{name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")},
        CACHE_VARIABLE: vocabulary,
        "WORKING_DIR": folder / "data",
        "INPUT_DIR": folder / "inputs",
        "LOG_DIR": folder.parent,
        "HOST": "127.0.0.1",
        "PORT": port,
        "LLM_BINDING": "openai",
        "LLM_MODEL": MODEL,
        "LLM_BINDING_HOST": model.url,
        "LLM_BINDING_API_KEY": KEY,
        "EMBEDDING_BINDING": "openai",
        "EMBEDDING_BINDING_HOST": model.url,
        "EMBEDDING_BINDING_API_KEY": KEY,
        "EMBEDDING_MODEL": EMBEDDING_MODEL,
        "EMBEDDING_DIM": DIMENSION,
        **env,
    }
    log = folder.parent / "lightrag.log"
    script = Path(__file__).with_name("peer_server.py").resolve()
    given |= {"PEER_ONE_CLIENT": 1} if one_client else {}
    with (
        log.open("w") as output,
        subprocess.Popen(
            [str(python), str(script)],
            env={name: str(value) for name, value in given.items()},
            cwd=folder,
            stdout=output,
            stderr=output,
        ) as process,
    ):
        try:
            peer = Peer(f"http://127.0.0.1:{port}", folder, process.pid, log)
            _ready(peer, process)
            yield peer
        finally:
            process.terminate()


def _ready(peer: Peer, process: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + 120
    while True:
        assert process.poll() is None and time.monotonic() < end, peer.logs()
        try:
            if httpx.get(f"{peer.api}/health", trust_env=False).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.2)
