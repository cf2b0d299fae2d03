"""Makes the data folder that a program of an older schema leaves: `python -m
tests.support.older_folders.make`.

Its arguments are the version of the schema, and a work tree of that program (`git worktree add TREE
COMMIT`), whose packages this environment has. Schema 1 was made by 8a933d1c, 2 by 8d0ae884, 3 by
30fad225, 4 by 216b4181, 5 by 903d3042, 6 by 4f130437, 7 by 125822ba.
"""

import os
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.support import language_model
from tests.support.corpus import documents
from tests.support.language_model import LanguageModel, serving
from tests.support.older_folders import ADDED, ARCHIVE, DIMENSION, LATE

COMMAND = "import sys; sys.argv[0] = 'lightstream'; from cli import main; main()"
SETTLED = 10.0
"""Seconds in which an older program surely makes its summaries."""

UPDATE = " The Ferry Guild of Port Elm was founded that year."
LEFT_OUT = ("*.log", "*.log.*", "*.jsonl", "*.lock")


@dataclass
class OlderStack:
    """The stack of an older program in a folder."""

    tree: Path
    folder: Path
    model: LanguageModel

    def give(self, *arguments: str, required: bool = True) -> None:
        """Give a command of that program."""
        names = ("OPENAI_", "LLM_", "EMBEDDING_")
        clean = {name: value for name, value in os.environ.items() if not name.startswith(names)}
        path = os.pathsep.join([str(self.tree), *filter(None, [os.environ.get("PYTHONPATH")])])
        env = {
            **clean,
            **self.model.environment(),
            "SUMMARY_QUIET_SECONDS": "0.5",
            "LLM_MAX_ASYNC": "1",
        }
        command = [
            sys.executable,
            "-W",
            "ignore",
            "-c",
            COMMAND,
            *arguments,
            "--data",
            str(self.folder / "data"),
        ]
        outcome = subprocess.run(
            command, env={**env, "PYTHONPATH": path}, cwd=self.folder, check=False
        )
        if outcome.returncode and required:
            raise SystemExit(f"{arguments} ended with code {outcome.returncode}")

    def files(self, names: list[str], update: str = "") -> list[str]:
        """Write these documents and return their paths."""
        texts = documents(ADDED + LATE)
        place = self.folder / "files"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        for name in names:
            (place / name).write_text(texts[name] + update, "utf-8")
        return [str(place / name) for name in names]

    def live(self) -> None:
        """Add, update and delete documents, and stop in the middle of the last ones' extraction."""
        names = list(documents(ADDED + LATE))
        self.give("up", "--detach")
        try:
            self.give("add", *self.files(names[:ADDED]), "--wait")
            self.give("add", *self.files(names[:2], UPDATE), "--wait")
            for options in (
                [],
                ["--yes"],
            ):  # programs before schema 2 cannot delete, later ones ask first
                self.give("delete", *names[4:6], *options, required=False)
            time.sleep(SETTLED)
            before, self.model.latency = self.model.calls["extract"], 1.5
            self.give("add", *self.files(names[ADDED:]))
            while self.model.calls["extract"] < before + LATE // 2:
                time.sleep(0.1)
        finally:
            self.give("down")


def clean(folder: Path) -> None:
    """Take the cache of embeddings and free pages out of the database, which are most of it."""
    with sqlite3.connect(folder / "data" / "documents" / "documents.db") as database:
        names = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
        for name in names & {"embeddings", "embeddings_keys", "embeddings_bodies"}:
            database.execute(f"DELETE FROM {name}")
        database.commit()
        database.execute("VACUUM")
    database.close()
    shutil.rmtree(folder / "files")


def main() -> None:
    """Make the folder of one schema, and pack it with those that are there."""
    schema, tree = sys.argv[1:]
    language_model.DIMENSION = DIMENSION
    with tempfile.TemporaryDirectory() as place, serving() as model:
        if ARCHIVE.exists():
            with tarfile.open(ARCHIVE) as archive:
                archive.extractall(place, filter="data")
        folder = Path(place) / schema
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        model.varied = True
        OlderStack(Path(tree).resolve(), folder, model).live()
        clean(folder)
        left_out = [f"--exclude={pattern}" for pattern in LEFT_OUT]
        names = sorted(path.name for path in Path(place).iterdir())
        command = [
            "tar",
            "--create",
            "--xz",
            "--file",
            str(ARCHIVE),
            "--directory",
            place,
            *left_out,
            *names,
        ]
        subprocess.run(command, check=True, env={**os.environ, "XZ_OPT": "-9e"})


if __name__ == "__main__":
    main()
