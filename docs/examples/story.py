"""A year of a harbour office, told by commands: two groups, a hidden letter, an amendment, a
receipt that is replayed later, a branch on trial, and an erasure.

RECEIPTS=story=full lightstream up --detach; python story.py [DATA FOLDER], with the address of
another stack than that on port 9621 in LIGHTSTREAM_API_URL. It needs no language model.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from lightstream_rag.client import Lightstream

WORKSPACE = "story"
DOCUMENTS = {
    "tariff.md": (
        "The mooring fee of a boat in Port Elm is twelve shillings a week. "
        "Ada Marlow leads the Harbour Office, which collects the mooring fee."
    ),
    "letter.md": "Ben Holt offered Ada Marlow nine hundred shillings for the old tide gauge.",
    "tariff-amendment.md": (
        "From May on the mooring fee of a boat in Port Elm is ten shillings a week."
    ),
}
FEE = "What is the mooring fee of a boat in Port Elm?"
OFFER = "Who offered shillings for the tide gauge?"


class Story:
    """Gives commands to one stack and shows them with what they say."""

    def __init__(self, data: str, folder: Path) -> None:
        self._data = data
        self._folder = folder

    def run(self, *command: str) -> str:
        """Run a command of `lightstream` and return its output. Ends the story where it fails."""
        sys.stdout.write(f"\n$ lightstream {' '.join(command)}\n")
        place = ("--data", self._data, "--workspace", WORKSPACE)
        program = (sys.executable, "-m", "lightstream_rag", *command, *place)
        result = subprocess.run(  # noqa: S603 - the program is this one
            program, cwd=self._folder, capture_output=True, text=True, check=False
        )
        sys.stdout.write(result.stdout + result.stderr)
        sys.stdout.flush()
        if result.returncode:
            sys.exit(f"`lightstream {command[0]}` ended with code {result.returncode}")
        return result.stdout

    def ask(self, question: str, *principals: str) -> Any:
        """Ask for people who see what these principals see; without any, for who sees all. The
        answer waits for all that has been done up to now.
        """
        position = time.time_ns() // 1000
        with Lightstream(workspace=WORKSPACE, on_behalf_of=principals) as client:
            answer = client.query(question, min_position=position)
        asker = ", ".join(principals) or "everything seen"
        sys.stdout.write(f"\n{question} ({asker})\n{answer.response}\n")
        return answer

    def add(self, name: str, *options: str) -> str:
        """Add a document, wait until it can be asked about, and return its id."""
        (self._folder / name).write_text(DOCUMENTS[name], "utf-8")
        self.run("add", name, "--wait", *options)
        with Lightstream(workspace=WORKSPACE) as client:
            (document,) = (item for item in client.all_documents() if item.file_path == name)
        return document.id


def tell(story: Story) -> None:
    """Tell it."""
    chapter("A letter that only the council may see")
    tariff = story.add("tariff.md")
    story.add("letter.md", "--allow", "group:council")
    story.ask(OFFER, "user:ann", "group:council")
    story.ask(OFFER, "user:bo", "group:press")
    story.run("access", "explain", "letter.md", "--as", "group:council")

    chapter("An answer with a receipt, and what must be found")
    answer = story.ask(FEE)
    story.run("golden", "add", FEE, "--fact", "shillings a week", "--document", "tariff.md")
    story.run("golden", "add", "How deep is the harbour of Port Elm?", "--unanswerable")
    story.run("golden", "run")

    chapter("An amendment, proposed by its name and accepted by a person")
    amendment = story.add("tariff-amendment.md")
    story.run("validity", "propose")
    story.run("validity", "accept", amendment, tariff, "--reason", "resolution 12")
    story.ask(FEE)

    chapter("A year later: what was the first answer, and on what did it rest?")
    story.run("receipts", "replay", answer.receipt)

    chapter("Would shorter chunks do better?")
    story.run("branch", "create", "short", "--chunk-size", "20", "--yes", "--wait")
    story.run("branch", "status", "short")
    story.run("branch", "diff", "short", "--questions")
    story.run("branch", "promote", "short")
    story.ask(FEE)
    story.run("branch", "rollback")

    chapter("The letter is erased")
    story.run("erase", "letter.md", "--yes", "--reason", "asked for by its writer")
    story.ask(OFFER, "user:ann", "group:council")
    story.run("receipts", "verify")


def chapter(title: str) -> None:
    """Begin a chapter."""
    sys.stdout.write(f"\n\n{title}\n{'=' * len(title)}\n")


if __name__ == "__main__":
    data_folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".lightstream").resolve()
    with tempfile.TemporaryDirectory() as working_folder:
        tell(Story(str(data_folder), Path(working_folder)))
