"""The cache of the graph store's classes: begun once in an environment, and never where none can
be kept.
"""

from pathlib import Path
from typing import Any

import pytest

from embedded.servers import java_machine


@pytest.fixture
def begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The programs that were started, with a cache in a folder of the test's own."""
    programs: list[Any] = []
    monkeypatch.setattr(java_machine, "class_cache", lambda: tmp_path / "installed" / "classes.aot")
    monkeypatch.setattr(
        java_machine.subprocess, "Popen", lambda program, **_: programs.append(program)
    )
    return programs


def test_a_cache_that_is_missing_is_begun_by_one_start_alone(
    begun: list[Any], tmp_path: Path
) -> None:
    (tmp_path / "installed").mkdir()
    for _ in range(2):
        java_machine.write_class_cache_once()
    assert [program[1:] for program in begun] == [("-m", "embedded.servers.java_classes")]


def test_none_is_begun_where_there_is_one_or_no_file_can_be_kept(
    begun: list[Any], tmp_path: Path
) -> None:
    java_machine.write_class_cache_once()  # the folder is missing, as one may not be written to
    (tmp_path / "installed").mkdir()
    java_machine.class_cache().write_bytes(b"classes")
    java_machine.write_class_cache_once()
    assert begun == []


def test_a_cache_is_of_its_options(monkeypatch: pytest.MonkeyPatch) -> None:
    before = java_machine.class_cache()
    monkeypatch.setattr(java_machine, "OPTIONS", (*java_machine.OPTIONS, "-Xint"))
    assert java_machine.class_cache() != before
    assert java_machine.class_cache().parent == before.parent
