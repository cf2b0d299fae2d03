"""Packages with plugins, as an installer leaves them in a folder of packages."""

import os
import tomllib
from pathlib import Path

import pytest


def install_package(folder: Path, pyproject: str, module: str, code: str) -> None:
    """Write the module, and the metadata that the `pyproject.toml` asks for."""
    project = tomllib.loads(pyproject)["project"]
    name = project["name"]
    version = project["version"]
    metadata = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    metadata.mkdir(parents=True)
    (folder / f"{module}.py").write_text(code)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = [
        line
        for group, entries in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{key} = {value}" for key, value in entries.items()))
    ]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")


def use_packages(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have this process and its children import from the folder, beside what they have."""
    monkeypatch.syspath_prepend(str(folder))
    paths = filter(None, [str(folder), os.environ.get("PYTHONPATH", "")])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
