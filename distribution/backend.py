"""The build backend of pyproject.toml (PEP 517): setuptools, over the tree that has one package.

An editable install is of the repository as it stands.
"""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import (
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
)

from distribution.wheel_tree import lay_out

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

Options = dict[str, Any] | None


def build_wheel(
    wheel_directory: str, config_settings: Options = None, metadata_directory: str | None = None
) -> str:
    """Write the wheel into the folder and return the name of its file."""
    folder = Path(wheel_directory).resolve()
    with _tree():
        return build_meta.build_wheel(str(folder), config_settings, None)


def prepare_metadata_for_build_wheel(
    metadata_directory: str, config_settings: Options = None
) -> str:
    """Write the metadata of the wheel into the folder and return the name of theirs."""
    folder = Path(metadata_directory).resolve()
    with _tree():
        return build_meta.prepare_metadata_for_build_wheel(str(folder), config_settings)


@contextmanager
def _tree() -> Generator[None]:
    """Work in the tree of the wheel. The frontend has made the repository the working folder."""
    repository = Path.cwd()
    with TemporaryDirectory(prefix="wheel-tree-") as name:
        lay_out(repository, Path(name))
        os.chdir(name)
        try:
            yield
        finally:
            os.chdir(repository)
