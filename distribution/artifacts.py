"""Checks what a release consists of, before anybody gets it."""

import base64
import hashlib
import tarfile
from collections.abc import Iterator
from csv import reader
from email.parser import Parser
from io import StringIO
from pathlib import Path
from zipfile import ZipFile

from distribution.wheel_tree import PACKAGE

NEEDED = (
    "__main__.py",
    "client.py",
    "cli/main.py",
    "contracts/asyncapi.json",
    "contracts/schemas/DocumentAdded.v1.json",
    "docs/architecture.md",
    "services/gateway/main.py",
    "services/gateway/manual_files/index.html",
    "services/gateway/web_page_files/index.html",
)
"""Files of the package by which one sees that each kind of file is in a wheel."""

COMMANDS = ("lightstream", "lightstream-rag")

MAX_BYTES = 32 * 2**20
"""Of one file; a wheel is 30 MB, of which the reader of answers is 27."""


def faults_of_wheel(path: Path, version: str, repository: Path) -> Iterator[str]:
    """Yield what is wrong with the wheel, a sentence each."""
    if path.stat().st_size > MAX_BYTES:
        yield f"{path.name} has {path.stat().st_size} bytes"
    with ZipFile(path) as wheel:
        names = {name for name in wheel.namelist() if not name.endswith("/")}
        about = f"{PACKAGE}-{version}.dist-info"
        for name in sorted({name.partition("/")[0] for name in names} - {PACKAGE, about}):
            yield f"{path.name} puts {name} into an environment"
        for name in NEEDED:
            if f"{PACKAGE}/{name}" not in names:
                yield f"{path.name} has no {name}"
        contents = {name: wheel.read(name) for name in names}
    yield from _faults_of_metadata(contents, about, version)
    yield from _faults_of_record(contents, f"{about}/RECORD")
    yield from _machine_paths(path.name, contents, repository)


def _faults_of_metadata(contents: dict[str, bytes], about: str, version: str) -> Iterator[str]:
    metadata = Parser().parsestr(contents[f"{about}/METADATA"].decode())
    expected_fields = {
        "Name": "lightstream-rag",
        "Version": version,
        "License-Expression": "MIT",
        "Description-Content-Type": "text/markdown",
    }
    for field, value in expected_fields.items():
        if metadata[field] != value:
            yield f"METADATA has {field}: {metadata[field]}, not {value}"
    if not str(metadata.get_payload()).strip():
        yield "METADATA has no description"
    entries = contents[f"{about}/entry_points.txt"].decode()
    for command in COMMANDS:
        if f"\n{command} = {PACKAGE}." not in entries:
            yield f"the command {command} is missing"


def _faults_of_record(contents: dict[str, bytes], record: str) -> Iterator[str]:
    """Yield what an installer would refuse: files without their hash, or with another."""
    digests = {row[0]: row[1] for row in reader(StringIO(contents[record].decode()))}
    for name, content in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        if name != record and digests.get(name) != f"sha256={digest}":
            yield f"RECORD does not have the hash of {name}"


def faults_of_sdist(path: Path, version: str, repository: Path) -> Iterator[str]:
    """Yield what is wrong with the source distribution, a sentence each."""
    root = f"{PACKAGE}-{version}/"
    with tarfile.open(path) as sources:
        contents = {
            member.name: file.read()
            for member in sources
            if (file := sources.extractfile(member)) is not None
        }
    needed_files = (
        "PKG-INFO",
        "distribution/backend.py",
        "web/package-lock.json",
        "web/src/main.tsx",
    )
    for name in needed_files:
        if root + name not in contents:
            yield f"{path.name} has no {name}"
    if any("/node_modules/" in name for name in contents):
        yield f"{path.name} holds node_modules"
    yield from _machine_paths(path.name, contents, repository)


def _machine_paths(archive: str, contents: dict[str, bytes], repository: Path) -> Iterator[str]:
    for name, content in contents.items():
        if bytes(repository) + b"/" in content:
            yield f"{archive} names the folder {repository} in {name}"


def differences(first: Path, second: Path) -> list[str]:
    """Return the names of files that two wheels do not both have with the same bytes."""
    with ZipFile(first) as left, ZipFile(second) as right:
        left_names = set(left.namelist())
        right_names = set(right.namelist())
        changed_names = {
            name for name in left_names & right_names if left.read(name) != right.read(name)
        }
    return sorted((left_names ^ right_names) | changed_names)
