"""The folder that the tests of `import lightrag` read is what LightRAG writes, and what its own
stores export is read the same.
"""

import os
import subprocess
import sys
from pathlib import Path

from operations.importing import export_lightrag
from operations.importing.lightrag_files import read_folder
from operations.importing.plan import ImportPlan, plan_import
from runtime.models.tokens import CACHE_VARIABLE, install

PYTHON = Path(sys.prefix, "peer", "bin", "python")
TESTS = Path(__file__).parents[1]
FOLDER = TESTS / "unit" / "operations" / "importing" / "lightrag_folder"


def content(plan: ImportPlan) -> list[object]:
    """What the plan says, in any order, without the times at which LightRAG was given the
    documents.
    """
    rows = [
        (document.name, str(row))
        for document in plan.documents
        for part in (
            document.knowledge.chunks,
            document.knowledge.entities,
            document.knowledge.relations,
        )
        for row in part
    ]
    return [*sorted(rows)]


def edits(plan: ImportPlan) -> set[str]:
    """What was made by hand. Stores do not list what a model condensed, which counts among it."""
    return {str(edit) for edit in plan.edits}


def test_lightrag_writes_and_exports_what_the_tests_read(tmp_path: Path) -> None:
    install("o200k_base", tmp_path / "tokens")
    written_folder = tmp_path / "written"
    export_folder = tmp_path / "exported"
    written_folder.mkdir()
    environment = {
        **os.environ,
        CACHE_VARIABLE: str(tmp_path / "tokens"),
        "WORKING_DIR": str(written_folder),
    }

    def run(script: str | Path, folder: Path) -> None:
        command = [str(PYTHON), str(script), str(folder)]
        subprocess.run(command, env=environment, cwd=tmp_path, check=True, capture_output=True)

    run(TESTS / "peer" / "lightrag_folder.py", written_folder)
    run(export_lightrag.__file__, export_folder)
    plan = plan_import(read_folder(written_folder))
    assert content(plan) == content(plan_import(read_folder(FOLDER)))
    exported = plan_import(read_folder(export_folder))
    assert content(plan) == content(exported) and edits(plan) <= edits(exported)
