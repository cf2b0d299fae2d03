"""A scan reads what lies below the workspace's folder, and nothing that a link leads to."""

import os
from pathlib import Path

import pytest

from services.gateway.documents.scanning import Scans, _documents_in, _opened_beneath  # pyright: ignore[reportPrivateUsage]
from services.gateway.documents.uploading import ReadLimits


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace's folder with a file below it, and a secret beside it."""
    folder = tmp_path / "inputs" / "w"
    (folder / "reports" / "2026").mkdir(parents=True)
    (folder / "reports" / "2026" / "a.txt").write_text("own")
    (tmp_path / "secret" / "2026").mkdir(parents=True)
    (tmp_path / "secret" / "2026" / "a.txt").write_text("secret")
    return folder


def test_a_file_below_the_folder_is_read(folder: Path) -> None:
    with _opened_beneath(folder, "reports/2026/a.txt") as file:
        assert file.read() == b"own"
    assert Scans("", ReadLimits(100))._read(folder, "reports/2026/a.txt") == b"own"  # pyright: ignore[reportPrivateUsage]


def _open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


@pytest.mark.parametrize("replaced_path", ["reports", "reports/2026", "reports/2026/a.txt"])
def test_no_part_of_the_path_may_be_a_link(
    folder: Path, tmp_path: Path, replaced_path: str
) -> None:
    """Somebody who may write there replaces it between the listing and the reading."""
    paths = list(_documents_in(folder))
    assert [path.relative_to(folder).as_posix() for path in paths] == ["reports/2026/a.txt"]
    (folder / replaced_path).rename(tmp_path / "moved")
    (folder / replaced_path).symlink_to(
        tmp_path / "secret" / Path(replaced_path).relative_to("reports")
    )
    open_files = _open_files()
    with pytest.raises(OSError, match=r"Not a directory|Too many levels"):
        _opened_beneath(folder, "reports/2026/a.txt")
    assert _open_files() == open_files
    assert list(_documents_in(folder)) == []


def test_what_is_no_file_any_more_is_refused(folder: Path) -> None:
    (folder / "pipe.txt").write_text("")
    (folder / "pipe.txt").unlink()
    os.mkfifo(folder / "pipe.txt")
    with pytest.raises(OSError, match="no file any more"):
        Scans("", ReadLimits(100))._read(folder, "pipe.txt")  # pyright: ignore[reportPrivateUsage]
