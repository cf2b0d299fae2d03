"""`watch` over a folder: what changes while it runs, what is gone and comes back, Ctrl+C, and going
on.
"""

import json
import signal
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support import commands
from tests.support.stack import Stack, environment, until

WORKSPACE = "watched"
HERE = ("--workspace", WORKSPACE)


class Watch:
    """A running `lightstream watch --json`, and what it has told."""

    def __init__(self, told: Path, errors: Path) -> None:
        self.told, self.errors = told, errors

    def outcomes(self) -> list[dict[str, Any]]:
        """What each look did."""
        text, outcomes = self.told.read_text(), list[dict[str, Any]]()
        while text := text.lstrip():
            outcome, end = json.JSONDecoder().raw_decode(text)
            outcomes.append(outcome)
            text = text[end:]
        return outcomes

    def names(self, field: str) -> list[str]:
        """All names that the looks had in a field."""
        return [Path(name).name for outcome in self.outcomes() for name in outcome[field]]

    def until_told(self, field: str, *names: str) -> None:
        """Wait until the looks had exactly these names in a field, each once."""
        until(lambda: sorted(self.names(field)) == sorted(names), self.errors.read_text)


@contextmanager
def watching(stack: Stack, folder: Path, place: Path) -> Generator[Watch]:
    """Watch a folder, and end it as Ctrl+C does."""
    place.mkdir()
    watch = Watch(place / "told.json", place / "errors.txt")
    command = [*commands.beginning(), "watch", str(folder), "--json", "--data", str(stack.folder)]
    with (
        watch.told.open("wb") as told,
        watch.errors.open("wb") as errors,
        subprocess.Popen([*command, *HERE], stdout=told, stderr=errors, env=environment({})) as run,
    ):
        try:
            yield watch
            run.send_signal(signal.SIGINT)
            assert run.wait(60) == 0, watch.errors.read_text()
        finally:
            run.kill()


def test_a_watched_folder_is_followed_whatever_becomes_of_it(stack: Stack, tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "minutes", tmp_path / "elsewhere"
    folder.mkdir()

    def write(name: str, text: str) -> None:
        (folder / name).write_text(text, "utf-8")

    for name in ("a.md", "b.md", "c.md"):
        write(name, f"Celia Stone repaired crane {name}.")
    (folder / "broken.md").symlink_to("nowhere.md")
    with watching(stack, folder, tmp_path / "first") as watch:
        watch.until_told("additions", "a.md", "b.md", "c.md")
        write("d.md", "Ivo Kern built the ferry Lark.")
        watch.until_told("additions", "a.md", "b.md", "c.md", "d.md")
        (folder / "a.md").rename(folder / "e.md")
        watch.until_told("deletions", "a.md")
        (folder / "b.md").unlink()
        watch.until_told("deletions", "a.md", "b.md")
        stack.json("sources", "pause", str(folder), *HERE)
        write("f.md", "Nora Pike leads the Harbour Office.")
        until(lambda: "is paused" in watch.errors.read_text())
        stack.json("sources", "resume", str(folder), *HERE)
        write("g.md", "Olga Finch leads the Mint.")
        added = ("a.md", "b.md", "c.md", "d.md", "e.md", "f.md", "g.md")
        watch.until_told("additions", *added)
        folder.rename(elsewhere)
        until(lambda: "is it mounted?" in watch.errors.read_text())
        folder.mkdir()
        watch.until_told("kept_documents", "c.md", "d.md", "e.md", "f.md", "g.md")
        folder.rmdir()
        elsewhere.rename(folder)
        write("d.md", "Ivo Kern built the ferry Dove.")
        watch.until_told("additions", *added, "d.md")
    write("h.md", "Hal Grey leads the Lighthouse.")
    with watching(stack, folder, tmp_path / "second") as watch:
        watch.until_told("additions", "h.md")
    assert stack.settled(6, WORKSPACE)["processed"] == 6
