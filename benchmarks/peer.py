"""The same documents indexed by LightRAG and by the embedded stack, with one mock model for both.

    python -m benchmarks.peer --peer-python PYTHON [--count 200] [--latency 0] [--varied] [--steps 5] [--seed 7]

PYTHON is that of a virtual environment with `lightrag-hku==1.5.7`. One after the other, each beginning with an empty
folder and a new model process. The steps: index all documents; add them again; add a long document; change one
paragraph of it; delete a tenth of the documents. LightRAG runs twice: with its own functions for OpenAI's routes, which
open a client for each call, and with one client for all calls (`--one-client`: only so). Prints a table in Markdown.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from runtime.bus.nats.log import NatsLog, connected
from runtime.bus.publisher import delete_document
from runtime.models.tokens import CACHE_VARIABLE, install
from standalone.operations.target import query_client
from tests.support import corpus
from tests.support.language_model import CHAT_MODEL, DIMENSION, EMBEDDING_MODEL, KEY, LanguageModel
from tests.support.stack import Stack, running, unacknowledged, until

Figures = dict[str, float]
Step = Callable[..., Figures]
"""Does `add`, `change` or `delete` to texts or names and returns seconds, CPU seconds, bytes written, MB resident."""

PARAGRAPHS, SENTENCES = 100, 6
"""Of the long document."""

LONG, OURS = "long.txt", "Lightstream"
ROWS = {
    "seconds": ("seconds", 1, 1), "cpu": ("CPU seconds", 1, 1), "chat": ("model calls", 0, 1),
    "embed": ("embedding calls", 0, 1), "texts": ("texts embedded", 0, 1), "written": ("MB written", 1, 1e6),
    "resident": ("MB resident afterwards", 0, 1), "model cpu": ("CPU seconds of the mock model", 1, 1),
    "summarised": ("seconds, summaries included", 1, 1),
}  # fmt: skip
"""Figure → its label, digits, and what it is divided by."""

ONCE = ("resident", "model cpu")
"""Figures of the first step only."""

RESTING = "merger-summaries"
"""The durable that lets things rest before it has them summarised, while all of them are found already."""


def main() -> None:
    """Run all sides and print the table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--peer-python", type=Path, required=True)
    arguments.add_argument("--count", type=int, default=200)
    arguments.add_argument("--latency", type=int, default=0, help="milliseconds of a chat call")
    arguments.add_argument("--varied", action="store_true", help="each passage says something of its own")
    arguments.add_argument("--one-client", action="store_true", help="leave LightRAG's own functions out")
    arguments.add_argument("--steps", type=int, default=5, help="how many of the steps")
    arguments.add_argument("--seed", type=int, default=7)
    asked = arguments.parse_args()
    texts = corpus.documents(asked.count, seed=asked.seed)
    flags = ["--latency", str(asked.latency), *(["--varied"] if asked.varied else [])]
    found: dict[str, dict[str, Figures]] = {}
    left: dict[str, Any] = {}
    for side, opened in sides(asked.peer_python, asked.one_client).items():
        with model(flags) as (url, seen), opened(url) as (step, count):
            found[side] = steps(texts, step, seen, asked.steps)
            left[side] = count()
    print(f"{asked.count} documents, {asked.latency} ms a chat call{', varied' if asked.varied else ''}\n")
    print(table(found, [name for name in ROWS if asked.varied or name != "summarised"]))
    print("\nLeft in the end:", json.dumps(left), flush=True)


def sides(python: Path, one_client: bool) -> dict[str, Callable[[str], Any]]:
    """What opens a side, given the address of the model."""
    own = {} if one_client else {"LightRAG": lambda url: lightrag(python, url, "own")}
    return {**own, "LightRAG, one client": lambda url: lightrag(python, url, "shared"), OURS: lightstream}


