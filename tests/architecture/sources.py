"""The project's files, as the rules of the house look at them."""

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
FLOORS = (
    "contracts",
    "offline",
    "knowledge",
    "runtime",
    "publishing",
    "services",
    "lightstream_rag",
    "embedded",
    "operations",
    "mcp_server",
    "cli",
)
SERVICES = ("chunker", "extractor", "merger", "indexer", "query")


def modules(*roots: str) -> Iterator[Path]:
    """The Python files below these folders, by path."""
    for root in roots:
        yield from sorted((REPOSITORY / root).rglob("*.py"))


def shown(path: Path) -> str:
    """A path as messages name it."""
    return path.relative_to(REPOSITORY).as_posix()


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), str(path))


def imported(tree: ast.AST) -> set[str]:
    """Full names of the modules a file imports; of `from a import b` both a and a.b, for b may be a
    module.
    """
    result: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            result |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            result |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return result


def of_the_project() -> list[Path]:
    """Every file that is in git or would be with the next commit."""
    # The checkout of a build machine may belong to another user, which git would refuse to look at.
    command = [
        "git",
        "-c",
        "safe.directory=*",
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]
    listing = subprocess.run(
        command, cwd=REPOSITORY, capture_output=True, check=True
    ).stdout.decode()
    return [path for name in listing.split("\0") if name and (path := REPOSITORY / name).is_file()]
