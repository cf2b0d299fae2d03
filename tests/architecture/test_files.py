"""Nothing in the repository depends on the machine it was written on, and every requirement is
pinned by its hash.
"""

import re
from pathlib import Path

import pytest

from tests.architecture.sources import REPOSITORY, of_the_project, shown

LOCKS = sorted((REPOSITORY / "requirements").glob("*.lock.txt"))

HOSTS_AND_PATHS = re.compile(
    rb"pypi\.org|python[h]osted|npmjs\.(org|com)|debian\.org|maven\.org|crates\.io|proxy\.golang"
    rb"|/[w]ork/|/[t]mp/[a-z]+/|/[r]oot/"
)
"""Addresses of package registries, and folders that only the author's machine has. Brackets keep
this file clean.
"""

HOST = re.compile(r"https?://|--find-links|index-url|@ file:")


def requirements(text: str) -> dict[str, int]:
    """Requirement → number of hashes, of a lock file."""
    text_joined = text.replace("\\\n", " ")
    lines = [
        line
        for line in text_joined.splitlines()
        if line.strip() and not line.lstrip().startswith("#")
    ]
    return {line.split()[0]: line.count("--hash=sha256:") for line in lines}


def named(content: bytes) -> list[bytes]:
    """The registries and machine paths a file names; a binary file names none."""
    return (
        []
        if b"\0" in content[:8000]
        else [result.group() for result in HOSTS_AND_PATHS.finditer(content)]
    )


def test_there_are_lock_files() -> None:
    assert {path.name for path in LOCKS} >= {
        "bootstrap.lock.txt",
        "embedded.lock.txt",
        "dev.lock.txt",
    }


@pytest.mark.parametrize("path", LOCKS, ids=shown)
def test_a_lock_file_names_no_host_and_every_requirement_has_hashes(path: Path) -> None:
    text = path.read_text("utf-8")
    assert HOST.findall(text) == []
    result = requirements(text)
    assert result
    assert [
        name
        for name, hashes in result.items()
        if not hashes or not re.match(r"[\w.\[\]-]+==", name)
    ] == []


def test_no_file_names_a_registry_or_a_path_of_one_machine() -> None:
    files = of_the_project()
    assert REPOSITORY / "pyproject.toml" in files
    assert {shown(path): names for path in files if (names := named(path.read_bytes()))} == {}


def test_what_must_not_be_named_is_found() -> None:
    assert named(b"see https://py" + b"pi.org/simple") == [b"py" + b"pi.org"]
    assert named(b"cd /wo" + b"rk/main; ls /tm" + b"p/build/x") == [
        b"/wo" + b"rk/",
        b"/tm" + b"p/build/",
    ]
    assert named(b"\0see https://py" + b"pi.org/simple") == []
    assert HOST.findall("--extra-index-url http://127.0.0.1/simple") == ["index-url", "http://"]
    assert requirements("a==1 \\\n    --hash=sha256:0\n# via x\nb==2\n") == {"a==1": 1, "b==2": 0}