def steps(texts: Mapping[str, str], step: Step, seen: Callable[[], Figures], count: int) -> dict[str, Figures]:
    """What each of the first `count` steps took, by its title."""
    before, after = long_document("Captain"), long_document("Captain Zacharias Thorne, once a pilot of Far Holm,")
    gone = list(texts)[::10][: len(texts) // 10]
    todo: dict[str, dict[str, Any]] = {
        f"index {len(texts)} documents": {"do": "add", "texts": dict(texts)},
        "add the same again": {"do": "add", "texts": dict(texts)},
        "add a long document": {"do": "add", "texts": {LONG: before}},
        "change one paragraph of it": {"do": "change", "texts": {LONG: after}},
        f"delete {len(gone)} documents": {"do": "delete", "names": gone},
    }
    found: dict[str, Figures] = {}
    for title, what in list(todo.items())[:count]:
        asked = seen()
        done = step(**what)
        calls = {name: value - asked[name] for name, value in seen().items()}
        found[title] = {**done, **calls, "model cpu": calls.pop("cpu"), "cpu": done["cpu"]}
        print(f"{title}: { {name: round(value, 1) for name, value in found[title].items()} }", file=sys.stderr)
    return found


def long_document(captain: str) -> str:
    """Paragraphs, one of which, in the first third, calls its captain so."""
    parts = [corpus.document(10_000 + number, sentences=SENTENCES) for number in range(PARAGRAPHS)]
    parts[PARAGRAPHS // 3] = parts[PARAGRAPHS // 3].replace("Captain", captain, 1)
    return "\n\n".join(parts)


def table(found: Mapping[str, Mapping[str, Figures]], names: Sequence[str]) -> str:
    """The figures named of every side, and how many times as much as ours each of the others needs."""
    others = [side for side in found if side != OURS]
    heads = ["step", "figure", *found, *(f"{side} / {OURS}" for side in others)]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for number, title in enumerate(found[OURS]):
        for name in names:
            label, digits, unit = ROWS[name]
            figures = {side: round(done[title][name] / unit, digits) for side, done in found.items()}
            ratios = [f"{figures[side] / figures[OURS]:.2f}" if figures[OURS] else "–" for side in others]
            if any(figures.values()) and (number == 0 or name not in ONCE):
                values = [f"{each:.{digits}f}" for each in figures.values()]
                lines.append("| " + " | ".join([title, label, *values, *ratios]) + " |")
    return "\n".join(lines)


@contextmanager
def model(flags: list[str]) -> Generator[tuple[str, Callable[[], Figures]]]:
    """A mock model: its address, and a function that says what it was asked until now."""
    command = [sys.executable, "-m", "benchmarks.peer_model", *flags]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        url = answered(process, None)

        def seen() -> Figures:
            return json.loads(answered(process, ""))

        yield url, seen
        process.communicate()


@contextmanager
def lightrag(python: Path, url: str, client: str) -> Generator[tuple[Step, Callable[[], Any]]]:
    """The peer in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        # Its tokenizer's vocabulary, which it would fetch from the network.
        install("o200k_base", Path(folder) / "vocabulary")
        env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        env |= {CACHE_VARIABLE: f"{folder}/vocabulary", "LOG_DIR": folder}
        command = [
            str(python), str(Path(__file__).with_name("peer_lightrag.py").resolve()), f"{folder}/data", url,
            CHAT_MODEL, EMBEDDING_MODEL, str(DIMENSION), KEY, client,
        ]  # fmt: skip
        with (
            (Path(folder) / "stderr.log").open("w+") as log,
            subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, env=env, cwd=folder
            ) as process,
        ):

            def step(**what: Any) -> Figures:
                answer = answered(process, json.dumps(what))
                assert answer, Path(log.name).read_text()[-3000:]
                return json.loads(answer)

            assert answered(process, None), Path(log.name).read_text()[-3000:]
            yield step, lambda: step(do="count")
            process.communicate()


def answered(process: "subprocess.Popen[str]", line: str | None) -> str:
    """Its next line of output; before that, unless None, a line of input."""
    assert process.stdin and process.stdout
    if line is not None:
        process.stdin.write(line + "\n")
        process.stdin.flush()
    return process.stdout.readline().strip()


@contextmanager
def lightstream_stack(url: str, **more: str) -> Generator[Stack]:
    """An embedded stack that uses the mock model, and has `more` variables."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder) / "data", **{**LanguageModel(url=url).environment(), **more}) as stack,
    ):
        yield stack


@contextmanager
def lightstream(url: str) -> Generator[tuple[Step, Callable[[], Any]]]:
    """An embedded stack with its own processes."""
    with lightstream_stack(url) as stack:

        def step(do: str, texts: Mapping[str, str] | None = None, names: list[str] | None = None) -> Figures:
            before, began = used(stack), time.monotonic()
            if texts:
                stack.add(texts)
            if names:
                asyncio.run(delete(stack, names))
            quiet(stack, but=RESTING)
            seconds = time.monotonic() - began
            quiet(stack)
            after = used(stack)
            spent = {name: after[name] - before[name] for name in ("cpu", "written")}
            done = {"seconds": seconds, "summarised": time.monotonic() - began, "resident": after["resident"]}
            return {**done, **spent}

        yield step, lambda: {**stack.digest()["counts"]["graph"], **stack.counts()}


def quiet(stack: Stack, but: str = "") -> None:
    """Wait until no event is being handled or waits, `but` for this durable: all is found, or nothing is left of it."""
    until(lambda: all(left == (0, 0) or name == but for name, left in unacknowledged(stack).items()), stack.logs, 900)


async def delete(stack: Stack, names: list[str]) -> None:
    """Publish that these documents are deleted."""
    async with (
        connected(stack.settings.nats_url, name="benchmark") as bus,
        query_client(stack.state.api, "default") as client,
    ):
        known = {each.file_path: each.id for each in await client.all_documents()}
        for name in names:
            await delete_document(NatsLog(bus.jetstream()), workspace="default", id=known[name], source="/benchmark")


def used(stack: Stack) -> Figures:
    """What its supervisor and all that descend from it used until now."""
    supervisor = stack.state.supervisor
    assert supervisor
    return used_by(supervisor.pid)


def used_by(pid: int) -> Figures:
    """CPU seconds and bytes written until now, MB resident: of a process and all that descend from it."""
    total = {"cpu": 0.0, "written": 0.0, "resident": 0.0}
    for member in family(pid):
        folder = Path(f"/proc/{member}")
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        total["cpu"] += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
        io = dict(line.split(": ") for line in (folder / "io").read_text().splitlines())
        total["written"] += float(io["write_bytes"])
        total["resident"] += int(fields[21]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    return total


def family(pid: int) -> list[int]:
    """A process and all that descend from it."""
    children = [
        int(each) for task in Path(f"/proc/{pid}/task").iterdir() for each in (task / "children").read_text().split()
    ]
    return [pid, *(each for child in children for each in family(child))]


if __name__ == "__main__":
    main()
