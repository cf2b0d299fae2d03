"""Finds the working folder of a LightRAG by its `.env`."""

from pathlib import Path
from typing import NamedTuple

from dotenv import dotenv_values

from operations.importing.lightrag_files import workspace_folders
from runtime.errors import InvalidInput

FILE_STORES = {
    "LIGHTRAG_KV_STORAGE": "JsonKVStorage",
    "LIGHTRAG_DOC_STATUS_STORAGE": "JsonDocStatusStorage",
    "LIGHTRAG_GRAPH_STORAGE": "NetworkXStorage",
}
"""The stores whose files are read. Vectors are not: they are made anew."""


class LightRagSource(NamedTuple):
    """The folders of LightRAG's workspaces by name, and the workspace that is meant."""

    folders: dict[str, Path]
    workspace: str

    def folder(self) -> Path:
        """Return the folder of the workspace. Raises InvalidInput where there is none."""
        if self.workspace in self.folders:
            return self.folders[self.workspace]
        names = ", ".join(sorted(name or "(without a name)" for name in self.folders))
        raise InvalidInput(
            f"there is no workspace {self.workspace!r} of LightRAG, but {names}: say which by "
            "--from NAME"
        )


def find_source(path: Path, workspace: str | None) -> LightRagSource:
    """Return what a working folder has, or the working folder that a `.env` names.

    Without a `workspace` it is that of the `.env`, else the one without a name, else the only one.
    Raises InvalidInput for stores that are no files.
    """
    if path.is_file():
        folders, usual_name = _of_settings(path)
    else:
        folders, usual_name = workspace_folders(path), ""
    if workspace is None and usual_name not in folders and len(folders) == 1:
        (usual_name,) = folders
    return LightRagSource(folders, usual_name if workspace is None else workspace)


def _of_settings(file: Path) -> tuple[dict[str, Path], str]:
    values = dotenv_values(file, interpolate=False)
    elsewhere = [
        f"{name}={values[name]}"
        for name, store in FILE_STORES.items()
        if (values.get(name) or store) != store
    ]
    if elsewhere:
        raise InvalidInput(
            f"{file}: {', '.join(elsewhere)}: only files are read. Let LightRAG write them: save "
            "`lightstream import exporter` as export.py, and run `python export.py FOLDER` in "
            "LightRAG's environment beside this file; then import FOLDER"
        )
    folder = file.parent / (values.get("WORKING_DIR") or "rag_storage")
    return workspace_folders(folder), values.get("WORKSPACE") or ""
