"""Lays out what the wheel is built from: every package of the repository under one import package.

In the repository `contracts`, `services` and the others stand side by side, where tools find them.
An environment has many projects in it, so there they stand below the package of the Python client.
docs/decisions/0118-one-import-package-in-the-wheel.md says why it is done here.
"""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from distribution.module_names import OwnModules, prefixed

PACKAGE = "lightstream_rag"
"""The import package. In the repository it is the folder of the Python client."""

MOVED = (
    "contracts",
    "offline",
    "knowledge",
    "runtime",
    "publishing",
    "services",
    "embedded",
    "operations",
    "mcp_server",
    "cli",
)
"""The other packages of the repository, which stand below it in the wheel."""

PROJECT_FILES = ("pyproject.toml", "README.md", "LICENSE")

DOCUMENTS = ("README.md", "docs/**/*.md")
"""What `lightstream demo` reads where nobody names documents."""

NOT_COPIED = shutil.ignore_patterns("__pycache__", "*.pyc", ".*")


class CannotLayOut(Exception):
    """The repository has no layout that fits under one package; says what stands in the way."""


def lay_out(repository: Path, tree: Path) -> None:
    """Write the tree of the wheel into an empty folder. Raises CannotLayOut for two modules that
    would have one name, and CannotPrefix as `prefixed` does.
    """
    for name in PROJECT_FILES:
        shutil.copy2(repository / name, tree / name)
    package = tree / PACKAGE
    shutil.copytree(
        repository / PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__", "README.md")
    )
    for name in MOVED:
        if (package / name).exists() or (package / f"{name}.py").exists():
            raise CannotLayOut(f"{PACKAGE}/{name} would stand for {name}/ too: rename either")
        shutil.copytree(repository / name, package / name, ignore=NOT_COPIED)
    modules = OwnModules(PACKAGE, frozenset(_modules(repository)))
    for path in package.rglob("*.py"):
        name = path.relative_to(tree).as_posix()
        path.write_bytes(prefixed(name, path.read_bytes(), modules))
    for path in _documents(repository):
        copy = package / path.relative_to(repository)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, copy)


def _modules(repository: Path, packages: Sequence[str] = MOVED) -> Iterator[str]:
    """Yield the full name of every module and package that moves."""
    for package in packages:
        for path in (repository / package).rglob("*.py"):
            parts = path.relative_to(repository).with_suffix("").parts
            yield ".".join(parts).removesuffix(".__init__")


def _documents(repository: Path) -> Iterator[Path]:
    for pattern in DOCUMENTS:
        yield from repository.glob(pattern)
