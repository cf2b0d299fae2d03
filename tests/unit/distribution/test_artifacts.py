"""The checks of a release, each shown a wheel that has its fault."""

import base64
import hashlib
from pathlib import Path
from zipfile import ZipFile

import pytest

from distribution.artifacts import NEEDED, differences, faults_of_wheel
from distribution.wheel_tree import PACKAGE

ABOUT = f"{PACKAGE}-1.0.0.dist-info"
METADATA = """Metadata-Version: 2.4
Name: lightstream-rag
Version: 1.0.0
License-Expression: MIT
Description-Content-Type: text/markdown

# Lightstream
"""
ENTRIES = f"""[console_scripts]
lightstream = {PACKAGE}.__main__:main
lightstream-rag = {PACKAGE}.__main__:main
"""


def wheel(folder: Path, changes: dict[str, str | None], is_recorded: bool = True) -> Path:
    """A wheel without a fault but for these contents; None leaves the file out."""
    contents: dict[str, str | None] = {f"{PACKAGE}/{name}": name for name in NEEDED}
    contents |= {f"{ABOUT}/METADATA": METADATA, f"{ABOUT}/entry_points.txt": ENTRIES, **changes}
    lines: list[str] = []
    path = folder / "some.whl"
    with ZipFile(path, "w") as archive:
        for name, text in contents.items():
            if text is not None:
                archive.writestr(name, text)
                digest = hashlib.sha256((text if is_recorded else "else").encode()).digest()
                encoded_digest = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
                lines.append(f"{name},sha256={encoded_digest},{len(text)}\n")
        archive.writestr(f"{ABOUT}/RECORD", "".join(lines))
    return path


def faults(path: Path) -> list[str]:
    return list(faults_of_wheel(path, "1.0.0", Path("/home/ada/lightstream")))


def test_a_wheel_with_all_it_needs_has_no_fault(tmp_path: Path) -> None:
    assert faults(wheel(tmp_path, {})) == []


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("cli/__init__.py", "", "some.whl puts cli into an environment"),
        (
            f"{PACKAGE}/services/gateway/web_page_files/index.html",
            None,
            "some.whl has no services/gateway/web_page_files/index.html",
        ),
        (
            f"{ABOUT}/METADATA",
            METADATA.replace("1.0.0", "0.9.0"),
            "METADATA has Version: 0.9.0, not 1.0.0",
        ),
        (
            f"{ABOUT}/METADATA",
            METADATA.partition("# Light")[0],
            "METADATA has no description",
        ),
        (f"{ABOUT}/entry_points.txt", "[console_scripts]\n", "the command lightstream is missing"),
        (
            f"{PACKAGE}/x.py",
            "open('/home/ada/lightstream/a')",
            f"some.whl names the folder /home/ada/lightstream in {PACKAGE}/x.py",
        ),
    ],
)
def test_a_fault_is_named(tmp_path: Path, name: str, text: str | None, fault: str) -> None:
    assert fault in faults(wheel(tmp_path, {name: text}))


def test_a_wheel_whose_record_has_other_hashes_is_refused(tmp_path: Path) -> None:
    result = faults(wheel(tmp_path, {}, is_recorded=False))
    assert f"RECORD does not have the hash of {PACKAGE}/client.py" in result


def test_two_wheels_are_compared_by_their_files(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("first", "second")]
    for folder in folders:
        folder.mkdir()
    first = wheel(folders[0], {"a": "1", "b": "1"})
    second = wheel(folders[1], {"a": "1", "b": "2", "c": "1"})
    assert differences(first, second) == ["b", "c", f"{ABOUT}/RECORD"]
    assert differences(first, first) == []
