"""Data folders that cannot be used: every command ends with a sentence with the place, the cause
and a way out.
"""

import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from embedded.data_folder import STATE_FILE, DataFolder, StackState
from tests.support import commands
from tests.support.small_disk import fill, small_disk

COMMANDS = (
    ["up"],
    ["up", "--detach"],
    ["down"],
    ["doctor"],
    ["status"],
    ["add", "README.md"],
    ["rebuild", "graph"],
)


def give(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Give a command on the data folder."""
    command = [*commands.beginning(), *arguments, "--data", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


@contextmanager
def read_only(tmp_path: Path) -> Generator[Path]:
    """A data folder of a stopped stack, on a file system that has become read-only."""
    with small_disk(tmp_path / "disk", 8) as disk:
        folder = DataFolder(disk / "data")
        with folder.lock():
            folder.write(StackState())
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        yield folder.path


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_read_only_folder_ends_no_command_with_a_traceback(
    tmp_path: Path, command: list[str]
) -> None:
    with read_only(tmp_path) as folder:
        process = give(folder, *command)
    assert "Traceback" not in process.stdout + process.stderr
    if command[0] == "down":
        assert (process.returncode, "no stack was running" in process.stdout) == (0, True)
    elif command[0] == "up":
        assert process.returncode == 1
        assert f"{folder}/" in process.stderr
        assert (
            "its file system is read-only; make it writable, or choose another folder with --data"
            in process.stderr
        )
    else:
        assert process.returncode == (1 if command[0] == "doctor" else 3)


@pytest.mark.parametrize("command", [["up"], ["up", "--detach"]], ids=" ".join)
def test_a_disk_without_space_ends_a_start_with_a_sentence(
    tmp_path: Path, command: list[str]
) -> None:
    with small_disk(tmp_path / "disk", 4) as disk:
        (disk / "data").mkdir(mode=0o700)
        fill(disk)
        process = give(disk / "data", *command)
    assert process.returncode == 1
    assert "Traceback" not in process.stdout + process.stderr
    assert "no space is left there" in process.stderr


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("place", ["above", "bus", STATE_FILE])
def test_a_file_in_the_place_of_a_folder_and_the_other_way_round_are_named(
    tmp_path: Path, command: list[str], place: str
) -> None:
    folder = tmp_path / "notes" / "data"
    if place == "above":
        folder.parent.write_text("a file")
    else:
        folder.mkdir(parents=True, mode=0o700)
    if place == "bus":
        (folder / place).write_text("a file")
    if place == STATE_FILE:
        (folder / place).mkdir()
    process = give(folder, *command)
    assert "Traceback" not in process.stdout + process.stderr
    if command[0] == "up":
        assert process.returncode == 1
        assert "--data" in process.stderr
        assert (
            "is a file" in process.stderr
            or "there is a" in process.stderr
            or "a part of this path" in process.stderr
        )
