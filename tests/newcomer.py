"""The first ten minutes of a newcomer, from the wheel in `dist`, step by step with a clock:
`python -m tests.newcomer [FOLDER]`, or `make newcomer`.

Everything happens outside of the repository, in an environment that has the wheel alone. A step
that does not show what it should ends it with code 1, as do more than ten minutes.
"""

import json
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import urlopen

from runtime.version import VERSION
from tests.support.package_index import new_environment, run_outside, serving_index

LIMIT = 600.0
"""Seconds that all steps may take together."""

FILES = {
    "harbour.md": "Ada Marsh leads the Harbour Office since 1921. It keeps the tide tables.\n",
    "ferry.md": "The ferry to Grey Island sails from pier 2. Ben Holt is the ferry's captain.\n",
    "empty.md": "",
}
QUESTION = "Who leads the Harbour Office?"
ANSWER = "Ada Marsh leads the Harbour Office"


@dataclass
class Visit:
    """A newcomer at work in a folder of his own."""

    folder: Path
    index: str
    programs: Path = Path()
    api: str = ""
    seconds: dict[str, float] = field(default_factory=dict[str, float])

    def lightstream(self, *arguments: str, code: int = 0) -> str:
        """Return what the installed command prints."""
        return run_outside(self.folder, self.programs / "lightstream", *arguments, code=code)

    def page(self, path: str) -> str:
        """Return a page of the running stack."""
        with urlopen(self.api + path) as answer:
            return answer.read().decode()


def install(visit: Visit) -> str:
    """Install the wheel into an environment that has nothing."""
    visit.programs = new_environment(visit.folder, visit.index, "lightstream-rag[embedded]")
    return _line(visit.lightstream("--version"), f"lightstream {VERSION}")


def first_demo(visit: Visit) -> str:
    """See the demo answer from documents of one's own."""
    text = visit.lightstream("demo", "notes", "--question", QUESTION, code=0)
    return _line(text, ANSWER)


def choose_models(visit: Visit) -> str:
    """Choose to work without a model, which writes a settings file."""
    return _line(visit.lightstream("init", "--provider", "none"), "wrote .env")


def start(visit: Visit) -> str:
    """Start the stack, and open its page."""
    visit.api = json.loads(visit.lightstream("up", "--detach", "--json"))["api"]
    return _line(visit.page("/"), "<title>")


def add(visit: Visit) -> str:
    """Add a folder: what is skipped is named."""
    return _line(visit.lightstream("add", "notes", "--wait"), "skipped empty.md: empty")


def ask(visit: Visit) -> str:
    """Ask, and read a cited answer."""
    text = visit.lightstream("ask", QUESTION)
    assert "harbour.md" in text.partition("Sources:")[2], text
    return _line(text, ANSWER)


def read_the_manual(visit: Visit) -> str:
    """Find a page in the manual that the stack serves."""
    assert "<title>" in visit.page("/manual/")
    return _line(visit.page("/manual/docs/operations/"), "<title>")


def delete_and_undo(visit: Visit) -> str:
    """Delete a document, and take that back."""
    visit.lightstream("delete", "ferry.md", "--yes")
    deletions = [
        event
        for line in visit.lightstream("log", "--document", "ferry.md", "--json").splitlines()
        if (event := json.loads(line))["type"].endswith("DocumentDeleted")
    ]
    return _line(visit.lightstream("undo", str(deletions[-1]["sequence"]), "--yes"), "undo")


def examine(visit: Visit) -> str:
    """Have everything examined."""
    text = visit.lightstream("doctor")
    assert "missing" not in text, text
    return text.splitlines()[-1]


def stop(visit: Visit) -> str:
    """Stop the stack."""
    return _line(visit.lightstream("down"), "is stopped")


STEPS: tuple[Callable[[Visit], str], ...] = (
    install,
    first_demo,
    choose_models,
    start,
    add,
    ask,
    read_the_manual,
    delete_and_undo,
    examine,
    stop,
)


def _line(text: str, expected: str) -> str:
    """Return the first line with the expected words. Raises AssertionError with the text."""
    lines = [line.strip() for line in text.splitlines() if expected in line]
    assert lines, f"{expected!r} is not in:\n{text}"
    return re.sub(r"<.*?>", "", lines[0])[:72] or lines[0][:72]


def walk(folder: Path, release: list[Path]) -> float:
    """Take all steps in the folder, print each with its seconds, and return their sum."""
    (folder / "notes").mkdir()
    for name, text in FILES.items():
        (folder / "notes" / name).write_text(text)
    with serving_index(release) as index:
        visit = Visit(folder, index)
        try:
            for step in STEPS:
                since = time.monotonic()
                seen = step(visit)
                visit.seconds[step.__name__] = time.monotonic() - since
                name = step.__name__.replace("_", " ")
                sys.stdout.write(f"{visit.seconds[step.__name__]:7.1f} s  {name:<16}  {seen}\n")
                sys.stdout.flush()
        finally:
            if visit.programs != Path():
                visit.lightstream("down")
    return sum(visit.seconds.values())


def main(dist: str = "dist") -> int:
    """Return the exit code."""
    release = sorted(Path(dist).resolve().glob("*"))
    with TemporaryDirectory(prefix="newcomer-") as folder:
        try:
            seconds = walk(Path(folder), release)
        except AssertionError as failure:
            sys.stderr.write(f"{failure}\n")
            return 1
    sys.stdout.write(f"{seconds:7.1f} s  in all, {LIMIT:.0f} are allowed\n")
    return int(seconds > LIMIT)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
